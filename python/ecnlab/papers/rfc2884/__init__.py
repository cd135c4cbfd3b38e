"""RFC 2884, "Performance Evaluation of Explicit Congestion Notification (ECN) in IP Networks", end to end.

The experiments are the files of ``papers/rfc2884``; ``metrics.toml`` there says what is measured in each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.papers.paper import Drawn, Paper, Step, Tables
from ecnlab.papers.rfc2884 import faults, linux, measure
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.rfc2884.page import page
from ecnlab.quantities import quantity
from ecnlab.sweep import Sweep

SEGMENT_BYTES: Final = 1460
"""Payload of a full segment on Ethernet."""

PIPE: Final = "pipe"
"""The congested link: r1 to r2."""


STEPS: Final = (
    Step("red-search", 6, 20),
    Step("fairness", 10, 30),
    Step("equal", 10, 30),
    Step("bulk", 10, 30, ("flow_series",)),
    Step("bulk-recovery", 5, 30, ("flow_series",)),
    Step("transactions", 20, 40, ("transactions",)),
    Step("transactions-recovery", 10, 40),
    # At 40 seeds a difference of gains is known to about 20 points, the tolerance itself; at 150 to half of that.
    Step("transactions-like-reno", 5, 150),
    Step("transactions-size", 20, 40),
    # At 150 seeds the slope to 160 KB is known to about 1.5 points a doubling, that to 20 KB to about 5; at 1500 to a third.
    Step("transactions-longer", 150, 1500),
    Step("transactions-alone", 10, 40),
    Step("envelope", 6, 20),
    Step("homogeneous-bulk", 10, 30),
    Step("homogeneous-transactions", 10, 40),
    Step("variants-bulk", 10, 30),
    Step("variants-transactions", 10, 40),
    Step("disciplines", 5, 20, ("flow_series", "queue_series"), measure=faults.in_testbed),
    Step("tail-drop", 5, 20, ("flow_series", "queue_series"), measure=faults.sought),
    Step("synchrony", 5, 20, ("flow_series", "queue_series"), measure=faults.synchrony),
    Step("shares", 5, 20, measure=faults.shares),
    Step("degenerate", 5, 20),
    Step("joint-bulk", 3, 20),
    Step("joint-bulk-max_p", 3, 20),
    Step("joint-transactions", 3, 20),
    Step("joint-transactions-max_p", 3, 20),
    Step("joint-fairness", 3, 20),
    Step("evolution", 1, 1, ("queue_series", "flow_series"), drawn=True),
)
"""All experiments, in the order of the run."""


OWN: Final = {"bulk_gain_together": measure.bulk_gain_together}


def across(sweeps: Mapping[str, Tables], samples: Mapping[str, pl.DataFrame]) -> list[pl.DataFrame]:
    """Samples that compare experiments with each other."""
    bulk, short = sweeps["homogeneous-bulk"], sweeps["homogeneous-transactions"]
    return [
        measure.against_nobody(sweeps["variants-bulk"], bulk, "goodput_bps", "bulk"),
        measure.against_nobody(sweeps["variants-transactions"], short, "exchanges", "transaction"),
        measure.mice_over_bulk(samples["transactions"], samples["bulk"]),
    ]


def evolution(sweep: Tables) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Queue and windows of the one run that the report draws: kilobytes and segments over time."""
    queue = (
        sweep.table("queue_series")
        .filter(pl.col("link") == PIPE)
        .select(
            "time_s",
            (pl.col("bytes") / 1e3).alias("kilobytes"),
            (pl.col("average_bytes") / 1e3).alias("average_kilobytes"),
        )
    )
    names = (
        sweep.table("flows_run")
        .filter(pl.col("group").is_in(["ecn", "plain"]))
        .select(pl.col("name").alias("flow"), "group")
    )
    series = (
        sweep.table("flow_series")
        .join(names, on="flow")
        .select("time_s", "group", pl.col("cwnd_bytes") / SEGMENT_BYTES)
    )
    windows = series.collect().pivot(on="group", index="time_s", values="cwnd_bytes").sort("time_s")
    return queue.collect(), windows.select("time_s", "ecn", "plain")


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """The run of the step ``evolution``, and the settings that its charts name."""
    one = sweeps["evolution"]
    queue, windows = evolution(one)
    red = next(iter(one.specs.values()))["spec"]["queue"]["red"]
    facts = {"seed": one.runs["seed"][0], "min_th": quantity(red["min_th"]), "max_th": quantity(red["max_th"])}
    return Drawn({"evolution_queue": queue, "evolution_windows": windows}, {"evolution": facts})


PAPER: Final = Paper("rfc2884", GRID, STEPS, draw, page, linux.STEPS, OWN, across)
