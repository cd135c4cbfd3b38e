"""Conversion of the tables of a sweep to one value per run: measurements used by several papers.

Groups keep their order: a sum of floats gives identical bytes only in one order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import polars as pl

from ecnlab.papers.judge import Grid
from ecnlab.papers.paper import Tables

RUN: Final = ("id", "spec_hash", "replicate", "seed")
"""Columns of a run that are no place in the grid."""

BLOCK: Final = 10
"""Seeds whose time series are in memory at once."""


def by_blocks(measure: Callable[[Tables], pl.DataFrame], sweep: Tables) -> pl.DataFrame:
    """Return the result of ``measure`` on ``sweep``, a few seeds at a time: it must treat each seed separately."""
    seeds = sweep.table("links").select(pl.col("replicate").unique().sort()).collect()["replicate"].to_list()
    blocks = [seeds[i : i + BLOCK] for i in range(0, len(seeds), BLOCK)]
    return pl.concat([measure(_Block(sweep, block)) for block in blocks])


class _Block:
    """The tables of some seeds of a sweep."""

    def __init__(self, sweep: Tables, seeds: Sequence[int]) -> None:
        self._sweep, self._seeds = sweep, seeds

    def table(self, name: str) -> pl.LazyFrame:
        return self._sweep.table(name).filter(pl.col("replicate").is_in(self._seeds))


def pair(grid: Grid, left: pl.LazyFrame, value: pl.Expr, right: pl.LazyFrame, other: pl.Expr) -> pl.LazyFrame:
    """``value`` of ``left`` and, as ``other``, that of ``right`` of the same run."""
    keys = grid.run_keys(left)
    first = left.select(*keys, value.cast(pl.Float64).alias("value"))
    second = right.select(*keys, other.cast(pl.Float64).alias("other"))
    return first.join(second, on=keys, maintain_order="left")


def beside(grid: Grid, values: pl.LazyFrame, key: str, left: str, right: str) -> pl.LazyFrame:
    """``value`` of the runs where ``key`` is ``left`` and, as ``other``, of those of the same seed where it is ``right``.

    ``values`` has one row a run. The result lacks ``key``.
    """
    on = [name for name in grid.run_keys(values) if name != key]
    here = values.filter(pl.col(key) == left).select(*on, pl.col("value").cast(pl.Float64))
    there = values.filter(pl.col(key) == right).select(*on, pl.col("value").cast(pl.Float64).alias("other"))
    return here.join(there, on=on, maintain_order="left")


def mean_of(grid: Grid, rows: pl.LazyFrame, value: str) -> pl.LazyFrame:
    """The mean of ``value``, SQL, over the many rows of each run, rounded once.

    A group that is summed in several threads has another last digit from one time to the next.
    """
    keys = grid.run_keys(rows)
    each = pl.sql_expr(value).alias("value").drop_nulls()
    listed = rows.group_by(keys, maintain_order=True).agg(each).collect()
    means = pl.Series("value", [math.fsum(values) / len(values) for values in listed["value"]], pl.Float64)
    return listed.select(*keys, means).lazy()


def grouped(rows: pl.LazyFrame, keys: Sequence[str], value: pl.Expr) -> pl.LazyFrame:
    """``value``, an aggregate, for each label of ``keys``."""
    return rows.group_by(keys, maintain_order=True).agg(value)


def over_time(rows: pl.LazyFrame, keys: Sequence[str], value: pl.Expr) -> pl.LazyFrame:
    """As `grouped`, for groups of many rows: each is computed by itself, in one thread, for the same reason as in `mean_of`."""
    needed = rows.select(*dict.fromkeys([*keys, *value.meta.root_names()])).collect()
    parts = needed.partition_by(keys, maintain_order=True) if len(needed) else []
    found = [part.select(pl.col(keys).first(), value) for part in parts]
    return pl.concat(found).lazy() if found else grouped(needed.lazy(), keys, value)


def jain(grid: Grid, rows: pl.LazyFrame, column: str = "goodput_bps") -> pl.LazyFrame:
    """Jain's index of ``column``: 1 when all rows of a run have the same, 1/n when one has everything."""
    x = pl.col(column)
    index = (x.sum() ** 2 / (pl.len() * (x**2).sum())).alias("value")
    return rows.group_by(grid.run_keys(rows), maintain_order=True).agg(index)


def mean_correlation(grid: Grid, series: pl.LazyFrame, column: str = "x") -> pl.LazyFrame:
    """Mean correlation over all pairs of flows of ``column``, given for each ``flow`` at the same times ``time_s``.

    With z the values in standard deviations, the sum of n of them has the variance n + n (n - 1) times it. A flow whose
    value never changes has no correlation and is left out.
    """
    keys, x = grid.run_keys(series), pl.col(column).cast(pl.Float64)
    z = ((x - x.mean()) / x.std()).over([*keys, "flow"]).alias("z")
    total = (
        series.with_columns(z)
        .filter(pl.col("z").is_finite())
        .group_by([*keys, "time_s"], maintain_order=True)
        .agg(pl.col("z").sum(), pl.len().alias("n"))
    )
    n = pl.col("n").first()
    return total.group_by(keys, maintain_order=True).agg(((pl.col("z").var() - n) / (n * (n - 1.0))).alias("value"))


def queue_over_time(sweep: Tables, link: str, *columns: str, **named: str) -> pl.LazyFrame:
    """The queue of ``link`` and RED's average of it, if it has one, over ``time_s``, in kilobytes, with other ``columns`` of it."""
    series = sweep.table("queue_series").filter(pl.col("link") == link)
    has_average = "average_bytes" in series.collect_schema()
    kilobytes, average = (
        pl.col("bytes") / 1e3,
        pl.col("average_bytes") / 1e3 if has_average else pl.lit(None, pl.Float64),
    )
    return series.select("time_s", *columns, **named, kilobytes=kilobytes, average_kilobytes=average)


def marks_and_drops(sweep: Tables, link: str, bin_s: float, from_s: float = 0.0) -> pl.DataFrame:
    """Return the first mark, drop and loss on the wire of each flow at ``link`` in each bin of ``bin_s``, from ``from_s`` on.

    The columns are the place of the run, ``flow``, ``event`` ("mark", "drop", "loss") and ``time_s``.
    """
    packets = sweep.table("packets").filter(pl.col("link") == link, pl.col("time_s") >= from_s)
    number = (pl.col("time_s") / bin_s).floor().cast(pl.Int64).alias("bin")
    kinds = packets.with_columns(pl.col("event").str.split("_").list.first(), number)
    wanted = kinds.filter(pl.col("event").is_in(["mark", "drop", "loss"])).collect()
    there = [key for key in wanted.columns[: wanted.columns.index("time_s")] if key not in RUN]
    by = [*there, "flow", "event", "bin"]
    return wanted.group_by(by, maintain_order=True).agg(pl.col("time_s").min()).drop("bin")


def side_by_side(series: pl.LazyFrame | pl.DataFrame, on: str, values: str | list[str]) -> pl.DataFrame:
    """A column for each label of ``on``, over ``time_s``; of several ``values`` each has its name in front."""
    return series.lazy().collect().pivot(on=on, index="time_s", values=values).sort("time_s")


STATISTICS: Final[Mapping[str, Callable[[Grid, pl.LazyFrame, str], pl.LazyFrame]]] = {
    "mean": mean_of,
    "jain": jain,
    "correlation": mean_correlation,
}
"""Functions besides expressions that ``metrics.toml`` may use on the rows of a run."""
