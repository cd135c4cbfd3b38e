"""Kadhum & Hassan, "A Study of ECN Effects on Long-Lived TCP Connections", end to end.

The experiments are the files of ``papers/kadhum-hassan``; here is what is measured in each, and the analysis tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.papers.kadhum_hassan import measure
from ecnlab.papers.kadhum_hassan.draw import draw
from ecnlab.papers.kadhum_hassan.grid import GRID
from ecnlab.papers.kadhum_hassan.page import page
from ecnlab.papers.paper import Paper, Step, Tables, measured

STEPS: Final = (
    Step("queues", 20, 40, measure.queues, ("queue_series", "flow_series")),
    Step("tail-in-bytes", 20, 40, measure.queues, ("queue_series", "flow_series")),
    Step("variants-10", 10, 40, measure.variants),
    Step("variants-30", 10, 40, measure.variants),
    Step("apart", 10, 40, measure.variants),
)
"""All experiments, in the order of the run."""


def analyse(sweeps: Mapping[str, Tables]) -> pl.DataFrame:
    """The samples of all experiments. ``sweeps`` is by the name of the step."""
    return GRID.ordered(pl.concat(measured(STEPS, sweeps).values()))


PAPER: Final = Paper("kadhum-hassan", GRID, STEPS, analyse, draw, page)
