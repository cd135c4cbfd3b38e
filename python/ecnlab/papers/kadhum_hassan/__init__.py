"""Kadhum & Hassan, "A Study of ECN Effects on Long-Lived TCP Connections", end to end.

The experiments are the files of ``papers/kadhum-hassan``; ``metrics.toml`` there says what is measured in each.
"""

from __future__ import annotations

from typing import Final

from ecnlab.papers.kadhum_hassan.draw import draw
from ecnlab.papers.kadhum_hassan.grid import GRID
from ecnlab.papers.kadhum_hassan.measure import OWN
from ecnlab.papers.kadhum_hassan.page import page
from ecnlab.papers.paper import Paper, Step

STEPS: Final = (
    Step("queues", 20, 40, ("queue_series", "flow_series"), blocks=True),
    Step("tail-in-bytes", 20, 40, ("queue_series", "flow_series"), blocks=True),
    Step("variants-10", 10, 40),
    Step("variants-30", 10, 40),
    Step("apart", 10, 40),
)
"""All experiments, in the order of the run."""


PAPER: Final = Paper("kadhum-hassan", GRID, STEPS, draw, page, own=OWN)
