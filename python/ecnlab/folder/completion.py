"""Quantiles of completion times of each flow group, for ``show`` and for reports."""

from __future__ import annotations

from typing import Final

from ecnlab.base.lazy_imports import pl

QUANTILES: Final = {"median": 0.5, "p90": 0.9, "p99": 0.99}
"""Quantiles of single values: the value at rank q (n - 1), counted from 0 and rounded up."""


def of_transactions(rows: pl.LazyFrame) -> pl.DataFrame:
    """Return `quantiles` of the transactions in ``rows`` that ended in the measurement window."""
    return quantiles(rows.filter(pl.col("measured")), "latency_s")


def quantiles(rows: pl.LazyFrame, column: str) -> pl.DataFrame:
    """Return a row per ``group`` of ``rows``, sorted: number, mean, `QUANTILES` and maximum of the times in ``column``, in s."""
    time = pl.col(column)
    found = [time.quantile(share, "higher").alias(f"{name}_s") for name, share in QUANTILES.items()]
    return (
        rows.group_by("group")
        .agg(pl.len().alias("completed"), time.mean().alias("mean_s"), *found, time.max().alias("longest_s"))
        .sort("group")
        .collect()
    )
