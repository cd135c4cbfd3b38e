"""The effect of an axis, or of the arms, on a metric of a sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.plots import keys, units
from ecnlab.plots.figure import Figure
from ecnlab.plots.grids import METRIC, PANEL, VALUE
from ecnlab.plots.keys import ARM
from ecnlab.plots.look import HEIGHT, MAX_LINES, MAX_PANELS, panel_height
from ecnlab.results import paired

if TYPE_CHECKING:
    from ecnlab.results.sweep import SweepResult

DRAWN: Final = (METRIC, VALUE, PANEL, "series", "x", "low", "high", "n")
"""Columns of a figure's data whose names do not depend on axes and metrics."""

MEANS: Final = "means and 95 % intervals of the replicates"
DIFFERENCES: Final = "means and 95 % intervals of the differences between runs with the same seed"


RATIOS: Final = "geometric means and 95 % intervals of the ratios between runs with the same seed"


def figure(
    sweep: SweepResult, metric: str, by: str | None, against: str | None, *, panels: bool, ratio: bool = False
) -> Figure:
    """Return the figure; see `SweepPlots.effect`."""
    by = _axis(sweep, metric, by)
    if ratio and against is None:
        raise _refused(sweep, "a ratio needs an arm to divide by", "name it with --against (against=...)")
    rows = sweep.summary() if against is None else _compared(sweep, metric, against, ratio=ratio)
    rows = rows.filter(pl.col("metric") == metric)
    lacking = keys.missing(sweep, rows.drop_nulls("mean"), against)
    if rows["mean"].null_count() == rows.height:
        what = "has no value in any run" if against is None else f"has no pair of values with {against!r} in any run"
        raise _refused(sweep, f"the metric {metric!r} {what}", "look at `metrics` of the sweep")
    absent = keys.absent(sweep, lacking, f"values of {keys.readable(metric)}", against)
    rows = pl.concat([rows, keys.missing(sweep, rows, against)], how="diagonal").with_columns(pl.col("n").fill_null(0))
    rows = rows.rename({axis: keys.axis_column(axis) for axis in sweep.axes if axis in DRAWN})
    names = keys.names(sweep, rows, metric, [by])
    if panels:
        rows = _panels(sweep, rows, metric, by)
    else:
        rows = rows.with_columns(pl.Series("series", names, dtype=pl.String))
    if (number := rows.drop_nulls("mean")["series"].n_unique()) > MAX_LINES:
        of = ", ".join(axis for axis in (ARM, *sweep.axes) if axis != by)
        remedy = f"at most {MAX_LINES} can be distinguished"
        also = "" if panels else ": draw panels with --panels (panels=True)"
        raise _refused(sweep, f"{number} lines in one figure, of {of}", remedy + also)
    return replace(_drawn(sweep, rows, metric, by, against, ratio=ratio), absent=absent)


def _panels(sweep: SweepResult, rows: pl.DataFrame, metric: str, by: str) -> pl.DataFrame:
    """Return ``rows`` with a panel for each point of the other axes, and a series for each arm in it.

    Without arms or other axes, each line has a panel of its own.
    """
    others = [axis for axis in sweep.axes if axis != by]
    arms = by != ARM and bool(others) and rows[ARM].n_unique() > 1
    panels = keys.names(sweep, rows, metric, [ARM, by] if arms else [by], axes_named=True)
    series = keys.names(sweep, rows, metric, [*others, by]) if arms else [metric] * rows.height
    rows = rows.with_columns(pl.Series("series", series, dtype=pl.String), pl.Series(PANEL, panels, dtype=pl.String))
    if (number := rows[PANEL].n_unique()) > MAX_PANELS:
        raise _refused(sweep, f"{number} panels in one figure", f"at most {MAX_PANELS} are drawn: take `summary()`")
    return rows


