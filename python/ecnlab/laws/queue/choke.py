"""CHOKe (Pan et al. 2000): ``sch_choke`` on Linux."""

from __future__ import annotations

from typing import Final

from ecnlab.base.quantities import number, split
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.xstats import Layout
from ecnlab.laws.kinds import Counts, Queue, Table
from ecnlab.laws.queue.red import weight

MAX_LIMIT: Final = 131_071
"""Maximum limit of the kernel's queue, in packets (CHOKE_MAX_QUEUE)."""


AUTO: Final = "auto"
"""Prefix of an automatic threshold, which the kernel does not have."""


def _qdisc(queue: Table, path: str, rate_bps: int | None, found: Findings) -> str:
    only_tail(queue, path, found)
    low, high, limit = (_packets(queue, key, path, found) for key in ("min_th", "max_th", "limit"))
    if queue["ecn"] and queue["above"] != "mark":
        found.refuse_value(f"{path}.above", queue["above"], 'tc sets no `harddrop` for choke: write above = "mark"')
    if rate_bps is None:
        found.refuse(f"{path}.discipline", f"`{path}`: CHOKe needs a link with a rate on Linux", "give the link a rate")
    if not low < high <= limit <= MAX_LIMIT:
        found.refuse(
            f"{path}.limit", f"`{path}`: the kernel requires min_th < max_th <= limit <= {MAX_LIMIT} packets", ""
        )
    if found.any():
        return ""
    packet = number(queue["mean_packet"])
    exponent, burst = weight(queue, path, low * packet, packet, found)
    found.substitute(path, "weight", queue["weight"], 2.0**-exponent)
    words = f"choke limit {limit} min {low} max {high} avpkt {packet} burst {burst} probability {queue['max_p']}"
    return f"{words} bandwidth {rate_bps}bit{' ecn' if queue['ecn'] else ''}"


def _packets(queue: Table, key: str, path: str, found: Findings) -> int:
    value, unit = (0, AUTO) if queue[key].startswith(AUTO) else split(queue[key])
    if unit != "packets":
        found.refuse(
            f"{path}.{key}", f"`{path}.{key}`: the kernel's CHOKe counts packets", 'write such as "20 packets"'
        )
    return value


XSTATS: Final = Layout("tc_choke_xstats", "early pdrop other marked matched")


def _counts(_drops: int, own: bytes) -> Counts:
    """Return sch_choke's counts: early drops and those above max_th are one count; matched pairs are only in the total."""
    choke = XSTATS.read(own)
    return Counts(choke["marked"], None, None, choke["pdrop"])


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("choke",),
    kernel_options=("NET_SCH_CHOKE",),
    kernel_note="thresholds in packets",
    counts=_counts,
    uncounted=("early_drops", "forced_drops"),
)
