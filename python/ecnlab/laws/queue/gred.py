"""GRED and RIO.

The Linux engine does not have them: its hosts set no DSCP, so that all packets would be of one virtual queue.
"""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    thresholds = [f"{name} {virtual['min_th']} to {virtual['max_th']}" for name, virtual in queue["virtual"].items()]
    return [f"average {queue['average']}", *thresholds]


LAW: Final = Queue(
    label="GRED",
    says=_says,
    # For comparisons by hand.
    kernel_options=("NET_SCH_GRED",),
)
