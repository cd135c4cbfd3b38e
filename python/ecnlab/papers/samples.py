"""Samples: one value per run and metric, and what they average to.

A samples frame has the columns ``metric``, the keys of the paper's `ecnlab.papers.grid.Grid` ("" where a key does not
apply), ``replicate``, ``value`` and, for metrics that compare two values of the same run or seed, ``other``.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ecnlab import stats
from ecnlab.papers.published import Metric, Where
from ecnlab.stats import Interval


def estimate(group: pl.DataFrame, metric: Metric) -> Interval | None:
    """The interval of one place; None where a ratio has no value."""
    value, other = _columns(group)
    match metric.kind:
        case "mean":
            return stats.mean_interval(value)
        case "difference":
            return stats.paired_difference(value, other)
        case _:
            if other.mean() == 0.0:
                return None
            interval = stats.ratio_of_means(value, other)
            return interval.shifted(-1.0) if metric.kind == "gain" else interval


def per_seed(group: pl.DataFrame, metric: Metric) -> NDArray[np.float64]:
    """One number per replicate, in their order, whose mean is the estimate of the place."""
    value, other = _columns(group)
    match metric.kind:
        case "mean":
            return value
        case "difference":
            return value - other
        case _:
            return stats.ratio_parts(value, other) - (1.0 if metric.kind == "gain" else 0.0)


def at(frame: pl.DataFrame, metric: str, where: Where) -> pl.DataFrame:
    """The rows of ``metric`` at ``where``; keys that ``where`` leaves out may have any label."""
    wanted = pl.col("metric") == metric
    for key, label in where.items():
        labels = label if isinstance(label, list) else [label]
        wanted = wanted & pl.col(key).is_in(labels)
    return frame.filter(wanted)


def _columns(group: pl.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ordered = group.sort("replicate")
    return ordered["value"].to_numpy(), ordered["other"].to_numpy()
