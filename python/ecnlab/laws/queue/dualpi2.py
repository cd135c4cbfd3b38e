"""DualPI2 (RFC 9332), and the columns of its controller."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Column, Queue, Table

COLUMNS: Final = {
    "links": {
        "mean_pi2_p": Column(
            "ratio", "time average of PI2's base probability p'; missing if the discipline is another"
        ),
        "sanctioned_per_s": Column(
            "1/s", "packets that queue protection redirected, in each second; missing without `protection`"
        ),
    },
    "queue_series": {
        "pi2_p": Column("ratio", "PI2's base probability p'; missing if the discipline is another"),
        "sanctioned": Column(
            "packets",
            "packets that queue protection redirected since the start of the run; missing without `protection`",
            fraction=True,
        ),
    },
}


def _says(queue: Table) -> list[str]:
    protected = ["queue protection"] if "protection" in queue else []
    return [f"profile {queue['profile']}", f"target {queue['target']}", f"k {queue['coupling_factor']}", *protected]


LAW: Final = Queue(label="DualPI2", says=_says, columns=COLUMNS)
