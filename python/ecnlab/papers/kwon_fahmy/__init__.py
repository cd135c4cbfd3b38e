"""Kwon & Fahmy, "TCP Increase/Decrease Behavior with Explicit Congestion Notification (ECN)", end to end.

The experiments are the files of ``papers/kwon-fahmy``; ``metrics.toml`` there defines the measurements of each,
``report.toml`` the report.
"""

from __future__ import annotations

from typing import Final

from ecnlab.papers.kwon_fahmy import calibration, measure, slides
from ecnlab.papers.kwon_fahmy.grid import GENTLE, GRID, SLIDE_7
from ecnlab.papers.paper import Paper, Step, named

PAPER: Final = Paper(
    "kwon-fahmy",
    GRID,
    (
        Step("calibration", 1, 5, ("objects",), place={"above": GENTLE}),
        Step("calibration-drop", 1, 5, ("objects",), place={"above": SLIDE_7}),
        Step("model", 5, 20, ("flow_series",)),
        Step("mixture", 5, 20, ("flow_series",)),
        Step("wide", 5, 20, ("flow_series",)),
        Step("thresholds", 5, 20),
        Step("share", 10, 20),
        Step("short", 5, 20, ("flow_series",)),
        Step("vegas", 5, 20),
        Step("tables", 10, 20, ("objects",)),
        Step("above", 5, 20, ("objects",)),
        Step("sensitivity", 5, 20, ("objects",)),
        Step("evolution", 1, 1, ("flow_series", "packets"), drawn=True),
    ),
    slides.draw,
    own=named(measure.rate, measure.rate_full, measure.kept, measure.queue_predicted, measure.signals_predicted),
    findings=named(slides.values),
    blocks=named(calibration.calibrated, slides.printed_tables, slides.variants, slides.evolution, slides.crossings),
)
