"""CoDel (RFC 8289), and the columns of its dropping state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.twin import Inner, Twin, microseconds, packets
from ecnlab.laws.kernel.xstats import Layout, early_or_full
from ecnlab.laws.kinds import Counts, Queue, Table

# ---------------------------------------------------------------- Linux


def words_of_tc(queue: Table, path: str, found: Findings) -> str:
    """Return the arguments of ``codel``, shared with ``fq_codel``; report where the simulator computes differently."""
    for key in ("sqrt", "clock"):
        found.substitute(path, key, queue.get(key, "exact"), "linux")
    words = [
        f"{key} {microseconds(queue, key, path, found)}"
        for key in ("target", "interval", "ce_threshold")
        if key in queue
    ]
    return " ".join([*words, "ecn" if queue["ecn"] else "noecn"])


def _twin(queue: Table, path: str, _inner: Inner, found: Findings) -> Twin:
    only_tail(queue, path, found)
    words = f"codel limit {packets(queue, path, found)} {words_of_tc(queue, path, found)}"
    return Twin(words, mtu=number(queue["mtu"]))


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    found.substitute(path, "mtu", queue["mtu"], "1514 B")
    return _twin(queue, path, lambda *_: Twin(""), found).words


XSTATS: Final = Layout(
    "tc_codel_xstats",
    "maxpacket count lastcount ldelay drop_next drop_overlimit ecn_mark dropping ce_mark",
    {"drop_next": "i"},
)


def counts_of(drops: int, codel: Mapping[str, int]) -> Counts:
    """Return the counts in the statistics of ``codel`` and ``fq_codel``."""
    return early_or_full(drops, codel["drop_overlimit"], codel["ecn_mark"] + codel["ce_mark"])


def _counts(drops: int, own: bytes) -> Counts:
    return counts_of(drops, XSTATS.read(own))


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("codel",),
    kernel_options=("NET_SCH_CODEL",),
    kernel_note="marks by `ce_threshold` are added to the others",
    counts=_counts,
    twin=_twin,
)
