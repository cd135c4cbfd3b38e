"""RFC 2884, "Performance Evaluation of Explicit Congestion Notification (ECN) in IP Networks", end to end.

The experiments are the files of ``papers/rfc2884``; here is what is measured in each, and the analysis tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.papers.paper import Drawn, Paper, Step, Tables, measured
from ecnlab.papers.rfc2884 import faults, joint, linux, measure
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.rfc2884.page import page
from ecnlab.quantities import quantity
from ecnlab.sweep import Sweep

SEGMENT_BYTES: Final = 1460
"""Payload of a full segment on Ethernet."""


def _envelope(sweep: Tables) -> pl.DataFrame:
    return measure.transactions(sweep, "envelope")


def _variant_transactions(sweep: Tables) -> pl.DataFrame:
    return measure.transactions(sweep, "variant_transaction")


def _with_losses(sweep: Tables) -> pl.DataFrame:
    return pl.concat([measure.transactions(sweep), measure.losses(sweep)])


def _disciplines(sweep: Tables) -> pl.DataFrame:
    return pl.concat([measure.disciplines(sweep), faults.in_testbed(sweep)])


def _sizes(sweep: Tables) -> pl.DataFrame:
    return measure.transactions(sweep, "size")


STEPS: Final = (
    Step("red-search", 6, 20, measure.search),
    Step("fairness", 10, 30, measure.fairness),
    Step("equal", 10, 30, measure.signals),
    Step("bulk", 10, 30, measure.bulk, ("flow_series",)),
    Step("bulk-recovery", 5, 30, measure.bulk, ("flow_series",)),
    Step("transactions", 20, 40, _with_losses, ("transactions",)),
    Step("transactions-recovery", 10, 40, measure.transactions),
    # At 40 seeds a difference of gains is known to about 20 points, the tolerance itself; at 150 to half of that.
    Step("transactions-like-reno", 5, 150, measure.like_reno),
    Step("transactions-size", 20, 40, _sizes),
    # At 150 seeds the slope to 160 KB is known to about 1.5 points a doubling, that to 20 KB to about 5; at 1500 to a third.
    Step("transactions-longer", 150, 1500, measure.longer),
    Step("transactions-alone", 10, 40, measure.alone),
    Step("envelope", 6, 20, _envelope),
    Step("homogeneous-bulk", 10, 30, measure.homogeneous_bulk),
    Step("homogeneous-transactions", 10, 40, measure.homogeneous_transactions),
    Step("variants-bulk", 10, 30, measure.window),
    Step("variants-transactions", 10, 40, _variant_transactions),
    Step("disciplines", 5, 20, _disciplines, ("flow_series", "queue_series")),
    Step("tail-drop", 5, 20, faults.sought, ("flow_series", "queue_series")),
    Step("synchrony", 5, 20, faults.synchrony, ("flow_series", "queue_series")),
    Step("shares", 5, 20, faults.shares),
    Step("degenerate", 5, 20, faults.degenerate),
    Step("joint-bulk", 3, 20, joint.bulk),
    Step("joint-bulk-max_p", 3, 20, joint.bulk),
    Step("joint-transactions", 3, 20, joint.transactions),
    Step("joint-transactions-max_p", 3, 20, joint.transactions),
    Step("joint-fairness", 3, 20, joint.fairness),
    Step("evolution", 1, 1, None, ("queue_series", "flow_series")),
)
"""All experiments, in the order of the run."""


def analyse(sweeps: Mapping[str, Tables]) -> pl.DataFrame:
    """The samples of all experiments. ``sweeps`` is by the name of the step."""
    by_name = measured(STEPS, sweeps)
    parts = list(by_name.values())
    bulk, short = sweeps["homogeneous-bulk"], sweeps["homogeneous-transactions"]
    parts.append(measure.against_nobody(sweeps["variants-bulk"], bulk, "goodput_bps", "bulk"))
    parts.append(measure.against_nobody(sweeps["variants-transactions"], short, "exchanges", "transaction"))
    parts.append(measure.mice_over_bulk(by_name["transactions"], by_name["bulk"]))
    parts.append(measure.over_reno(by_name["bulk"], "bulk_gain"))
    return GRID.ordered(pl.concat(parts))


def evolution(sweep: Tables) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Queue and windows of the one run that the report draws: kilobytes and segments over time."""
    queue = (
        sweep.table("queue_series")
        .filter(pl.col("link") == measure.PIPE)
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


PAPER: Final = Paper("rfc2884", GRID, STEPS, analyse, draw, page, linux.STEPS)
