"""CoDel (RFC 8289), and the columns of its dropping state."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import LATE, Column, Queue, Table, own
from ecnlab.linux.findings import Findings
from ecnlab.linux.quantity import number
from ecnlab.linux.tc import early_or_full, only_tail
from ecnlab.linux.twin import Inner, Twin, codel_words, packets

COLUMNS: Final = {
    "links": {
        "share_dropping": Column("ratio", "share of time CoDel was dropping; missing if the discipline is another"),
    },
    "queue_series": {
        "codel_count": Column(
            "count", "CoDel's count while it is dropping, else 0; missing if the discipline is another", fraction=True
        ),
    },
}


def _says(queue: Table) -> list[str]:
    return [f"target {queue['target']}", f"interval {queue['interval']}"]


def _twin(queue: Table, path: str, _inner: Inner, found: Findings) -> Twin:
    only_tail(queue, path, found)
    words = f"codel limit {packets(queue, path, found)} {codel_words(queue, path, found)}"
    return Twin(words, mtu=number(queue["mtu"]))


def _qdisc(queue: Table, path: str, _rate_bps: int | None, found: Findings) -> str:
    found.tell(path, "mtu", queue["mtu"], "1514 B")
    return _twin(queue, path, lambda *_: Twin(""), found).words


LAW: Final = Queue(
    label="CoDel",
    says=_says,
    qdisc=_qdisc,
    drops=early_or_full,
    twin=_twin,
    columns=COLUMNS,
    thresholds=own("target", LATE),
)
