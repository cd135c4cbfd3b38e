"""Akujobi et al., "Congestion Control in TCP/IP Networks: A Combined ECN and BECN Approach", 2003, end to end.

The experiments are the files of ``papers/akujobi``; ``metrics.toml`` there defines the measurements of each,
``report.toml`` the report.
"""

from __future__ import annotations

from typing import Final

from ecnlab.papers.akujobi import runs, settings
from ecnlab.papers.akujobi.grid import GRID
from ecnlab.papers.paper import Paper, Step, named

SERIES: Final = ("queue_series", "flow_series")

PAPER: Final = Paper(
    "akujobi",
    GRID,
    (
        Step("heavy", 20, 60),
        Step("ends", 20, 400),
        Step("mixed", 2, 20),
        Step("homogeneous", 20, 40),
        Step("lossy", 20, 40, SERIES),
        Step("lossy-unharmed", 150, 400, SERIES),
        Step("web-fifteen", 20, 40, ("objects",)),
        Step("web", 2, 20, ("objects",), place={"pages": "start to start"}),
        Step("variants", 2, 20),
        Step("nearest", 20, 400),
        Step("nearest-alike", 20, 40),
        Step("nearest-lossy", 20, 500, SERIES),
        Step("nearest-web", 20, 80, ("objects",)),
        Step("notice", 10, 50),
        Step("notice-web", 5, 30, ("objects",), place={"flows": "15", "pages": "start to start"}),
        Step("paths", 5, 30, ("transactions",)),
        Step("datagrams", 10, 30),
        Step("evolution", 1, 1, ("queue_series",), drawn=True),
        Step("evolution-lossy", 1, 1, SERIES, drawn=True),
    ),
    runs.draw,
    own=named(runs.surge),
    blocks=named(
        settings.orders, settings.ten_nearest, settings.numbers_beside, settings.claims_beside, runs.evolution
    ),
    words=named(settings.chosen, settings.chosen_with_any_clock, settings.tested_again, settings.answered_alike),
)
