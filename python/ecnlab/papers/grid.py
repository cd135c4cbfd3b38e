"""A paper's grid, the axes of its experiments, and samples: one value per run and metric, and their averages.

A samples frame has the columns ``metric``, the keys of the paper's `Grid` ("" where a key does not apply), ``replicate``,
``value`` and, for metrics that compare two values of the same run or seed, ``other``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ecnlab.base import stats
from ecnlab.base.errors import EcnlabError
from ecnlab.base.stats import LEVEL, Interval
from ecnlab.papers.published import Metric, Where

HAIR: Final = 1e-3
"""Fraction of the range between its bounds by which a measured value may be outside: counters are in whole packets."""

VALUES: Final[dict[str, type[pl.DataType]]] = {"replicate": pl.UInt32, "value": pl.Float64, "other": pl.Float64}
MEANS: Final[dict[str, type[pl.DataType]]] = {"mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.UInt32}


@dataclass(frozen=True, slots=True)
class Grid:
    """The axes of a paper's experiments.

    ``levels`` give the positions of labels that are not numbers on their axis, ``names`` the displayed labels,
    ``words`` the displayed axis names (``max_p {}``).
    """

    keys: tuple[str, ...]
    levels: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def samples(self, metric: str, frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
        """Bring ``frame`` into the form of a samples frame of ``metric``.

        ``frame`` has ``replicate``, ``value`` and whichever of ``other`` and the keys apply.
        """
        given = frame.lazy().collect()
        blank = [pl.lit("").alias(key) for key in self.keys if key not in given.columns]
        other = [] if "other" in given.columns else [pl.lit(None, pl.Float64).alias("other")]
        whole = given.with_columns(pl.lit(metric).alias("metric"), *blank, *other)
        return whole.select([pl.col(name).cast(kind) for name, kind in (self._places() | VALUES).items()])

    def points(self, frame: pl.DataFrame, metrics: Mapping[str, Metric], level: float = LEVEL) -> pl.DataFrame:
        """Return the mean of each metric at each place of the grid, with its interval.

        Places where a ratio has no value (division by zero) are left out.
        """
        rows = []
        for place, group in self.ordered(frame).group_by(["metric", *self.keys], maintain_order=True):
            interval = estimate(group, metrics[str(place[0])], level)
            if interval is not None:
                rows.append((*place, interval.mean, interval.low, interval.high, interval.n))
        return pl.DataFrame(rows, schema=self._places() | MEANS, orient="row")

    def ordered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Sort rows by metric and place, each axis in its own order."""
        ranks = [
            pl.col(key)
            .replace_strict({x: self.score(x) for x in frame[key].unique()}, return_dtype=pl.Float64)
            .alias(f"_{key}")
            for key in self.keys
        ]
        order = [
            "metric",
            *(name for key in self.keys for name in (f"_{key}", key)),
            *(["replicate"] if "replicate" in frame.columns else []),
        ]
        return frame.with_columns(ranks).sort(order).select(frame.columns)

    def run_keys(self, frame: pl.LazyFrame) -> list[str]:
        """Return the columns of a sweep's table that identify a run: its place in the grid and its replicate."""
        columns = frame.collect_schema().names()
        return [key for key in (*self.keys, "replicate") if key in columns]

    def score(self, label: str) -> float:
        """Return the position of a label on its axis: its level, or the number with which it starts; 0 for a name."""
        if label in self.levels:
            return self.levels[label]
        try:
            return float(label.split()[0])
        except (ValueError, IndexError):
            return 0.0

    def named(self, label: str) -> str:
        """A label as a reader writes it."""
        return self.names.get(label, label)

    def place(self, row: Mapping[str, Any]) -> str:
        """Where a point lies, in words: its keys that apply."""
        return ", ".join(self.on_axis(key, row[key]) for key in self.keys if row.get(key))

    def on_axis(self, key: str, label: str) -> str:
        """A label of the axis ``key``, in words."""
        return self.words.get(key, "{}").format(self.named(label))

    def _places(self) -> dict[str, type[pl.DataType]]:
        return {"metric": pl.String, **dict.fromkeys(self.keys, pl.String)}


# --------------------------------------------------------------- samples


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
    place: Where = {"metric": metric, **where}
    return frame.filter(
        pl.col(key).is_in(label) if isinstance(label, list) else pl.col(key) == label for key, label in place.items()
    )


def interval(point: Mapping[str, Any]) -> Interval:
    """A row of points as its mean with the interval."""
    return Interval(point["mean"], point["low"], point["high"], point["n"])


def _columns(group: pl.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ordered = group.sort("replicate")
    return ordered["value"].to_numpy(), ordered["other"].to_numpy()
