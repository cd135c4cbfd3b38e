"""Kwon & Fahmy, "TCP Increase/Decrease Behavior with Explicit Congestion Notification (ECN)", end to end.

The experiments are the files of ``papers/kwon-fahmy``; here is what is measured in each, and the analysis tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.papers.kwon_fahmy import measure
from ecnlab.papers.kwon_fahmy.draw import draw
from ecnlab.papers.kwon_fahmy.grid import GRID
from ecnlab.papers.kwon_fahmy.page import page
from ecnlab.papers.paper import Paper, Step, Tables, measured

STEPS: Final = (
    Step("calibration", 1, 5, measure.calibration, ("objects",)),
    Step("model", 5, 20, measure.over_flows, ("flow_series",)),
    Step("mixture", 5, 20, measure.rates, ("flow_series",)),
    Step("wide", 5, 20, measure.wide, ("flow_series",)),
    Step("thresholds", 5, 20, measure.operating_point),
    Step("share", 10, 20, measure.share),
    Step("tables", 10, 20, measure.tables, ("objects",)),
    Step("sensitivity", 5, 20, measure.sensitivity, ("objects",)),
    Step("evolution", 1, 1, None, ("flow_series",)),
)
"""All experiments, in the order of the run."""


def analyse(sweeps: Mapping[str, Tables]) -> pl.DataFrame:
    """The samples of all experiments. ``sweeps`` is by the name of the step."""
    return GRID.ordered(pl.concat(measured(STEPS, sweeps).values()))


PAPER: Final = Paper("kwon-fahmy", GRID, STEPS, analyse, draw, page)
