"""Queueing delay, marks and drops of a run over time, from the counters in `queue_series`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.series import BIN, along, bins_of, gained
from ecnlab.report import Chart, Line
from ecnlab.results.links import congested
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult

DELAYS: Final = {"sojourn_p99_s": "99th percentile", "sojourn_mean_s": "mean", "sojourn_p50_s": "median"}
"""Columns of delays with their names: of the packets that left the queue within the sample."""

SIGNALS: Final = {
    "marks": "marks",
    "early_drops": "early drops",
    "forced_drops": "forced drops",
    "tail_drops": "tail drops",
}
"""Counters with their names."""


@stage("sojourn-over-time", of="run", needs=("queue_series",))
def sojourn_over_time(run: RunResult) -> list[Chart]:
    """The queueing delay of the packets that left each congested link's queue, in ms."""
    bins, columns = bins_of(run.manifest["spec"]), [name for name in DELAYS if _has(run, name)]
    found = bins.over(_rows(run), ["link"], *(pl.col(name).fill_nan(None).mean() * 1e3 for name in columns))
    charts = []
    for link in congested(run):
        rows = found.filter(link=link)
        there = [name for name in columns if rows[name].null_count() < rows.height]
        numbers = rows[BIN].to_list()
        lines = [
            Line(DELAYS[name], along(rows, name, numbers), i, thin=name != "sojourn_mean_s")
            for i, name in enumerate(there)
        ]
        caption = f"Of the packets that left the queue within a sample.{bins.note}"
        if lines:
            times = [bins.time(one) for one in numbers]
            charts.append(Chart(f"Delay in the queue of {link}", caption, times, lines, "ms"))
    return charts


@stage("signals-over-time", of="run", needs=("queue_series",))
def signals_over_time(run: RunResult) -> list[Chart]:
    """Marks and drops by cause at each congested link, in packets of each bin."""
    bins, columns = bins_of(run.manifest["spec"]), [name for name in SIGNALS if _has(run, name)]
    totals = bins.over(_rows(run), ["link"], *(pl.col(name).max().cast(pl.Int64) for name in columns))
    found = totals.with_columns(gained(name, "link") for name in columns)
    charts = []
    for link in congested(run):
        rows = found.filter(link=link)
        there = [name for name in columns if rows[name].sum()]
        numbers = rows[BIN].to_list()
        lines = [Line(SIGNALS[name], along(rows, name, numbers), i, steps=True) for i, name in enumerate(there)]
        caption = f"Packets of every {bins.size * bins.sample_s:g} s."
        if lines:
            times = [bins.time(one) for one in numbers]
            charts.append(Chart(f"Marks and drops at {link}", caption, times, lines, "packets"))
    return charts


def _has(run: RunResult, column: str) -> bool:
    return column in run.manifest["tables"]["queue_series"]["types"]


def _rows(run: RunResult) -> pl.LazyFrame:
    return run.scan("queue_series").filter(pl.col("link").is_in(congested(run)))
