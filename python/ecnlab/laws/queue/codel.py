"""CoDel (RFC 8289), and the columns of its dropping state."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table
from ecnlab.linux.findings import Findings
from ecnlab.linux.quantity import number
from ecnlab.linux.tc import early_or_full, only_tail
from ecnlab.linux.twin import Inner, Twin, codel_words, packets


def _twin(queue: Table, path: str, _inner: Inner, found: Findings) -> Twin:
    only_tail(queue, path, found)
    words = f"codel limit {packets(queue, path, found)} {codel_words(queue, path, found)}"
    return Twin(words, mtu=number(queue["mtu"]))


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    found.tell(path, "mtu", queue["mtu"], "1514 B")
    return _twin(queue, path, lambda *_: Twin(""), found).words


LAW: Final = Queue(
    qdisc=_qdisc,
    drops=early_or_full,
    twin=_twin,
)
