"""Kadhum & Hassan, "A Study of ECN Effects on Long-Lived TCP Connections", end to end.

The experiments are the files of ``papers/kadhum-hassan``; ``metrics.toml`` there defines the measurements of each,
``report.toml`` the report.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ecnlab.papers.kadhum_hassan import answers, measure, responses, runs
from ecnlab.papers.kadhum_hassan.grid import GRID, USERS
from ecnlab.papers.paper import Paper, Step, named

SERIES: Final = ("queue_series", "flow_series")

PAPER: Final = Paper(
    "kadhum-hassan",
    GRID,
    (
        Step("queues", 20, 40, SERIES, blocks=True),
        Step("tail-in-bytes", 20, 40, SERIES, blocks=True),
        Step("variants-10", 10, 40),
        Step("variants-30", 10, 40),
        Step("apart", 10, 40),
        Step("clock", 20, 40),
        Step("notice", 5, 20, ("packets",), blocks=True),
        Step("front", 5, 20, ("packets",), blocks=True),
        Step("short", 10, 40, ("transactions",)),
    ),
    runs.draw,
    own=named(
        measure.queue_follows,
        measure.window_swing,
        measure.windows_variation,
        measure.cut_correlation,
        measure.cut_together,
        responses.response_delay,
    ),
    findings={f"loss_{users}": partial(answers.loss, users=users) for users in USERS}
    | named(answers.unit, answers.buffer, answers.marks),
    blocks={f"time_{users}": partial(runs.over_time, users=users) for users in USERS}
    | named(answers.units, answers.arithmetic, answers.models),
    words=named(runs.seed),
)
