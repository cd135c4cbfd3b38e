"""COBALT, the law of CAKE's flows (Linux's ``sch_cake``), over one FIFO, and its columns. Linux has no such discipline."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import LATE, Column, Queue, Table, own

COLUMNS: Final = {
    "links": {
        "mean_cobalt_p": Column(
            "ratio", "time average of the drop probability of COBALT's BLUE; missing if the discipline is another"
        ),
    },
    "queue_series": {
        "cobalt_count": Column(
            "count", "COBALT's count, also while it fades; missing if the discipline is another", fraction=True
        ),
        "cobalt_p": Column("ratio", "drop probability of COBALT's BLUE; missing if the discipline is another"),
    },
}


def _says(queue: Table) -> list[str]:
    return [f"target {queue['target']}", f"interval {queue['interval']}"]


LAW: Final = Queue(label="COBALT", says=_says, columns=COLUMNS, thresholds=own("target", LATE))
