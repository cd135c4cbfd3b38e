"""Metrics of a sweep as its report needs them: units, levels of arms and axes, and paired effects."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.quantities import quantity
from ecnlab.base.spread import spread
from ecnlab.base.stats import LEVEL, Bounds, Interval, mean_interval
from ecnlab.report.words import NONE, value
from ecnlab.results.paired import ARM, pairs
from ecnlab.scenario.metric_ranges import of_difference, of_metric
from ecnlab.scenario.metrics import unit_of

if TYPE_CHECKING:
    from ecnlab.results.sweep import SweepResult

ENDS: Final = {"bit/s": "_bps", "s": "_s", "bytes": "_bytes"}
"""Ends of column names that have a unit in text, by unit."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The paired effect of a change of one arm or axis on a metric: ``second`` minus ``first``."""

    metric: str
    factor: str
    first: str
    second: str
    interval: Interval
    """Over replicates, each of which gives the mean over all other settings that have both levels."""
    means: tuple[float, float]
    """Means of the metric at ``first`` and at ``second``."""
    apart: tuple[tuple[str, Interval], ...]
    """The same at each of these settings, by their labels."""
    smallest: float = 0.0
    """The smallest difference that matters."""

    @property
    def decided(self) -> bool:
        """Return whether the interval excludes zero and all differences that do not matter."""
        return self.interval.low > self.smallest or self.interval.high < -self.smallest

    @property
    def immaterial(self) -> bool:
        """Return whether the interval has only differences that do not matter."""
        return self.interval.n > 1 and -self.smallest <= self.interval.low and self.interval.high <= self.smallest

    @property
    def opposed(self) -> bool:
        """Return whether the settings decide different signs."""
        return any(one.low > 0 for _, one in self.apart) and any(one.high < 0 for _, one in self.apart)

    @property
    def size(self) -> float:
        """The effect in half widths of its interval; relative to the first mean if there is one replicate."""
        change = abs(self.interval.mean)
        scale = abs(self.means[0]) if self.interval.n < 2 else (self.interval.high - self.interval.low) / 2
        return change / scale if scale else math.inf if change else 0.0


def metrics(sweep: SweepResult) -> list[str]:
    """Return the metrics with a value in any run, in the order of the experiment."""
    there = set(sweep.metrics.drop_nulls("value")["metric"].unique())
    return [name for name in _order(sweep, "metrics", sweep.manifest["metrics"]) if name in there]


def _order(sweep: SweepResult, kind: str, names: Iterable[str]) -> list[str]:
    """Return ``names`` in the order of the experiment's file."""
    order = {name: place for place, name in enumerate(sweep.manifest.get("report", {}).get(kind, []))}
    return sorted(names, key=lambda name: order.get(name, len(order)))


def reference(sweep: SweepResult) -> tuple[str, list[str]]:
    """Return the arm with which the others are compared, and the others; "" and none without arms."""
    arms = levels(sweep, ARM)
    first = sweep.manifest.get("report", {}).get("reference") or next(iter(arms), "")
    return first, [arm for arm in arms if arm != first]


def smallest(sweep: SweepResult, metric: str) -> float:
    """Return the smallest difference of a metric that matters; 0 if any does."""
    given = sweep.manifest.get("report", {}).get("smallest", {}).get(metric, 0.0)
    return quantity(given) if isinstance(given, str) else float(given)


def unit(sweep: SweepResult, metric: str) -> str:
    """Return the unit of a metric; "" if it has none."""
    return unit_of(sweep.manifest["metrics"], metric)


def column_of(sweep: SweepResult, metric: str) -> str:
    """Return the end of the column names that have the unit of a metric."""
    return ENDS.get(unit(sweep, metric), "")


def number(sweep: SweepResult, metric: str, one: float) -> str:
    """Return a value of a metric with its unit."""
    return value(column_of(sweep, metric), one)


def spread_of(sweep: SweepResult, metric: str, mean: float | None, low: float | None, high: float | None) -> str:
    """Return a mean of a metric with its interval and unit; the digits follow the width of the interval."""
    return NONE if mean is None else spread(column_of(sweep, metric), mean, low, high)


