"""Metrics of a sweep as its report needs them: units, levels of arms and axes, and paired effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.stats import Bounds, Interval, mean_interval
from ecnlab.plots.units import unit_of
from ecnlab.scenario.metric_ranges import of_difference, of_metric
from ecnlab.stages.paired import ARM, pairs
from ecnlab.stages.words import value

if TYPE_CHECKING:
    from ecnlab.runs.sweep_result import Sweep

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
    base: float
    """Mean of the metric at ``first``."""
    points: int
    """Number of settings of the other arms and axes over which it is a mean."""

    @property
    def decided(self) -> bool:
        """Return whether the interval excludes zero."""
        return self.interval.excludes_zero()


def metrics(sweep: Sweep) -> list[str]:
    """Return the metrics with a value in any run: rates first, as they are the first to look at."""
    there = sweep.metrics.drop_nulls("value")["metric"].unique().to_list()
    names = [name for name in sweep.manifest["metrics"] if name in there]
    return sorted(names, key=lambda name: unit(sweep, name) != "bit/s")


def unit(sweep: Sweep, metric: str) -> str:
    """Return the unit of a metric; "" if it has none."""
    return unit_of(sweep.manifest["metrics"], metric)


def number(sweep: Sweep, metric: str, one: float) -> str:
    """Return a value of a metric with its unit."""
    return value(ENDS.get(unit(sweep, metric), ""), one)


def signed(sweep: Sweep, metric: str, one: float) -> str:
    """Return a difference of a metric with its sign and unit."""
    text = number(sweep, metric, one)
    return f"+{text}" if one > 0 else text


def interval_words(sweep: Sweep, metric: str, found: Interval) -> str:
    """Return "95 % interval LOW to HIGH", or that one replicate has none."""
    if found.n < 2:
        return "one replicate: no interval"
    return f"95 % interval {number(sweep, metric, found.low)} to {number(sweep, metric, found.high)}"


def factors(sweep: Sweep) -> list[str]:
    """Return the columns of arms and axes that have several levels: arms first."""
    return [name for name in (ARM, *sweep.axes) if len(levels(sweep, name)) > 1]


def levels(sweep: Sweep, factor: str) -> list[str]:
    """Return the arms, or the labels of an axis, in the order of the experiment."""
    return [str(one) for one in sweep.runs[factor].unique(maintain_order=True) if one is not None]


def bounds_of_difference(sweep: Sweep, metric: str) -> Bounds:
    """Return the range of a difference of two values of a metric."""
    found = of_metric(sweep.manifest["metrics"], metric)
    return of_difference(found, found)


def effect(sweep: Sweep, metric: str, factor: str, first: str, second: str) -> Effect | None:
    """Return the paired effect of ``second`` against ``first``; None if no runs have both."""
    both = pairs(sweep, metric, factor, first, second)
    if both.is_empty():
        return None
    means = both.group_by("replicate", maintain_order=True).agg(pl.col("a", "b").mean())
    found = bounds_of_difference(sweep, metric).clip(mean_interval(means["b"] - means["a"]))
    points = both.height // means.height
    return Effect(metric, factor, first, second, found, float(means["a"].mean()), points)  # type: ignore[arg-type]


def largest_effect(sweep: Sweep, metric: str, factor: str) -> Effect | None:
    """Return the effect between the levels of ``factor`` with the least and the greatest mean, in the experiment's order."""
    rows = sweep.metrics.filter(pl.col("metric") == metric).drop_nulls("value")
    means = rows.group_by(factor, maintain_order=True).agg(pl.col("value").mean()).drop_nulls(factor)
    if means.height < 2:
        return None
    ends = {str(means[factor][means["value"].arg_min() or 0]), str(means[factor][means["value"].arg_max() or 0])}
    order = [level for level in levels(sweep, factor) if level in ends]
    return effect(sweep, metric, factor, *order) if len(order) == 2 else None
