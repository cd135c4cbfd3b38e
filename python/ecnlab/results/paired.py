"""Paired comparisons of a sweep: runs of one replicate at the same other settings share their seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.stats import Interval, log_ratio, paired_difference
from ecnlab.scenario.metric_ranges import of_difference, of_metric

if TYPE_CHECKING:
    from ecnlab.results.sweep import SweepResult

ARM: Final = "arm"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A metric in two arms at one point of the grid."""

    metric: str
    first: str
    second: str
    point: tuple[str | None, ...]
    """The label on each axis."""
    means: tuple[float, float]
    """Means over the pairs: of the first arm, of the second."""
    interval: Interval
    """Of the difference, second minus first, or of the ratio, second divided by first; ``n`` counts the pairs."""


Comparisons = Callable[["SweepResult", str, str, str], list[Comparison]]
"""Compares a metric in a first and a second arm: `differences` or `ratios`."""


def pairs(sweep: SweepResult, metric: str, factor: str, first: str, second: str) -> pl.DataFrame:
    """Return the runs of a metric at ``second``, paired with those at ``first`` of the same replicate and other settings.

    ``factor`` is "arm" or an axis. Columns: the other arms and axes, ``replicate``, ``a`` (at first), ``b`` (at second);
    runs without a value are left out.
    """
    keys = [name for name in (ARM, *sweep.axes, "replicate") if name != factor]
    rows = sweep.metrics.filter(pl.col("metric") == metric).drop_nulls("value")
    a, b = (
        rows.filter(pl.col(factor) == level).select(*keys, pl.col("value").alias(name))
        for level, name in ((first, "a"), (second, "b"))
    )
    return a.join(b, on=keys, how="inner", nulls_equal=True, maintain_order="left")


def differences(sweep: SweepResult, metric: str, first: str, second: str) -> list[Comparison]:
    """Return the paired differences of two arms at each point of the grid, second minus first.

    The intervals are Student's t, clipped to the range of the difference.
    Source: Jain (1991), section 13.4.1, paired observations.
    """
    range_ = of_metric(sweep.manifest["metrics"], metric)
    bounds = of_difference(range_, range_)
    return [
        _comparison(metric, first, second, point, group, bounds.clip(paired_difference(group["b"], group["a"])))
        for point, group in _points(sweep, pairs(sweep, metric, ARM, first, second))
    ]


def ratios(sweep: SweepResult, metric: str, first: str, second: str) -> list[Comparison]:
    """Return the paired ratios of two arms at each point of the grid, second divided by first.

    The mean is the geometric mean of the pairs' ratios, the interval Student's t of their logarithms. Raises ValueError
    with the arm and the seed if a value is not positive.
    Source: Jain (1991), sections 12.4 and 13.4.1.
    """
    both = pairs(sweep, metric, ARM, first, second)
    _check_positive(sweep, metric, both, {"a": first, "b": second})
    return [
        _comparison(metric, first, second, point, group, log_ratio(group["b"], group["a"]))
        for point, group in _points(sweep, both)
    ]


def _to_arm(sweep: SweepResult, metric: str, against: str, compare: Comparisons) -> list[Comparison]:
    """Compare each other arm with the arm ``against``. Raises ValueError if there is no such metric or arm."""
    if metric not in sweep.manifest["metrics"]:
        raise ValueError(f"no metric is called {metric!r}: there are {', '.join(sweep.manifest['metrics'])}")
    if against not in sweep.runs[ARM]:
        raise ValueError(f"no arm is called {against!r}")
    arms = sweep.runs[ARM].drop_nulls().unique(maintain_order=True)
    return [one for arm in arms if arm != against for one in compare(sweep, metric, against, arm)]


def difference_rows(sweep: SweepResult, metric: str, against: str) -> pl.DataFrame:
    """Return the differences of `_to_arm`: ``arm`` (the second), the axes, ``metric``, ``mean``, ``low``, ``high``, ``n``."""
    return _frame(sweep, _to_arm(sweep, metric, against, differences), "mean", "n")


def ratio_rows(sweep: SweepResult, metric: str, against: str) -> pl.DataFrame:
    """Return the ratios of `_to_arm`: ``arm`` (the second), the axes, ``metric``, ``ratio``, ``low``, ``high``, ``pairs``."""
    return _frame(sweep, _to_arm(sweep, metric, against, ratios), "ratio", "pairs")


def _frame(sweep: SweepResult, found: list[Comparison], mean: str, n: str) -> pl.DataFrame:
    """Return a row a comparison: ``arm`` (the second), the axes, ``metric``, ``mean``, ``low``, ``high``, ``n``.

    The arguments ``mean`` and ``n`` name the two columns. The ends are null where there is one pair.
    """
    rows = []
    for one in found:
        ends = (one.interval.low, one.interval.high) if one.interval.n > 1 else (None, None)
        rows.append((one.second, *one.point, one.metric, one.interval.mean, *ends, one.interval.n))
    types = {
        **dict.fromkeys((ARM, *sweep.axes, "metric"), pl.String),
        **dict.fromkeys((mean, "low", "high"), pl.Float64),
        n: pl.UInt32,
    }
    return pl.DataFrame(rows, schema=types, orient="row")


def _points(sweep: SweepResult, both: pl.DataFrame) -> Iterator[tuple[tuple[str | None, ...], pl.DataFrame]]:
    """Yield each point of the grid with its pairs."""
    if sweep.axes:
        for point, group in both.group_by(list(sweep.axes), maintain_order=True):
            yield tuple(None if part is None else str(part) for part in point), group
    elif both.height:
        yield (), both


def _comparison(
    metric: str, first: str, second: str, point: tuple[str | None, ...], group: pl.DataFrame, interval: Interval
) -> Comparison:
    a, b = (float(group.select(pl.col(side).mean()).item()) for side in ("a", "b"))
    return Comparison(metric, first, second, point, (a, b), interval)


def _check_positive(sweep: SweepResult, metric: str, both: pl.DataFrame, arms: dict[str, str]) -> None:
    for side, arm in arms.items():
        wrong = both.filter(pl.col(side) <= 0)
        if wrong.height:
            row = wrong.row(0, named=True)
            place = [pl.col(name).eq_missing(row[name]) for name in (*sweep.axes, "replicate")]
            seed = sweep.runs.filter(pl.col(ARM) == arm, *place)["seed"][0]
            at = "".join(f", {axis} = {row[axis]}" for axis in sweep.axes)
            raise ValueError(
                f"the metric {metric!r} of the arm {arm!r}{at} is {row[side]:g} with seed {seed}: "
                "a ratio needs positive values; take the differences"
            )
