"""Akujobi et al., "Congestion Control in TCP/IP Networks: A Combined ECN and BECN Approach", 2003, end to end.

The experiments are the files of ``papers/akujobi``; ``metrics.toml`` there says what is measured in each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.papers.akujobi.grid import GRID
from ecnlab.papers.akujobi.page import page
from ecnlab.papers.paper import Drawn, Paper, Step, Tables
from ecnlab.sweep import Sweep

SERIES: Final = ("queue_series", "flow_series")

STEPS: Final = (
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
    Step("evolution", 1, 1, ("queue_series",), drawn=True),
    Step("evolution-lossy", 1, 1, SERIES, drawn=True),
)
"""All experiments, in the order of the run. ``metrics.toml`` says what is measured in each."""

PIPE: Final = "pipe"
"""The congested link: r1 to r2."""

DATA_BYTES: Final = 1000

SETTLED_S: Final = 20.0
"""When windows and queue of experiment C are looked at: past the slow start, which all schemes share. It begins within 5 s,
and with a tenth of ACKs lost one run in ten has its window still at 10 s, one in a hundred at 20 s.
"""


def surge(sweep: Tables) -> pl.LazyFrame:
    """The 99th percentile of the one flow's window, in segments."""
    window = sweep.table("flow_series").filter(pl.col("time_s") >= SETTLED_S)
    percentile = (pl.col("cwnd_bytes").quantile(0.99) / DATA_BYTES).alias("value")
    return window.group_by(GRID.run_keys(window), maintain_order=True).agg(percentile)


def queues(sweep: Tables) -> pl.DataFrame:
    """The queue over time, in kilobytes: the queue and RED's average of each scheme, side by side."""
    series = sweep.table("queue_series").filter(pl.col("link") == PIPE)
    kilobytes = series.select(
        "time_s", "scheme", (pl.col("bytes") / 1e3).alias("queue"), (pl.col("average_bytes") / 1e3).alias("average")
    )
    return kilobytes.collect().pivot(on="scheme", index="time_s", values=["queue", "average"]).sort("time_s")


def windows(sweep: Tables) -> pl.DataFrame:
    """The window of the one flow over time, in segments, of each scheme."""
    series = sweep.table("flow_series").select("time_s", "scheme", pl.col("cwnd_bytes") / DATA_BYTES)
    return series.collect().pivot(on="scheme", index="time_s", values="cwnd_bytes").sort("time_s")


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """The runs of the two evolutions."""
    lossy = sweeps["evolution-lossy"]
    tables = {"queue_15": queues(sweeps["evolution"]), "queue_lossy": queues(lossy), "window_lossy": windows(lossy)}
    return Drawn(tables, {"evolution": {"seed": lossy.runs["seed"][0]}})


PAPER: Final = Paper("akujobi", GRID, STEPS, draw, page, own={"surge": surge})
