"""Figures and tables of a sweep: metrics along the axes, and paired differences between arms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.stats import Interval, mean_interval, paired_difference
from ecnlab.plots.units import drawn_unit, numbers
from ecnlab.report import Axis, Figure, Group, Point, Series, Table
from ecnlab.report.page import Cell
from ecnlab.scenario.metric_ranges import of_metric
from ecnlab.stages.registry import stage
from ecnlab.stages.sweep_data import (
    ARM,
    bounds_of_difference,
    factors,
    levels,
    metrics,
    number,
    pairs,
    signed,
)
from ecnlab.stages.words import NONE

if TYPE_CHECKING:
    from ecnlab.runs.sweep_result import Sweep

FIRST: Final = 3
"""Number of metrics whose figures are not folded."""

MOST_LINES: Final = 6
"""Maximum number of series of a figure; more are averaged over the other axes."""

LOG: Final = 20.0
"""Ratio of the largest to the least value of an axis from which on it is logarithmic."""

OPEN: Final = 40
"""Maximum number of rows of a table that is not folded."""

MOST_ROWS: Final = 1000


@stage("effects", of="sweep")
def effects(sweep: Sweep) -> list[Group]:
    """For the first metrics a figure along each axis, with a series for each arm and point of the other axes."""
    return _effects(sweep, metrics(sweep)[:FIRST])


@stage("other-effects", of="sweep")
def other_effects(sweep: Sweep) -> list[Group]:
    """Figures of the other metrics: along the axes, and differences between arms."""
    names = metrics(sweep)[FIRST:]
    found = _difference_figures(sweep, names)
    return _effects(sweep, names) + ([Group(found)] if found else [])


def _effects(sweep: Sweep, names: Sequence[str]) -> list[Group]:
    axes = [name for name in factors(sweep) if name != ARM] or factors(sweep)
    return [Group([_effect(sweep, metric, by) for by in axes]) for metric in names] if axes else []


def _effect(sweep: Sweep, metric: str, by: str) -> Figure:
    rows = sweep.metrics.filter(pl.col("metric") == metric).drop_nulls("value")
    others = [name for name in factors(sweep) if name != by]
    apart = others if rows.select(others).unique().height <= MOST_LINES else [name for name in others if name == ARM]
    averaged = [name for name in others if name not in apart]
    means = rows.group_by(*apart, by, "replicate", maintain_order=True).agg(pl.col("value").mean())
    bounds = of_metric(sweep.manifest["metrics"], metric)
    found = {
        (_name(key[:-1]) or metric, str(key[-1])): bounds.clip(mean_interval(group["value"]))
        for key, group in means.group_by(*apart, by, maintain_order=True)
    }
    note = f" Averaged over {', '.join(averaged)}." if averaged else ""
    caption = f"Means over {sweep.manifest['replicates']} replicates with 95 % intervals.{note}"
    return _figure(sweep, metric, by, found, caption, title=f"{metric} by {by}", zero=False)


def _name(key: Sequence[Any]) -> str:
    return ", ".join(str(part) for part in key)


def _figure(
    sweep: Sweep,
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
def differences(sweep: Sweep) -> list[Group | Table]:
    """Paired differences of each arm to the first: figures of the first metrics along the first axis, and a table."""
    first, *others = levels(sweep, ARM) or [""]
    rows = [row for metric in metrics(sweep) for other in others for row in _differences(sweep, metric, first, other)]
    if not rows:
        return []
    columns = ("metric", "arms", *sweep.axes, "first", "second", "difference", "95 % interval", "n", "decided")
    caption = f"Differences to {first} at each point"
    table = Table(caption, columns, [cells for cells, _, _ in rows[:MOST_ROWS]], folded=len(rows) > OPEN)
    figures = _difference_figures(sweep, metrics(sweep)[:FIRST])
    return [*([Group(figures)] if figures else []), table]


def _difference_figures(sweep: Sweep, names: Sequence[str]) -> list[Figure]:
    first, *others = levels(sweep, ARM) or [""]
    if not others or not sweep.axes:
        return []
    return [one for metric in names if (one := _difference_figure(sweep, metric, first, others))]


def _differences(
    sweep: Sweep, metric: str, first: str, other: str
) -> list[tuple[list[Cell], tuple[str, ...], Interval]]:
    """Return the table row, the point and the interval of the difference at each point of the grid."""
    found = []
    both = pairs(sweep, metric, ARM, first, other)
    bounds = bounds_of_difference(sweep, metric)
    groups = both.group_by(list(sweep.axes), maintain_order=True) if sweep.axes else [((), both)] if both.height else []
    for point, group in groups:
        one = bounds.clip(paired_difference(group["b"], group["a"]))
        means = [float(group.select(pl.col(side).mean()).item()) for side in ("a", "b")]
        cells = [Cell(metric), Cell(f"{other} − {first}"), *(Cell(str(part)) for part in point)]
        cells += [Cell(number(sweep, metric, mean), True) for mean in means]
        cells += [
            Cell(signed(sweep, metric, one.mean), True),
            Cell(_ends(sweep, metric, one), True),
            Cell(str(one.n), True),
        ]
        found.append(([*cells, _decided(one)], tuple(str(part) for part in point), one))
    return found


def _ends(sweep: Sweep, metric: str, one: Interval) -> str:
    return f"{number(sweep, metric, one.low)} to {number(sweep, metric, one.high)}" if one.n > 1 else NONE


def _decided(one: Interval) -> Cell:
    if not one.excludes_zero():
        return Cell("undecided", tone="open")
    return Cell("higher" if one.mean > 0 else "lower", tone="plain")


def _difference_figure(sweep: Sweep, metric: str, first: str, others: Sequence[str]) -> Figure | None:
    """The differences along the first axis; none if there are too many series."""
    by = sweep.axes[0]
    found: dict[tuple[str, str], Interval] = {}
    for other in others:
        for _, point, one in _differences(sweep, metric, first, other):
            arm = [other] if len(others) > 1 else []
            found[_name([*arm, *point[1:]]) or f"{other} − {first}", point[0]] = one
    if not found or len({name for name, _ in found}) > MOST_LINES:
        return None
    title = f"{metric}: difference to {first}"
    what = f"{others[0]} − {first}" if len(others) == 1 else f"difference to {first}"
    caption = "Means of paired differences with 95 % intervals."
    return _figure(sweep, metric, by, found, caption, title=title, zero=True, what=what)


@stage("metrics", of="sweep")
def metrics_table(sweep: Sweep) -> Table:
    """Mean and interval of every metric at every point; folded if long."""
    rows = []
    summary = sweep.summary()
    for row in summary.head(MOST_ROWS).iter_rows(named=True):
        metric, place = row["metric"], [row[name] for name in (ARM, *sweep.axes) if name in factors(sweep)]
        mean = NONE if row["mean"] is None else number(sweep, metric, row["mean"])
        ends = (
            NONE
            if row["low"] is None
            else f"{number(sweep, metric, row['low'])} to {number(sweep, metric, row['high'])}"
        )
        rows.append(
            [
                Cell(metric),
                *(Cell(str(one)) for one in place),
                Cell(mean, True),
                Cell(ends, True),
                Cell(str(row["n"]), True),
            ]
        )
    columns = ("metric", *(name for name in (ARM, *sweep.axes) if name in factors(sweep)), "mean", "95 % interval", "n")
    return Table("Means over the replicates", columns, rows, folded=len(rows) > OPEN)
