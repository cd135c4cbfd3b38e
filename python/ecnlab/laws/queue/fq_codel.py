"""FQ-CoDel (RFC 8290)."""

from __future__ import annotations

from typing import Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.twin import OWN, Inner, Twin, packets
from ecnlab.laws.kernel.xstats import Layout, XstatsError
from ecnlab.laws.kinds import Counts, Queue, Table
from ecnlab.laws.queue.codel import counts_of, words_of_tc

TRUESIZE: Final = 3072
"""Bytes, more than the kernel takes for a packet of up to 1514 B: 2048, and 256 for its ``sk_buff``."""


def _twin(queue: Table, path: str, _inner: Inner, found: Findings) -> Twin:
    if queue["full"] != "fattest":
        found.refuse_value(f"{path}.full", queue["full"], 'write full = "fattest"')
    limit, memory = packets(queue, path, found), number(queue["memory"])
    if memory < limit * TRUESIZE:
        help_ = f'write at least "{limit * TRUESIZE} B": the memory of a packet depends on its driver'
        found.refuse(f"{path}.memory", f"`{path}.memory` may be reached, and packets differ in memory", help_)
    words = f"fq_codel limit {limit} flows {queue['flows']} quantum {number(queue['quantum'])}"
    words += f" {words_of_tc(queue, path, found)} memory_limit {memory} drop_batch {queue['drop_batch']}"
    return Twin(words, handle=OWN, mtu=number(queue["mtu"]))


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    found.substitute(path, "mtu", queue["mtu"], "1514 B")
    found.substitute(path, "salt", queue.get("salt"), None)
    return _twin(queue, path, lambda *_: Twin(""), found).words


OF_THE_QDISC: Final = 0
"""Type of the statistics of a discipline (TCA_FQ_CODEL_XSTATS_QDISC), not of one of its classes."""

XSTATS: Final = Layout(
    "tc_fq_codel_xstats",
    "type maxpacket drop_overlimit ecn_mark new_flow_count new_flows_len old_flows_len ce_mark memory_usage drop_overmemory",
)


def _counts(drops: int, own: bytes) -> Counts:
    codel = XSTATS.read(own)
    if codel["type"] != OF_THE_QDISC:
        raise XstatsError(f"{XSTATS.name} of a discipline has the type {OF_THE_QDISC}, got {codel['type']}")
    return counts_of(drops, codel)


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("fq_codel",),
    kernel_options=("NET_SCH_FQ_CODEL",),
    kernel_note="marks by `ce_threshold` are added to the others; its hash is the kernel's",
    counts=_counts,
    twin=_twin,
)
