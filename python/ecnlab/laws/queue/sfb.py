"""SFB (Feng et al. 2001): ``sch_sfb`` on Linux."""

from __future__ import annotations

from typing import Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.twin import packets
from ecnlab.laws.kernel.xstats import Layout, early_or_full
from ecnlab.laws.kinds import Counts, Queue, Table


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    only_tail(queue, path, found)
    if not queue["ecn"]:
        found.refuse_value(f"{path}.ecn", False, "its SFB marks whatever is ECN-capable: write ecn = true")
    words = f"sfb limit {packets(queue, path, found)} target {queue['bin_size']} max {queue['max']}"
    words += "".join(f" {word} {_milliseconds(queue, key, path, found)}" for word, key in TIMES.items())
    words += f" increment {queue['increment']:.9f} decrement {queue['decrement']:.9f}"
    return f"{words} penalty_rate {queue['penalty_rate']} penalty_burst {queue['penalty_burst']}"


TIMES: Final = {"rehash": "rehash", "db": "warmup"}
"""Arguments of tc, and the keys of a scenario."""


def _milliseconds(queue: Table, key: str, path: str, found: Findings) -> int:
    ms, rest = divmod(number(queue[key]), 1_000_000)
    if rest:
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: tc reads whole milliseconds", 'write such as "60 s"')
    return ms


XSTATS: Final = Layout(
    "tc_sfb_xstats", "earlydrop penaltydrop bucketdrop queuedrop childdrop marked maxqlen maxprob avgprob"
)


def _counts(drops: int, own: bytes) -> Counts:
    """Return the drops of SFB and of its inner ``pfifo``; either may be full."""
    sfb = XSTATS.read(own)
    return early_or_full(drops, sfb["queuedrop"] + sfb["childdrop"], sfb["marked"])


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("sfb",),
    kernel_options=("NET_SCH_SFB",),
    kernel_note="its hashes are the kernel's",
    counts=_counts,
)
