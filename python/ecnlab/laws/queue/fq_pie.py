"""FQ-PIE (Linux's ``sch_fq_pie``)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table
from ecnlab.laws.queue.pie import sixteenths
from ecnlab.linux.findings import Findings
from ecnlab.linux.quantity import number
from ecnlab.linux.tc import early_or_full, only_tail
from ecnlab.linux.twin import microseconds, packets


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    only_tail(queue, path, found)
    found.tell(path, "mtu", queue["mtu"], "1514 B")
    found.tell(path, "salt", queue.get("salt"), None)
    words = f"fq_pie limit {packets(queue, path, found)} flows {queue['flows']} quantum {number(queue['quantum'])}"
    words += "".join(f" {key} {microseconds(queue, key, path, found)}" for key in ("target", "tupdate"))
    words += "".join(f" {key} {sixteenths(queue, key, path, found)}" for key in ("alpha", "beta"))
    flags = [key for key in ("ecn", "bytemode", "dq_rate_estimator") if queue[key]]
    return " ".join([words, "ecn_prob", str(queue["ecn_prob"]), *flags])


LAW: Final = Queue(
    qdisc=_qdisc,
    drops=early_or_full,
)
