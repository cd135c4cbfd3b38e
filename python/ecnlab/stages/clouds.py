"""Goodput over delay with ellipses: RFC 7928, section 2.7."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.plots import cloud
from ecnlab.plots.run import RunPlots
from ecnlab.plots.sweep import SweepPlots
from ecnlab.report import Cloud, Scatter
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.plots.figure import Figure
    from ecnlab.results.run import RunResult
    from ecnlab.results.sweep import SweepResult


@stage("goodput-over-delay", of="run", needs=("flows",))
def of_run(run: RunResult) -> Scatter | None:
    """Goodput of each flow over its queueing delay, an ellipse for each group; None for a single flow."""
    if run.table("flows").height < 2:
        return None
    return _scatter(RunPlots(run).goodput_over_delay, "A dot for each flow, the marker at the medians of its group")


@stage("goodput-over-delay", of="sweep")
def of_sweep(sweep: SweepResult) -> Scatter | None:
    """Goodput over delay of each run, an ellipse for each arm and point; None without metrics of both or three replicates."""
    return _scatter(
        SweepPlots(sweep).goodput_over_delay, "A dot for each run, the marker at the medians of its arm and point"
    )


def _scatter(figure: Callable[[], Figure], what: str) -> Scatter | None:
    try:
        drawn = figure()
    except EcnlabError:
        return None  # it has not the data, or too many groups
    rows = drawn.rows
    clouds = [_cloud(name, rows.filter(series=name), style) for style, name in enumerate(drawn.names())]
    caption = f"{what}; ellipses at one standard deviation, of three points or more (RFC 7928 §2.7)."
    if drawn.absent:
        caption += f" {drawn.absent[0].upper()}{drawn.absent[1:]}."
    return Scatter("Goodput over delay", caption, clouds, drawn.x_label, drawn.y_label)


def _cloud(name: str, rows: pl.DataFrame, style: int) -> Cloud:
    parts = {part: rows.filter(part=part).select(cloud.X, cloud.Y).rows() for part in ("point", "median", "ellipse")}
    return Cloud(name, parts["point"], parts["median"][0], parts["ellipse"], style)
