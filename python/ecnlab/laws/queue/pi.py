"""The PI controller (Hollot et al. 2001), and the columns of all laws that keep a probability. Linux has no such discipline."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Column, Queue, Table

COLUMNS: Final = {
    "links": {
        "mean_signal_p": Column(
            "ratio", "time average of the probability of a signal; missing if the discipline keeps none"
        ),
    },
    "queue_series": {
        "signal_p": Column("ratio", "probability with which the law signals a packet; missing if it keeps none"),
    },
}


def _says(queue: Table) -> list[str]:
    return [f"q_ref {queue['q_ref']}", f"a {queue['a']:g}", f"b {queue['b']:g}", f"{queue['frequency']:g} Hz"]


LAW: Final = Queue(label="PI", says=_says, columns=COLUMNS)
