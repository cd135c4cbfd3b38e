"""CoDel (RFC 8289), and the columns of its dropping state."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Column, Queue, Table

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


LAW: Final = Queue(label="CoDel", says=_says, columns=COLUMNS)
