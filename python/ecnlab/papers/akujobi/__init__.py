"""Akujobi et al., "Congestion Control in TCP/IP Networks: A Combined ECN and BECN Approach", 2003, end to end.

The experiments are the files of ``papers/akujobi``; here is what is measured in each, and the analysis tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.papers.akujobi import measure
from ecnlab.papers.akujobi.grid import GRID
from ecnlab.papers.akujobi.page import page
from ecnlab.papers.paper import Drawn, Paper, Step, Tables, measured
from ecnlab.sweep import Sweep

STEPS: Final = (
    Step("heavy", 20, 60, measure.heavy),
    Step("ends", 20, 400, measure.ends),
    Step("mixed", 2, 20, measure.mixed),
    Step("homogeneous", 20, 40, measure.homogeneous),
    Step("lossy", 20, 40, measure.lossy, ("queue_series", "flow_series")),
    Step("lossy-unharmed", 150, 400, measure.unharmed, ("queue_series", "flow_series")),
    Step("web-fifteen", 20, 40, measure.web, ("objects",)),
    Step("web", 2, 20, measure.web_loads, ("objects",)),
    Step("variants", 2, 20, measure.variants),
    Step("nearest", 20, 400, measure.heavy),
    Step("nearest-alike", 20, 40, measure.homogeneous),
    Step("nearest-lossy", 20, 500, measure.lossy, ("queue_series", "flow_series")),
    Step("nearest-web", 20, 80, measure.web, ("objects",)),
    Step("evolution", 1, 1, None, ("queue_series",)),
    Step("evolution-lossy", 1, 1, None, ("queue_series", "flow_series")),
)
"""All experiments, in the order of the run."""


def analyse(sweeps: Mapping[str, Tables]) -> pl.DataFrame:
    """The samples of all experiments. ``sweeps`` is by the name of the step."""
    return GRID.ordered(pl.concat(list(measured(STEPS, sweeps).values())))


def queues(sweep: Tables) -> pl.DataFrame:
    """The queue over time, in kilobytes: the queue and RED's average of each scheme, side by side."""
    series = sweep.table("queue_series").filter(pl.col("link") == measure.PIPE)
    kilobytes = series.select(
        "time_s", "scheme", (pl.col("bytes") / 1e3).alias("queue"), (pl.col("average_bytes") / 1e3).alias("average")
    )
    return kilobytes.collect().pivot(on="scheme", index="time_s", values=["queue", "average"]).sort("time_s")


def windows(sweep: Tables) -> pl.DataFrame:
    """The window of the one flow over time, in segments, of each scheme."""
    series = sweep.table("flow_series").select("time_s", "scheme", pl.col("cwnd_bytes") / measure.DATA_BYTES)
    return series.collect().pivot(on="scheme", index="time_s", values="cwnd_bytes").sort("time_s")


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """The runs of the two evolutions."""
    lossy = sweeps["evolution-lossy"]
    tables = {"queue_15": queues(sweeps["evolution"]), "queue_lossy": queues(lossy), "window_lossy": windows(lossy)}
    return Drawn(tables, {"evolution": {"seed": lossy.runs["seed"][0]}})


PAPER: Final = Paper("akujobi", GRID, STEPS, analyse, draw, page)
