"""AVQ (Kunniyur and Srikant 2001). Linux has no such discipline."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Column, Queue, Table

COLUMNS: Final = {
    "links": {
        "mean_avq_capacity_bps": Column(
            "bit/s", "time average of AVQ's virtual capacity; missing if the discipline is another"
        ),
    },
    "queue_series": {
        "avq_capacity_bps": Column("bit/s", "AVQ's virtual capacity; missing if the discipline is another"),
    },
}


def _says(queue: Table) -> list[str]:
    return [f"gamma {queue['gamma']:g}", f"alpha {queue['alpha']:g}"]


LAW: Final = Queue(label="AVQ", says=_says, columns=COLUMNS)
