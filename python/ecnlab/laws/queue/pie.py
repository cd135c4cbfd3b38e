"""PIE (RFC 8033): ``sch_pie`` on Linux, and the columns of its controller."""

from __future__ import annotations

from typing import Final

from ecnlab.base.quantities import number, split
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.xstats import Layout, early_or_full
from ecnlab.laws.kinds import Counts, Queue, Table

KERNEL_HAS: Final[dict[str, object]] = {"profile": "linux", "mark_ecnth": 0.1, "mtu": "1514 B"}
"""Keys that are fixed in sch_pie, with its values; the MTU is Ethernet's, including the header (``psched_mtu``)."""

MAX_SIXTEENTHS: Final = 32
"""Maximum gain that tc accepts (``ALPHA_MAX``, ``BETA_MAX`` in iproute2's tc/q_pie.c)."""


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    only_tail(queue, path, found)
    for key, only in KERNEL_HAS.items():
        if queue.get(key, only) != only:
            found.refuse_value(f"{path}.{key}", queue[key], f"its PIE has {only}")
    limit, unit = split(queue["limit"])
    if unit != "packets":
        found.refuse(
            f"{path}.limit", f"`{path}.limit`: the kernel's PIE counts packets", 'write such as "1000 packets"'
        )
    alpha, beta = (sixteenths(queue, key, path, found) for key in ("alpha", "beta"))
    words = [
        "pie limit",
        limit,
        "target",
        _us(queue, "target", path, found),
        "tupdate",
        _us(queue, "tupdate", path, found),
    ]
    words += [
        "alpha",
        alpha,
        "beta",
        beta,
        *(key for key in ("ecn", "bytemode", "dq_rate_estimator") if queue.get(key)),
    ]
    for key in ("bytemode", "dq_rate_estimator"):
        if queue.get(key):
            found.substitute(path, key, "sizes of IP packets", "sizes with Ethernet's 14 bytes")
    return "" if found.any() else " ".join(str(word) for word in words)


def sixteenths(queue: Table, key: str, path: str, found: Findings) -> int:
    """Return a gain in units of 1/16 Hz."""
    gain: int = round(16 * queue[key])
    if gain > MAX_SIXTEENTHS:
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: tc takes at most 2 Hz", "write at most 2.0")
    return gain


def _us(queue: Table, key: str, path: str, found: Findings) -> str:
    """Return a time in the syntax of tc, in whole microseconds."""
    us, rest = divmod(number(queue[key]), 1000)
    if rest:
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel counts whole microseconds", 'write such as "15 ms"')
    return f"{us}us"


XSTATS: Final = Layout(
    "tc_pie_xstats",
    "prob delay avg_dq_rate dq_rate_estimating packets_in dropped overlimit maxq ecn_mark",
    {"prob": "Q"},
)


def _counts(drops: int, own: bytes) -> Counts:
    pie = XSTATS.read(own)
    return early_or_full(drops, pie["overlimit"], pie["ecn_mark"])


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("pie",),
    kernel_options=("NET_SCH_PIE",),
    kernel_note="with the profile `linux`",
    counts=_counts,
)
