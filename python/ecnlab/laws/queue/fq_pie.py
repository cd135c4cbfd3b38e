"""FQ-PIE (Linux's ``sch_fq_pie``)."""

from __future__ import annotations

from typing import Final

from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import only_tail
from ecnlab.laws.kernel.twin import microseconds, packets
from ecnlab.laws.kernel.xstats import Layout, early_or_full
from ecnlab.laws.kinds import Counts, Queue, Table
from ecnlab.laws.queue.pie import sixteenths


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    only_tail(queue, path, found)
    found.substitute(path, "mtu", queue["mtu"], "1514 B")
    found.substitute(path, "salt", queue.get("salt"), None)
    words = f"fq_pie limit {packets(queue, path, found)} flows {queue['flows']} quantum {number(queue['quantum'])}"
    words += "".join(f" {key} {microseconds(queue, key, path, found)}" for key in ("target", "tupdate"))
    words += "".join(f" {key} {sixteenths(queue, key, path, found)}" for key in ("alpha", "beta"))
    flags = [key for key in ("ecn", "bytemode", "dq_rate_estimator") if queue[key]]
    return " ".join([words, "ecn_prob", str(queue["ecn_prob"]), *flags])


XSTATS: Final = Layout(
    "tc_fq_pie_xstats",
    "packets_in dropped overlimit overmemory ecn_mark new_flow_count new_flows_len old_flows_len memory_usage",
)


def _counts(drops: int, own: bytes) -> Counts:
    pie = XSTATS.read(own)
    return early_or_full(drops, pie["overlimit"], pie["ecn_mark"])


LAW: Final = Queue(
    qdisc=_qdisc,
    kernel=("fq_pie",),
    kernel_options=("NET_SCH_FQ_PIE",),
    kernel_note="its hash is the kernel's",
    counts=_counts,
)
