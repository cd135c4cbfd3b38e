"""Kadhum & Hassan's figures of windows as numbers: amplitude, simultaneous reductions, and correlation with the queue.

All other quantities are defined in ``papers/kadhum-hassan/metrics.toml``.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from ecnlab.papers import measuring
from ecnlab.papers.kadhum_hassan.grid import GRID
from ecnlab.papers.paper import Tables

LINK: Final = "bottleneck"
RATE_BPS: Final = 700e3
SEGMENT_BYTES: Final = 552
WARMUP_S: Final = 10.0
BINS_S: Final = (0.1, 0.25, 0.5, 1.0)
"""Widths of the time bins in which reductions count as simultaneous; an RTT is 0.15 to 0.7 s."""

CUT: Final = 0.9
"""A window that falls below this part of itself between two samples was cut."""


def window_swing(sweep: Tables) -> pl.LazyFrame:
    """From the 5th to the 95th percentile of each flow's window over time, in segments, averaged over the flows."""
    series = sweep.table("flow_series").filter(pl.col("time_s") >= WARMUP_S)
    keys, window = GRID.run_keys(series), pl.col("cwnd_bytes")
    swing = (window.quantile(0.95) - window.quantile(0.05)) / SEGMENT_BYTES
    each = series.group_by([*keys, "flow"], maintain_order=True).agg(swing.alias("value"))
    return each.group_by(keys, maintain_order=True).agg(pl.col("value").mean())


def windows_variation(sweep: Tables) -> pl.LazyFrame:
    """Coefficient of variation over time of the sum of all windows."""
    total, sum_ = _all_windows(sweep), pl.col("cwnd_bytes")
    return measuring.grouped(total, GRID.run_keys(total), (sum_.std() / sum_.mean()).alias("value"))


def _all_windows(sweep: Tables) -> pl.LazyFrame:
    """The sum of the windows of all flows, in bytes, at each sample."""
    windows = sweep.table("flow_series").filter(pl.col("time_s") >= WARMUP_S)
    keys = [*GRID.run_keys(windows), "time_s"]
    return windows.group_by(keys, maintain_order=True).agg(pl.col("cwnd_bytes").sum())


def queue_follows(sweep: Tables) -> pl.LazyFrame:
    """Correlation over time of the bytes in the queue and the sum of all windows: 1 when one follows the other."""
    queue = sweep.table("queue_series").filter(pl.col("time_s") >= WARMUP_S)
    total = _all_windows(sweep)
    keys = GRID.run_keys(total)
    both = total.join(
        queue.filter(pl.col("link") == LINK).select(*keys, "time_s", "bytes"),
        on=[*keys, "time_s"],
        maintain_order="left",
    )
    return both.group_by(keys, maintain_order=True).agg(pl.corr("cwnd_bytes", "bytes").alias("value"))


def cut_correlation(sweep: Tables) -> pl.LazyFrame:
    """Mean correlation of the cuts of two flows, by the width of the time bins."""
    cuts = _cuts(sweep).collect().lazy()
    return pl.concat([_correlated(cuts, width) for width in BINS_S])


def cut_together(sweep: Tables) -> pl.LazyFrame:
    """As `_together`, of drop-tail, in bins of a second."""
    return _together(_cuts(sweep).filter(pl.col("queue") == "droptail"), 1.0)


def _cuts(sweep: Tables) -> pl.LazyFrame:
    """Samples of each flow's window in which it was cut: the threshold moved, or the window fell."""
    series = sweep.table("flow_series").filter(pl.col("time_s") >= WARMUP_S)
    each = [*GRID.run_keys(series), "flow"]
    window, threshold = pl.col("cwnd_bytes"), pl.col("ssthresh_bytes")
    before = pl.col("time_s").shift(1).over(each).is_not_null()
    moved = before & threshold.ne_missing(threshold.shift(1).over(each))
    fell = window < CUT * window.shift(1).over(each)
    return series.select(*each, "time_s", (moved | fell).fill_null(False).alias("cut"))


def _binned(cuts: pl.LazyFrame, width: float) -> pl.LazyFrame:
    """Return as ``x`` whether each flow was cut in each bin of ``width`` seconds; ``time_s`` is the bin's number."""
    number = ((pl.col("time_s") - WARMUP_S) / width).floor().alias("time_s")
    keys = [*GRID.run_keys(cuts), "flow"]
    return cuts.group_by([*keys, number], maintain_order=True).agg(pl.col("cut").any().cast(pl.Float64).alias("x"))


def _correlated(cuts: pl.LazyFrame, width: float) -> pl.LazyFrame:
    """Mean correlation of the cuts of two flows: 0 when each is cut by itself, 1 when all are cut at once."""
    found = measuring.mean_correlation(GRID, _binned(cuts, width))
    return found.with_columns(bin=pl.lit(f"{width:g} s")).collect().lazy()


def _together(cuts: pl.LazyFrame, width: float) -> pl.LazyFrame:
    """When a flow is cut, the share of the others that are cut in the same bin, over all cuts."""
    binned = _binned(cuts, width)
    keys = GRID.run_keys(binned)
    each = binned.group_by([*keys, "time_s"], maintain_order=True).agg(
        pl.col("x").sum().alias("cut"), (pl.len() - 1.0).alias("others")
    )
    shared = (pl.col("cut") * (pl.col("cut") - 1.0)).sum() / (pl.col("cut") * pl.col("others")).sum()
    return each.group_by(keys, maintain_order=True).agg(shared.alias("value"))
