"""The DualPI2 authors' public testbed data, compared with simulations of the testbed.

The experiments are the files of ``papers/dualpi2eval``; ``metrics.toml`` there defines the measurements of each,
``report.toml`` the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ecnlab.papers.grid import Grid
from ecnlab.papers.paper import Drawn, Paper, Step
from ecnlab.runs.sweep_result import Sweep

GRID: Final = Grid(
    keys=("aqm", "rtts", "udp_in", "udp", "pairs"),
    names={"dualpi2": "DualPI2", "pie": "PIE", "fq_codel": "FQ-CoDel", "5, none": "5", "100, none": "100"},
    words={"rtts": "round trips {} ms", "udp_in": "UDP in {}", "udp": "{} Mb/s of UDP", "pairs": "{} pairs"},
)
"""Round trips are those of the ECN flow and of the CUBIC flow."""


def _draw(_sweeps: Mapping[str, Sweep]) -> Drawn:
    """No run is drawn."""
    return Drawn()


PAPER: Final = Paper(
    "dualpi2eval",
    GRID,
    (
        Step("mixed-rtt", 2, 4, ("classes",)),
        *(
            Step(f"overload-{queue.lower()}", 2, 4, ("classes",), place={"aqm": "dualpi2", "udp_in": queue})
            for queue in ("C", "L")
        ),
        Step("equal-rtt", 2, 8, ("classes", "queue_series"), place={"aqm": "dualpi2"}),
    ),
    _draw,
)
