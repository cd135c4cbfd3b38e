"""A paper's grid: the axes of its experiments, how their labels are ordered and how a reader writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from ecnlab.base.stats import LEVEL
from ecnlab.papers.samples import estimate
from ecnlab.papers.tables import Metric

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