def _axis(sweep: SweepResult, metric: str, by: str | None) -> str:
    """Return the axis of the figure, or "arm"."""
    axes, metrics = sweep.axes, sweep.manifest["metrics"]
    if metric not in metrics:
        raise _refused(sweep, f"no metric is called {metric!r}", f"there are {', '.join(metrics)}")
    arms = [ARM] if sweep.runs[ARM].drop_nulls().len() and ARM not in (*axes, *sweep.fixed) else []
    if not (axes or arms):
        raise _refused(sweep, "the experiment has neither axes nor arms", "give it a [grid.NAME] or [arm.NAME]")
    if by is not None and by not in (*axes, *arms):
        raise _refused(sweep, f"no axis is called {by!r}", f"there are {', '.join((*axes, *arms))}")
    return by or (*axes, *arms)[0]


def _compared(sweep: SweepResult, metric: str, against: str, *, ratio: bool) -> pl.DataFrame:
    """Return the differences or ratios of the other arms to ``against``, in the columns of `SweepResult.summary`."""
    arms = sweep.runs[ARM].drop_nulls().unique(maintain_order=True).to_list()
    if against not in arms:
        there = f"there are {', '.join(arms)}" if arms else "the experiment has none; give it an [arm.NAME] for each"
        raise _refused(sweep, f"no arm is called {against!r}", there)
    if len(arms) == 1:
        raise _refused(sweep, f"{against!r} is the only arm", "give the experiment another [arm.NAME]")
    if not ratio:
        return paired.difference_rows(sweep, metric, against)
    try:
        return paired.ratio_rows(sweep, metric, against).rename({"ratio": "mean", "pairs": "n"})
    except ValueError as error:
        raise _refused(sweep, str(error), "leave out --ratio (ratio=True)") from error


def _drawn(sweep: SweepResult, rows: pl.DataFrame, metric: str, by: str, against: str | None, *, ratio: bool) -> Figure:
    label = keys.free(by, [*DRAWN, *sweep.axes]) if by in DRAWN else by
    column = keys.axis_column(by) if by in DRAWN else by
    labels = rows[column].unique(maintain_order=True).to_list()
    places, axis_unit = units.numbers(labels)
    x = dict(zip(labels, places or range(len(labels)), strict=True))
    scale, unit = (1.0, "ratio") if ratio else units.drawn_unit(sweep.manifest["metrics"], metric)
    name = metric if against is None else f"{metric} {'divided by' if ratio else 'minus'} {against}"
    y_name = f"{name}, {unit}" if unit else name
    y = keys.free(y_name, [*DRAWN, label])
    y_label = f"{keys.readable(metric)}{y_name.removeprefix(metric)}"
    x_label = f"{keys.readable(by)}, {axis_unit}" if axis_unit else keys.readable(by)
    at = pl.col(column).replace_strict(x, return_dtype=pl.Float64).alias("x")
    rows = rows.with_columns(pl.col("mean", "low", "high") * scale)
    panel = [PANEL] if PANEL in rows.columns else []
    data = rows.select(*panel, "series", pl.col(column).alias(label), at, pl.col("mean").alias(y), "low", "high", "n")
    title = _title(keys.readable(metric), keys.readable(by), against, ratio=ratio)
    return Figure(
        # A line goes from left to right, even if values are not listed in order.
        data.sort("x", maintain_order=True) if places else data,
        "x", y, title, x_label, y_label, "points", [] if places else labels, from_zero=False,
        level=None if against is None else 1.0 if ratio else 0.0, panel="".join(panel),
        height=panel_height(rows[PANEL].n_unique()) if panel else HEIGHT, note=MEANS if against is None else RATIOS if ratio else DIFFERENCES,
    )  # fmt: skip


def _title(metric: str, by: str, against: str | None, *, ratio: bool) -> str:
    if against is not None:
        return f"{metric}: {'ratio to' if ratio else 'difference from'} {against}"
    return f"{metric} by {by}" if by == ARM else f"Effect of {by} on {metric}"


def _refused(sweep: SweepResult, missing: str, remedy: str) -> Exception:
    return keys.refused(sweep, "effect", missing, remedy)
