"""Kwon & Fahmy, "TCP Increase/Decrease Behavior with Explicit Congestion Notification (ECN)", end to end.

The experiments are the files of ``papers/kwon-fahmy``; ``metrics.toml`` there says what is measured in each.
"""

from __future__ import annotations

from typing import Final

from ecnlab.papers.kwon_fahmy import measure
from ecnlab.papers.kwon_fahmy.draw import draw
from ecnlab.papers.kwon_fahmy.grid import GRID
from ecnlab.papers.kwon_fahmy.page import page
from ecnlab.papers.paper import Paper, Step

STEPS: Final = (
    Step("calibration", 1, 5, ("objects",)),
    Step("model", 5, 20, ("flow_series",), measure=measure.over_flows),
    Step("mixture", 5, 20, ("flow_series",), measure=measure.rates),
    Step("wide", 5, 20, ("flow_series",), measure=measure.wide),
    Step("thresholds", 5, 20, measure=measure.operating_point),
    Step("share", 10, 20),
    Step("tables", 10, 20, ("objects",)),
    Step("sensitivity", 5, 20, ("objects",)),
    Step("evolution", 1, 1, ("flow_series",), drawn=True),
)
"""All experiments, in the order of the run."""


PAPER: Final = Paper("kwon-fahmy", GRID, STEPS, draw, page)
