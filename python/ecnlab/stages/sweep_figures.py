"""Figures and tables of a sweep: metrics along the axes, and paired differences between arms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.stats import Interval, mean_interval
from ecnlab.plots.units import drawn_unit, numbers
from ecnlab.report import Axis, Figure, Group, Point, Series, Table
from ecnlab.report.page import Cell
from ecnlab.report.words import NONE, counted
from ecnlab.results import paired
from ecnlab.results.paired import ARM, Comparison
from ecnlab.results.sweep_data import (
    factors,
    levels,
    metrics,
    number,
    reference,
    signed,
    spread_of,
    summary_in_order,
    without_values,
)
from ecnlab.results.sweep_samples import remarks
from ecnlab.scenario.metric_ranges import of_metric
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.results.sweep import SweepResult

FIRST: Final = 3
"""Number of metrics whose figures are not folded."""

MAX_LINES: Final = 6
"""Maximum number of series of a figure; more are averaged over the other axes."""

LOG: Final = 20.0
"""Ratio of the largest to the least value of an axis from which on it is logarithmic."""

OPEN: Final = 40
"""Maximum number of rows of a table that is not folded."""

MAX_ROWS: Final = 1000


@stage("effects", of="sweep")
def effects(sweep: SweepResult) -> list[Group]:
    """For the first metrics a figure along each axis, with a series for each arm and point of the other axes."""
    return _effects(sweep, metrics(sweep)[:FIRST])


@stage("other-effects", of="sweep")
def other_effects(sweep: SweepResult) -> list[Group]:
    """Figures of the other metrics: along the axes, and differences between arms."""
    names = metrics(sweep)[FIRST:]
    found = _difference_figures(sweep, names)
    return _effects(sweep, names) + ([Group(found)] if found else [])


def _effects(sweep: SweepResult, names: Sequence[str]) -> list[Group]:
    axes = [name for name in factors(sweep) if name != ARM] or factors(sweep)
    return [Group([_effect(sweep, metric, by) for by in axes]) for metric in names] if axes else []


def _effect(sweep: SweepResult, metric: str, by: str) -> Figure:
    rows = sweep.metrics.filter(pl.col("metric") == metric).drop_nulls("value")
    others = [name for name in factors(sweep) if name != by]
    apart = others if rows.select(others).unique().height <= MAX_LINES else [name for name in others if name == ARM]
    averaged = [name for name in others if name not in apart]
    means = rows.group_by(*apart, by, "replicate", maintain_order=True).agg(pl.col("value").mean())
    bounds = of_metric(sweep.manifest["metrics"], metric)
    found = {
        (_name(apart, key[:-1]) or metric, str(key[-1])): bounds.clip(mean_interval(group["value"]))
        for key, group in _in_order(sweep, means, apart).group_by(*apart, by, maintain_order=True)
    }
    note = f" Averaged over {', '.join(averaged)}." if averaged else ""
    if absent := without_values(sweep, metric):
        note += f" No value: {', '.join(absent)}."
    caption = f"{_means(sweep)}.{note}"
    return _figure(sweep, metric, by, found, caption, title=f"{metric} by {by}", zero=False)


def _in_order(sweep: SweepResult, rows: pl.DataFrame, factors: Sequence[str]) -> pl.DataFrame:
    """Return ``rows`` with the arms in the order of the experiment, which is that of colours."""
    if ARM not in factors:
        return rows
    order = {arm: place for place, arm in enumerate(levels(sweep, ARM))}
    return rows.sort(pl.col(ARM).replace_strict(order, default=0), maintain_order=True)


def _name(factors: Sequence[str], key: Sequence[Any]) -> str:
    """Return the name of a line: the arm, and each other axis with its label."""
    return ", ".join(
        str(part) if factor == ARM else f"{factor} {part}" for factor, part in zip(factors, key, strict=True)
    )


def _figure(
    sweep: SweepResult,
    metric: str,
    by: str,
    found: Mapping[tuple[str, str], Interval],
    caption: str,
    *,
    title: str,
    zero: bool,
    what: str = "",
) -> Figure:
    """A figure of intervals by series and label of the axis ``by``."""
    labels = levels(sweep, by)
    values, _ = numbers(labels)
    places = dict(zip(labels, values or [float(i) for i in range(len(labels))], strict=True))
    factor, unit_ = drawn_unit(sweep.manifest["metrics"], metric)
    names = list(dict.fromkeys(name for name, _ in found))
    series = [
        Series(
            name,
            sorted(
                (_point(places[at], one, factor) for (of, at), one in found.items() if of == name), key=lambda p: p.x
            ),
            style,
        )
        for style, name in enumerate(names)
    ]
    log = bool(values) and min(values) > 0 and max(values) >= LOG * min(values)
    y = Axis(f"{what or metric}, {unit_}" if unit_ else what or metric)
    return Figure(
        title,
        caption,
        Axis(by, [(x, label) for label, x in places.items()], log),
        y,
        series,
        zero=zero,
        joined=bool(values),
    )


def _point(x: float, one: Interval, factor: float) -> Point:
    low, high = (factor * one.low, factor * one.high) if one.n > 1 else (math.nan, math.nan)
    return Point(x, factor * one.mean, low, high, one.n)


@stage("differences", of="sweep")
def differences(sweep: SweepResult) -> list[Group | Table]:
    """Paired differences of each arm to the first: figures of the first metrics along the first axis, and a table."""
    first, others = reference(sweep)
    rows = [
        _difference_row(sweep, one)
        for metric in metrics(sweep)
        for other in others
        for one in paired.differences(sweep, metric, first, other)
    ]
    if not rows:
        return []
    columns = ("metric", "arm", *sweep.axes, "mean", first, f"difference to {first}", "95 % interval", "n", "decided")
    caption = f"Differences to {first} at each point"
    table = Table(caption, columns, rows[:MAX_ROWS], folded=len(rows) > OPEN)
    figures = _difference_figures(sweep, metrics(sweep)[:FIRST])
    return [*([Group(figures)] if figures else []), table]


def _difference_figures(sweep: SweepResult, names: Sequence[str]) -> list[Figure]:
    first, others = reference(sweep)
    if not others or not sweep.axes:
        return []
    return [one for metric in names if (one := _difference_figure(sweep, metric, first, others))]


def _difference_row(sweep: SweepResult, one: Comparison) -> list[Cell]:
    """Return the table row of a difference."""
    change = Cell(signed(sweep, one.metric, one.interval.mean), True)
    ends = Cell(_ends(sweep, one.metric, one.interval), True)
    return [*_first_cells(sweep, one), change, ends, Cell(str(one.interval.n), True), _decided(one.interval, 0.0)]


def _ratio_row(sweep: SweepResult, one: Comparison) -> list[Cell]:
    """Return the table row of a ratio."""
    found = one.interval
    ends = f"{found.low:.4g} to {found.high:.4g}" if found.n > 1 else NONE
    cells = [Cell(text, True) for text in (f"{found.mean:.4g}", ends, str(found.n))]
    return [*_first_cells(sweep, one), *cells, _decided(found, 1.0)]


def _first_cells(sweep: SweepResult, one: Comparison) -> list[Cell]:
    """Return the cells of the metric, the arm, the point of the grid, and the means of the arm and of the reference."""
    means = [Cell(number(sweep, one.metric, mean), True) for mean in reversed(one.means)]
    return [
        Cell(one.metric),
        Cell(one.second),
        *(Cell(str(part)) for part in one.point),
        *means,
    ]


@stage("ratios", of="sweep")
def ratios(sweep: SweepResult) -> Table | None:
    """Paired ratios of each arm to the first, of the metrics that are positive in all runs; folded."""
    first, others = reference(sweep)
    rows = []
    left_out = []
    for metric in metrics(sweep):
        try:
            rows += [_ratio_row(sweep, one) for other in others for one in paired.ratios(sweep, metric, first, other)]
        except ValueError:  # a value is not positive
            left_out.append(metric)
    columns = ("metric", "arm", *sweep.axes, "mean", first, f"ratio to {first}", "95 % interval", "n", "decided")
    without = f"; without {', '.join(left_out)}, which are not positive in all runs" if left_out else ""
    caption = f"Ratios to {first} at each point: geometric means over the pairs{without}"
    return Table(caption, columns, rows[:MAX_ROWS], folded=True) if rows else None


def _ends(sweep: SweepResult, metric: str, one: Interval) -> str:
    return f"{number(sweep, metric, one.low)} to {number(sweep, metric, one.high)}" if one.n > 1 else NONE


def _decided(one: Interval, equal: float) -> Cell:
    """Return the verdict on whether the second arm is higher; ``equal`` is the value of two equal arms."""
    if not one.shifted(-equal).excludes_zero():
        return Cell("undecided", tone="open")
    return Cell("higher" if one.mean > equal else "lower", tone="plain")


def _difference_figure(sweep: SweepResult, metric: str, first: str, others: Sequence[str]) -> Figure | None:
    """The differences along the first axis; none if there are too many series."""
    by = sweep.axes[0]
    found: dict[tuple[str, str], Interval] = {}
    for other in others:
        for one in paired.differences(sweep, metric, first, other):
            arms = {ARM: other} if len(others) > 1 else {}
            line = arms | dict(zip(sweep.axes[1:], one.point[1:], strict=True))
            found[_name([*line], [*line.values()]) or f"{other} − {first}", str(one.point[0])] = one.interval
    if not found or len({name for name, _ in found}) > MAX_LINES:
        return None
    title = f"{metric}: difference to {first}"
    what = f"{others[0]} − {first}" if len(others) == 1 else f"difference to {first}"
    caption = "Means of paired differences with 95 % intervals."
    return _figure(sweep, metric, by, found, caption, title=title, zero=True, what=what)


@stage("metrics", of="sweep")
def metrics_table(sweep: SweepResult) -> Table:
    """Mean and interval of every metric at every point; folded if long."""
    place = [name for name in (ARM, *sweep.axes) if name in factors(sweep)]
    few = remarks(sweep)
    keys = ("metric", ARM, *sweep.axes)
    rows = [
        [
            Cell(row["metric"]),
            *(Cell(str(row[name])) for name in place),
            Cell(
                spread_of(sweep, row["metric"], row["mean"], row["low"], row["high"])
                + few.get(tuple(row[name] for name in keys), ""),
                True,
            ),
            Cell(str(row["n"]), True),
        ]
        for row in summary_in_order(sweep).head(MAX_ROWS).iter_rows(named=True)
    ]
    return Table(_means(sweep), ("metric", *place, "mean", "n"), rows, folded=len(rows) > OPEN)


def _means(sweep: SweepResult) -> str:
    """Return how values over the replicates are to be read."""
    count = sweep.manifest["replicates"]
    if count < 2:
        return "Values of one replicate: no interval"
    return f"Means over {counted(count, 'replicate')} with 95 % intervals"
