"""The DualPI2 authors' public testbed data, compared with simulations of the testbed.

The experiments are the files of ``papers/dualpi2eval``; ``metrics.toml`` there defines the measurements of each,
``report.toml`` the report.
"""

from __future__ import annotations

from typing import Final

from ecnlab.papers.dualpi2eval import runs
from ecnlab.papers.dualpi2eval.grid import GRID
from ecnlab.papers.paper import Paper, Step, named

PAPER: Final = Paper(
    "dualpi2eval",
    GRID,
    (
        Step("mixed-rtt", 2, 4, ("sojourns",)),
        *(
            Step(f"overload-{queue.lower()}", 2, 4, ("classes",), place={"aqm": "dualpi2", "udp_in": queue})
            for queue in ("C", "L")
        ),
        Step("equal-rtt", 2, 8, ("sojourns", "queue_series"), place={"aqm": "dualpi2"}),
        Step("evolution", 1, 1, ("flow_series", "packets"), drawn=True),
    ),
    runs.draw,
    blocks=named(runs.evolution),
)
