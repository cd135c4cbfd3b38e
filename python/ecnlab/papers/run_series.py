"""Time series and packets of single runs, as the charts of several papers draw them."""

from __future__ import annotations

from typing import Final

import polars as pl

from ecnlab.papers.paper import Tables

RUN: Final = ("id", "spec_hash", "replicate", "seed")
"""Columns of a run that are no place in the grid."""


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
