"""FQ-CoDel (RFC 8290)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table
from ecnlab.linux.findings import Findings
from ecnlab.linux.quantity import number
from ecnlab.linux.tc import early_or_full
from ecnlab.linux.twin import OWN, Inner, Twin, codel_words, packets

TRUESIZE: Final = 3072
"""Bytes, more than the kernel takes for a packet of up to 1514 B: 2048, and 256 for its ``sk_buff``."""


def _twin(queue: Table, path: str, _inner: Inner, found: Findings) -> Twin:
    if queue["full"] != "fattest":
        found.refuse_value(f"{path}.full", queue["full"], 'write full = "fattest"')
    limit, memory = packets(queue, path, found), number(queue["memory"])
    if memory < limit * TRUESIZE:
        help_ = f'write at least "{limit * TRUESIZE} B": what a packet takes depends on its driver'
        found.refuse(f"{path}.memory", f"`{path}.memory` may be reached, and packets differ in memory", help_)
    words = f"fq_codel limit {limit} flows {queue['flows']} quantum {number(queue['quantum'])}"
    words += f" {codel_words(queue, path, found)} memory_limit {memory} drop_batch {queue['drop_batch']}"
    return Twin(words, handle=OWN, mtu=number(queue["mtu"]))


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    found.tell(path, "mtu", queue["mtu"], "1514 B")
    found.tell(path, "salt", queue.get("salt"), None)
    return _twin(queue, path, lambda *_: Twin(""), found).words


LAW: Final = Queue(
    qdisc=_qdisc,
    drops=early_or_full,
    twin=_twin,
)
