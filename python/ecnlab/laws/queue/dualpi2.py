"""DualPI2 (RFC 9332), and the columns of its controller."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Column, Queue, Table

COLUMNS: Final = {
    "links": {
        "mean_pi2_p": Column(
            "ratio", "time average of PI2's base probability p'; missing if the discipline is another"
        ),
    },
    "queue_series": {
        "pi2_p": Column("ratio", "PI2's base probability p'; missing if the discipline is another"),
    },
}


def _says(queue: Table) -> list[str]:
    return [f"profile {queue['profile']}", f"target {queue['target']}", f"k {queue['coupling_factor']}"]


LAW: Final = Queue(label="DualPI2", says=_says, columns=COLUMNS)
