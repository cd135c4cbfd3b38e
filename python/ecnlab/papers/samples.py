"""Samples: one value per run and metric, and the points they average to.

A samples frame has the columns ``metric``, the keys of `KEYS` ("" where a key
does not apply), ``replicate``, ``value`` and, for metrics that compare two
values of the same run or seed, ``other``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ecnlab import stats
from ecnlab.papers.published import Metric, Where
from ecnlab.stats import Interval

KEYS: Final = ("variant", "recovery", "congestion", "maxp", "size", "background", "min_th")
LOADS: Final = {"low": 2.0, "moderate": 5.0, "high": 10.0}
"""Background flows of the congestion levels (RFC 2884 section 4.3)."""

SCHEMA: Final = {
    "metric": pl.String,
    **dict.fromkeys(KEYS, pl.String),
    "replicate": pl.UInt32,
    "value": pl.Float64,
    "other": pl.Float64,
}
POINT_SCHEMA: Final = {
    "metric": pl.String,
    **dict.fromkeys(KEYS, pl.String),
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.UInt32,
}


def samples(metric: str, frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Bring ``frame`` into the form of a samples frame of ``metric``.

    ``frame`` has ``replicate``, ``value`` and whichever of ``other`` and `KEYS` apply.
    """
    given = frame.lazy().collect()
    blank = [pl.lit("").alias(key) for key in KEYS if key not in given.columns]
    other = [] if "other" in given.columns else [pl.lit(None, pl.Float64).alias("other")]
    whole = given.with_columns(pl.lit(metric).alias("metric"), *blank, *other)
    return whole.select([pl.col(name).cast(kind) for name, kind in SCHEMA.items()])


def score(label: str) -> float:
    """Where a label lies on its axis: its background flows, its bytes, its number; 0 for a name."""
    if label in LOADS:
        return LOADS[label]
    try:
        return float(label.split()[0])
    except (ValueError, IndexError):
        return 0.0


def ordered(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows by metric and place, each axis in its own order, whatever order they were found in."""
    ranks = [
        pl.col(key).replace_strict({x: score(x) for x in frame[key].unique()}, return_dtype=pl.Float64).alias(f"_{key}")
        for key in KEYS
    ]
    order = [
        "metric",
        *(name for key in KEYS for name in (f"_{key}", key)),
        *(["replicate"] if "replicate" in frame.columns else []),
    ]
    return frame.with_columns(ranks).sort(order).select(frame.columns)


def points(frame: pl.DataFrame, metrics: Mapping[str, Metric]) -> pl.DataFrame:
    """The mean of each metric at each place of the grid, with its 95% interval.

    Places where a ratio has no value (nothing to divide by) are left out.
    """
    rows = []
    for place, group in ordered(frame).group_by(["metric", *KEYS], maintain_order=True):
        interval = estimate(group, metrics[str(place[0])])
        if interval is not None:
            rows.append((*place, interval.mean, interval.low, interval.high, interval.n))
    return pl.DataFrame(rows, schema=POINT_SCHEMA, orient="row")


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
