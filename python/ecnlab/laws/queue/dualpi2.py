"""DualPI2 (RFC 9332), and the columns of its controller."""

from __future__ import annotations

from typing import Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.twin import Inner, Twin, packets
from ecnlab.laws.kernel.xstats import Layout
from ecnlab.laws.kinds import Counts, Queue, Table

STEP_THRESH: Final = "1 ms"
"""The kernel's default step."""


def _acts_above(queue: Table) -> dict[str, str]:
    """The step of L in the form of Linux, and the target of C; the RFC's ramp spares a last packet (``th_len``)."""
    step = {"step_thresh": queue.get("step_thresh", STEP_THRESH)} if queue["profile"] == "linux" else {}
    return {**step, "target": queue["target"]}


# ---------------------------------------------------------------- Linux

NOT_THERE: Final = ("protection", "nqb", "tshift")

TIMES: Final = {"target": 3, "tupdate": 4, "step_thresh": 8}
GAINS: Final = {"alpha": 5, "beta": 6}
DEFAULT_GAINS: Final = {5: 41, 6: 819}
OTHERS: Final = {"coupling_factor": 10, "drop_on_overload": 11, "drop_enqueue": 12, "classic_protection": 13}
"""Numbers of attributes by our keys (``TCA_DUALPI2_*`` in Linux's include/uapi/linux/pkt_sched.h)."""

LIMIT: Final = 1
MEMORY_LIMIT: Final = 2
ECN_MASK: Final = 14
MASKS: Final = {frozenset({"ect1", "ce"}): 1, frozenset({"ect0", "ect1", "ce"}): 3}
"""Codepoints classified as L4S, and the kernel's mask for them."""


MAX_ATTRIBUTE: Final = 2**32 - 1
"""Maximum of a 32-bit attribute, and of the kernel's times in ns other than ``target``."""

WAIT_NS: Final = 60 * 10**9
"""Longer than the queueing delay of any of the 400 packets of ``agree --packets`` at 80 kbit/s."""


def _qdisc(queue: Table, path: str, rate_bps: int | None, found: Findings) -> str:
    if rate_bps is None:
        found.refuse(
            f"{path}.discipline", f"`{path}`: DualPI2 needs a link with a rate on Linux", "give the link a rate"
        )
    found.substitute(path, "mtu", queue.get("mtu", "1514 B"), "1514 B")
    return _words(_settings(queue, path, found))


FLAGS: Final = {
    "drop_on_overload": ("overflow", "drop_on_overload"),
    "drop_enqueue": ("drop_dequeue", "drop_enqueue"),
}
"""Words of tc for false and true."""

ECT: Final = {1: "l4s_ect", 3: "any_ect"}
"""Words of tc for the kernel's masks."""


def _tc(queue: Table, path: str, found: Findings) -> str:
    """Return the arguments of iproute2's ``tc/q_dualpi2.c``; a gain in Hz is a multiple of 1/256, which tc reads exactly."""
    values = {at: value for at, _, value in _settings(queue, path, found)}
    words = ["dualpi2", f"limit {values[LIMIT]}"]
    words += [f"{key} {values[at]}us" for key, at in TIMES.items() if at in values]
    words += [f"{key} {values[at] / 256:.8f}" for key, at in GAINS.items() if at in values]
    for key, at in OTHERS.items():
        if at in values and key in FLAGS:
            words.append(FLAGS[key][values[at]])
        elif at in values:
            words.append(f"{key} {values[at]}{'%' if key == 'classic_protection' else ''}")
    return " ".join([*words, ECT.get(values[ECN_MASK], "")]).rstrip()


