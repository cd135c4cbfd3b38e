"""Samples: one value per run and metric, and their averages.

A samples frame has the columns ``metric``, the keys of the paper's `ecnlab.papers.grid.Grid` ("" where a key does not
apply), ``replicate``, ``value`` and, for metrics that compare two values of the same run or seed, ``other``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ecnlab.base import stats
from ecnlab.base.errors import EcnlabError
from ecnlab.base.stats import LEVEL, Interval
from ecnlab.papers.tables import Metric, Where

HAIR: Final = 1e-3
"""Fraction of the range between its bounds by which a measured value may be outside: counters are in whole packets."""


def estimate(group: pl.DataFrame, metric: Metric, level: float = LEVEL) -> Interval | None:
    """Return the interval of one place, within the metric's bounds; None if a ratio has no value.

    A ratio with bounds has the interval of its parts (`stats.ratio_parts`), one without Fieller's. Raises EcnlabError
    if a value is outside the bounds.
    """
    value, other = _columns(group)
    if metric.kind in ("gain", "ratio") and other.mean() == 0.0:
        return None
    if not metric.limits.bind:
        return _unbounded(value, other, metric.kind, level)
    spread = stats.mean_interval(per_seed(group, metric), level)
    mean = spread.mean if metric.kind in ("mean", "difference") else _unbounded(value, other, metric.kind, level).mean
    return metric.limits.interval(spread.shifted(float(_settled(np.asarray([mean]), metric)[0]) - spread.mean))


def _settled(values: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    """``values`` within the metric's bounds: one that is a hair outside is at the bound.

    A link, for one, may have been busy for a part of a packet longer than the time. Raises EcnlabError for a value that
    is farther out.
    """
    low, high = metric.limits.low, metric.limits.high
    hair = HAIR * (high - low if math.isfinite(high - low) else 1.0)
    if outside := [float(x) for x in values if not low - hair <= x <= high + hair]:
        raise EcnlabError(f"{metric.name}: {outside[0]} is outside its bounds {low:g} to {high:g}")
    return np.clip(values, low, high)


def _unbounded(value: NDArray[np.float64], other: NDArray[np.float64], kind: str, level: float) -> Interval:
    match kind:
        case "mean":
            return stats.mean_interval(value, level)
        case "difference":
            return stats.paired_difference(value, other, level)
        case _:
            interval = stats.ratio_of_means(value, other, level)
            return interval.shifted(-1.0) if kind == "gain" else interval


def per_seed(group: pl.DataFrame, metric: Metric) -> NDArray[np.float64]:
    """Return one number per replicate, in order, whose mean is the estimate of the place."""
    value, other = _columns(group)
    match metric.kind:
        case "mean":
            return _settled(value, metric)
        case "difference":
            return _settled(value - other, metric)
        case _:
            return stats.ratio_parts(value, other) - (1.0 if metric.kind == "gain" else 0.0)


def at(frame: pl.DataFrame, metric: str | list[str], where: Where) -> pl.DataFrame:
    """The rows of ``metric``, one or several, at ``where``; keys that ``where`` leaves out may have any label."""
    asked: Where = {"metric": metric, **where}
    return frame.filter(
        pl.col(key).is_in(label) if isinstance(label, list) else pl.col(key) == label for key, label in asked.items()
    )


def interval(point: Mapping[str, Any]) -> Interval:
    """A row of points as its mean with the interval."""
    return Interval(point["mean"], point["low"], point["high"], point["n"])


def _columns(group: pl.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ordered = group.sort("replicate")
    return ordered["value"].to_numpy(), ordered["other"].to_numpy()
