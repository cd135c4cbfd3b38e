"""One run behind each queue over time: delays of both flows' packets, windows, marks and drops; stored, then drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from ecnlab.api.sweep import Sweep
from ecnlab.papers import blocks, run_series
from ecnlab.papers.dualpi2eval.grid import AQMS, GRID
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Drawn
from ecnlab.plots.run import sojourns
from ecnlab.report import Chart, Line, Multiples, Rug

LINK: Final = "bottleneck"
GROUPS: Final = ("ecn", "cubic")

FROM_S: Final = 10.0
"""Start of the drawn part: slow start is over."""

BIN_S: Final = 0.05
"""Width of the bins of delays, marks and drops: the interval of the window samples."""

# --------------------------------------------------------------- stored data


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """Return delays in ms, windows in kB and events of the step ``evolution``, each by queue and flow group."""
    sweep = sweeps["evolution"]
    seen = pl.col("time_s") >= FROM_S
    events = sweep.table("packets").filter(pl.col("link") == LINK, seen).collect()
    groups = sweep.table("flows").select("aqm", "group", flow="name").collect()
    series = (
        sweep.table("flow_series").filter(seen).select("aqm", "flow", "time_s", kilobytes=pl.col("cwnd_bytes") / 1e3)
    )
    windows = series.collect().join(groups, on=["aqm", "flow"], maintain_order="left").drop("flow")
    tables = {
        "drawn_delays": pl.concat(
            [_delays(events.filter(aqm=aqm, flow=flow), aqm, group) for aqm, group, flow in groups.iter_rows()]
        ),
        "drawn_windows": windows,
        "drawn_events": run_series.marks_and_drops(sweep, LINK, BIN_S, FROM_S).drop("flow"),
    }
    return Drawn(tables, {"drawn_seed": sweep.runs["seed"][0]})


def _bin(time: str) -> pl.Expr:
    return (pl.col(time) / BIN_S).floor().cast(pl.Int64).alias("bin")


def _delays(events: pl.DataFrame, aqm: str, group: str) -> pl.DataFrame:
    """Return the mean time in the queue of the packets of a flow that left it in each bin."""
    single, _ = sojourns(events)
    means = single.group_by(_bin("left_s")).agg(pl.col("sojourn_s").mean() * 1e3).sort("bin")
    return means.select(
        pl.lit(aqm).alias("aqm"),
        pl.lit(group).alias("group"),
        ((pl.col("bin") + 0.5) * BIN_S).alias("time_s"),
        pl.col("sojourn_s").alias("milliseconds"),
    )


# --------------------------------------------------------------- how it is drawn


def evolution(given: Material) -> list[Multiples]:
    """Delays of both flows and their windows with marks and drops, a chart for each queue."""
    seed = given.tables.about["drawn_seed"]
    return [
        Multiples(
            "Delay in the queue",
            f"Mean over {BIN_S * 1e3:g} ms of the packets of each flow; behind PIE the lines coincide. Round trips of 5 and 5 ms "
            f"without the queue; seed {seed}.",
            [_chart(given, "drawn_delays", "milliseconds", "ms", aqm) for aqm in AQMS],
        ),
        Multiples(
            "Congestion windows",
            "Strokes: marks of the ECN flow and drops of either, at most one of a kind in each 50 ms.",
            [
                _chart(
                    given,
                    "drawn_windows",
                    "kilobytes",
                    "kB",
                    aqm,
                    blocks.rugs(given.tables["drawn_events"].filter(aqm=aqm)),
                )
                for aqm in AQMS
            ],
        ),
    ]


def _chart(given: Material, table: str, column: str, unit: str, aqm: str, rugs: Sequence[Rug] = ()) -> Chart:
    """Return the chart of a queue with a line for each flow."""
    rows = given.tables[table].filter(aqm=aqm)
    wide = rows.pivot(on="group", index="time_s", values=column).sort("time_s")
    lines = [Line(GRID.named(group), wide[group].fill_null(math.nan).to_list(), i) for i, group in enumerate(GROUPS)]
    return Chart(GRID.named(aqm), "", wide["time_s"].to_list(), lines, unit, rugs=rugs, height=blocks.SMALL)