def _twin(queue: Table, path: str, _inner: Inner, found: Findings) -> Twin:
    """Return the kernel's discipline for scenarios in which p' stays 0, so that its random numbers cause no signal.

    p' stays 0 while no delay exceeds ``target``·alpha/(alpha + beta), in the kernel's whole gains: an update adds at most
    (delay - target)·alpha + delay·beta. So the time between updates does not matter, and the longest possible is given:
    the guest begins late, after many of them.
    """
    settings = {at: (size, value) for at, size, value in _settings(queue, path, found)}
    alpha, beta = (_in_force(settings[at][1] if at in settings else default) for at, default in DEFAULT_GAINS.items())
    if number(queue["target"]) * alpha < WAIT_NS * (alpha + beta):
        help_ = 'keep p\' at 0: write such as target = "2000 s"'
        found.refuse(f"{path}.target", f"`{path}`: DualPI2 draws random numbers once p' is above 0", help_)
    settings[TIMES["tupdate"]] = (4, MAX_ATTRIBUTE // 1000)
    # The simulator's DualPI2 has no memory limit.
    settings[MEMORY_LIMIT] = (4, MAX_ATTRIBUTE)
    words = _words([(at, size, value) for at, (size, value) in settings.items()])
    return Twin(words, mtu=number(queue.get("mtu", "1514 B")), attached=True)


def _words(settings: list[tuple[int, int, int]]) -> str:
    return " ".join(["dualpi2", *(f"{at}:{size}:{value}" for at, size, value in settings)])


def _settings(queue: Table, path: str, found: Findings) -> list[tuple[int, int, int]]:
    """Return type, length in bytes and value of each attribute."""
    only_tail(queue, path, found)
    _check_settings(queue, path, found)
    settings = [(LIMIT, 4, packets(queue, path, found))]
    settings += [(at, 4, _us(queue, key, path, found)) for key, at in TIMES.items() if key in queue]
    settings += [(at, 4, _gain(queue, key, path, found)) for key, at in GAINS.items() if key in queue]
    settings += [(at, 1, int(queue[key])) for key, at in OTHERS.items() if key in queue]
    return [*settings, (ECN_MASK, 1, _mask(queue["l4s"], path, found))]


def _check_settings(queue: Table, path: str, found: Findings) -> None:
    for key, only in {"profile": "linux", "ecn": True}.items():
        if queue[key] != only:
            found.refuse_value(f"{path}.{key}", queue[key], f"its DualPI2 has {only}")
    for key in NOT_THERE:
        if key in queue:
            found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel's DualPI2 has no such setting", "leave it out")


def _us(queue: Table, key: str, path: str, found: Findings) -> int:
    us, rest = divmod(number(queue[key]), 1000)
    if rest:
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel accepts whole microseconds", 'write such as "15 ms"')
    most = MAX_ATTRIBUTE if key == "target" else MAX_ATTRIBUTE // 1000
    if us > most:
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel accepts at most {most} us", "write less")
    return us


def _gain(queue: Table, key: str, path: str, found: Findings) -> int:
    """Return a gain in units of 1/256 Hz."""
    units: int = round(256 * queue[key])
    found.substitute(path, key, queue[key], units / 256)
    return units


def _in_force(units: int) -> int:
    """Return a gain in units of 1/(2^32 - 1) per 64 ns, as ``dualpi2_scale_alpha_beta`` computes it."""
    return (units * MAX_ATTRIBUTE >> 2) // 10**9


def _mask(l4s: Table, path: str, found: Findings) -> int:
    mask = MASKS.get(frozenset(l4s.get("codepoints", ())), 0)
    if not mask or len(l4s) > 1:
        help_ = 'write codepoints = ["ect1", "ce"] or ["ect0", "ect1", "ce"] alone'
        found.refuse(f"{path}.l4s", f"`{path}.l4s`: the kernel classifies packets into L by codepoint only", help_)
    return mask


XSTATS: Final = Layout(
    "tc_dualpi2_xstats",
    "prob delay_c delay_l packets_in_c packets_in_l maxq ecn_mark step_marks credit memory_used max_memory_used memory_limit",
    {"credit": "i"},
)


def _counts(_drops: int, own: bytes) -> Counts:
    """Return the marks of PI2 and of the step. sch_dualpi2 counts drops of all causes together."""
    dual = XSTATS.read(own)
    return Counts(dual["ecn_mark"] + dual["step_marks"], None, None, None)


TWINS: Final = {
    "": "`dualpi2`, while p' stays 0: its random numbers then signal nothing "
    "([dualpi2](laws/dualpi2.md#what-differs-from-linux-and-from-the-rfc))"
}

LAW: Final = Queue(
    qdisc=_qdisc,
    attached=True,
    tc=_tc,
    twin=_twin,
    twins=TWINS,
    kernel=("dualpi2",),
    kernel_options=("NET_SCH_DUALPI2",),
    kernel_note="with the profile `linux`",
    counts=_counts,
    uncounted=("early_drops", "forced_drops", "tail_drops"),
    acts_above=_acts_above,
)
