"""Measurements not covered by ``papers/rfc2884/metrics.toml``: bytes up to a time, the run over time, two sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.api.sweep import Sweep
from ecnlab.base.quantities import quantity
from ecnlab.papers import blocks, measuring, run_series
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Drawn, Tables
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.report import Chart, Finding, Multiples

SEGMENT_BYTES: Final = 1460
"""Payload of a full segment on Ethernet."""


def bulk_gain_together(sweep: Tables) -> pl.LazyFrame:
    """Bytes that each side had when the first of the two finished."""
    competing = sweep.table("flows_run").filter(pl.col("group").is_in(["ecn", "plain"]))
    keys = GRID.run_keys(competing)
    first = competing.group_by(keys, maintain_order=True).agg(pl.col("finish_s").min().alias("until_s"))
    names = competing.select(*keys, pl.col("name").alias("flow"), "group")
    series = sweep.table("flow_series").select(*keys, "flow", "time_s", "delivered_bytes")
    seen = series.join(names, on=[*keys, "flow"]).join(first, on=keys).filter(pl.col("time_s") <= pl.col("until_s"))
    had = seen.group_by([*keys, "group"], maintain_order=True).agg(pl.col("delivered_bytes").sort_by("time_s").last())
    ecn, plain = (had.filter(pl.col("group") == side) for side in ("ecn", "plain"))
    return measuring.pair(GRID, ecn, pl.col("delivered_bytes"), plain, pl.col("delivered_bytes"))


PIPE: Final = "pipe"
SAMPLE_S: Final = 0.1
"""Interval of the samples of the drawn run; strokes of marks and drops are as far apart at least."""

COMPETING: Final = {"ecn": "ECN client", "plain": "non-ECN client"}
"""The competing flows by group."""


# --------------------------------------------------------------- the summary


def faster(given: Material) -> Finding:
    """How many places of the main grids have a faster ECN client, by their intervals."""
    gains = given.points.filter(pl.col("metric").is_in(["bulk_gain", "transaction_gain"]))
    better, worse = gains.filter(pl.col("low") > 0).height, gains.filter(pl.col("high") < 0).height
    return blocks.counted(
        better,
        gains.height,
        "Among mixed flows the ECN client is faster.",
        f"In {better} of {gains.height} settings (load, max_p, recovery, bulk and transactions); slower in "
        f"{worse}, undecided in {gains.height - better - worse}.",
        least=0.5,
    )


def left_over(given: Material) -> Finding:
    """Return the gain when all flows use ECN: goodput of all flows, and transactions."""
    total, short = given.at("homogeneous_total_gain"), given.at("homogeneous_transaction_gain")
    more, less = (both.filter(pl.col("low") > 0).height for both in (total, short))
    worse = total.filter(pl.col("high") < 0).height
    high = ", ".join(
        f"{given.with_interval(row)} at max_p {row['maxp']}"
        for row in given.at("homogeneous_total_gain", congestion="high").iter_rows(named=True)
    )
    payers = (
        given.with_interval(given.point(f"bulk_{side}_against_nobody", congestion="high", maxp="0.1"))
        for side in ("ecn", "plain")
    )
    return blocks.counted(
        more + less,
        total.height + short.height,
        "Where every flow uses ECN, goodput and transaction rate are larger than where none does.",
        f"The goodput of all flows together is larger in {more} of {total.height} settings (load, max_p) and smaller in {worse}; at "
        f"high load it changes by {high}. The transaction rate of both clients is larger in {less} of {short.height}. "
        "Among mixed flows at high load and max_p 0.1 the goodput of the ECN client changes by {} against the same client where "
        "nobody uses ECN, and that of the non-ECN client by {}.".format(*payers),
    )


# --------------------------------------------------------------- one run, in time


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """The run of the step ``evolution``, and the settings that its charts name."""
    one = sweeps["evolution"]
    red = next(iter(one.specs.values()))["spec"]["queue"]["red"]
    facts = {"seed": one.runs["seed"][0], "min_th": quantity(red["min_th"]), "max_th": quantity(red["max_th"])}
    return Drawn(over_time(one), {"evolution": facts})


def over_time(sweep: Tables) -> dict[str, pl.DataFrame]:
    """Queue, windows of the two competing flows, marks and drops: kilobytes and segments."""
    groups = sweep.table("flows_run").select("group", flow="name")
    series = sweep.table("flow_series").join(groups.filter(pl.col("group").is_in(list(COMPETING))), on="flow")
    windows = run_series.side_by_side(
        series.select("time_s", "group", pl.col("cwnd_bytes") / SEGMENT_BYTES), "group", "cwnd_bytes"
    )
    events = run_series.marks_and_drops(sweep, PIPE, SAMPLE_S).join(groups.collect(), on="flow", maintain_order="left")
    return {
        "evolution_queue": run_series.queue_over_time(sweep, PIPE).collect(),
        "evolution_windows": windows.select("time_s", *COMPETING),
        "evolution_events": events.select("group", "event", "time_s"),
    }


def evolution(given: Material) -> list[Chart | Multiples]:
    """Queue and windows of one run, with the marks and drops in the queue."""
    about, events = given.tables.about["evolution"], given.tables["evolution_events"]
    return [
        blocks.queue_over_time(
            "The queue at r1",
            f"High congestion, max_p 0.1, seed {about['seed']}; sampled every 100 ms. Strokes: marks and drops, at "
            "most one of a kind and flow in 100 ms.",
            given.tables["evolution_queue"],
            levels=[(about[name] / 1000, name) for name in ("min_th", "max_th")],
            events=blocks.rugs(events),
        ),
        blocks.small_charts(
            "Congestion windows",
            "The two competing flows, which start at 20 s. Strokes: marks and drops of the flow.",
            given.tables["evolution_windows"],
            COMPETING,
            "segments",
            events={group: blocks.rugs(events.filter(group=group)) for group in COMPETING},
        ),
    ]