def signed(sweep: SweepResult, metric: str, one: float) -> str:
    """Return a difference of a metric with its sign and unit."""
    text = number(sweep, metric, one)
    return f"+{text}" if one > 0 else text


def interval_words(sweep: SweepResult, metric: str, found: Interval) -> str:
    """Return "95 % interval LOW to HIGH", or that one replicate has none."""
    if found.n < 2:
        return "one replicate: no interval"
    percent = f"{100 * found.level:.4g} %"
    return f"{percent} interval {number(sweep, metric, found.low)} to {number(sweep, metric, found.high)}"


def factors(sweep: SweepResult) -> list[str]:
    """Return the columns of arms and axes that have several levels: arms first."""
    return [name for name in (ARM, *sweep.axes) if len(levels(sweep, name)) > 1]


def levels(sweep: SweepResult, factor: str) -> list[str]:
    """Return the arms, or the labels of an axis, in the order of the experiment."""
    found = [str(one) for one in sweep.runs[factor].unique(maintain_order=True) if one is not None]
    return _order(sweep, "arms", found) if factor == ARM else found


def bounds_of_difference(sweep: SweepResult, metric: str) -> Bounds:
    """Return the range of a difference of two values of a metric."""
    found = of_metric(sweep.manifest["metrics"], metric)
    return of_difference(found, found)


def effect(
    sweep: SweepResult, metric: str, factor: str, first: str, second: str, level: float = LEVEL
) -> Effect | None:
    """Return the paired effect of ``second`` against ``first``; None if no runs have both."""
    both = pairs(sweep, metric, factor, first, second)
    if both.is_empty():
        return None
    bounds = bounds_of_difference(sweep, metric)
    means = both.group_by("replicate", maintain_order=True).agg(pl.col("a", "b").mean())
    found = bounds.clip(mean_interval(means["b"] - means["a"], level))
    others = [name for name in factors(sweep) if name != factor]
    apart = (
        [
            (", ".join(f"{name} {part}" for name, part in zip(others, key, strict=True)), group)
            for key, group in both.group_by(others, maintain_order=True)
        ]
        if others
        else []
    )
    return Effect(
        metric,
        factor,
        first,
        second,
        found,
        (float(means["a"].mean()), float(means["b"].mean())),  # type: ignore[arg-type]
        tuple((name, bounds.clip(mean_interval(group["b"] - group["a"], level))) for name, group in apart),
        smallest(sweep, metric),
    )


def summary_in_order(sweep: SweepResult) -> pl.DataFrame:
    """Return `SweepResult.summary` by metric, point and arm, with metrics and arms in the order of the experiment."""
    places = {
        name: pl.col(name).replace_strict({one: i for i, one in enumerate(order)}, default=len(order))
        for name, order in (
            ("metric", _order(sweep, "metrics", sweep.manifest["metrics"])),
            *((axis, levels(sweep, axis)) for axis in sweep.axes),
            (ARM, levels(sweep, ARM)),
        )
        if order
    }
    return sweep.summary().sort(*places.values(), maintain_order=True)


def largest_effect(sweep: SweepResult, metric: str, factor: str) -> Effect | None:
    """Return the effect between the levels of ``factor`` with the least and the greatest mean, in the experiment's order."""
    rows = sweep.metrics.filter(pl.col("metric") == metric).drop_nulls("value")
    means = rows.group_by(factor, maintain_order=True).agg(pl.col("value").mean()).drop_nulls(factor)
    if means.height < 2:
        return None
    ends = {str(means[factor][means["value"].arg_min() or 0]), str(means[factor][means["value"].arg_max() or 0])}
    order = [level for level in levels(sweep, factor) if level in ends]
    return effect(sweep, metric, factor, order[0], order[1]) if len(order) == 2 else None


def without_values(sweep: SweepResult, metric: str) -> list[str]:
    """Return the arms, and the levels of axes, that have no value of a metric."""
    rows = sweep.metrics.filter(pl.col("metric") == metric).drop_nulls("value")
    return [
        level if factor == ARM else f"{factor} {level}"
        for factor in factors(sweep)
        for level in levels(sweep, factor)
        if rows.filter(pl.col(factor).cast(pl.String) == level).is_empty()
    ]
