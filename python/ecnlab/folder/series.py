"""Time series of a run in bins: memory and page do not grow with the length of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.quantities import quantity

MAX_BINS: Final = 600
"""Maximum number of bins."""

BIN: Final = "bin"
"""Column with the number of the bin, from 0."""

ROUNDING: Final = 1e-6
"""Part of a sample interval by which a stored time may be below its multiple."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins of ``size`` samples each, of which one is taken every ``sample_s`` seconds."""

    sample_s: float
    size: int

    @property
    def exact(self) -> bool:
        """Return whether each bin is one sample."""
        return self.size == 1

    def over(self, rows: pl.LazyFrame, keys: Sequence[str], *aggregates: pl.Expr) -> pl.DataFrame:
        """Return ``aggregates`` of the samples in each bin for each of ``keys``, sorted by these and `BIN`."""
        number = (pl.col("time_s") / self.sample_s + ROUNDING).floor().cast(pl.Int64) // self.size
        grouped = rows.with_columns(number.alias(BIN)).group_by(*keys, BIN).agg(*aggregates)
        return grouped.sort(*keys, BIN).collect(engine="streaming")

    def time(self, bin_: int) -> float:
        """Return the mean time of the samples of a whole bin in seconds."""
        return (bin_ * self.size + (self.size - 1) / 2) * self.sample_s

    @property
    def note(self) -> str:
        """Return the remark of a caption on the bins; "" if there is one sample in each."""
        return "" if self.exact else f" Each point is {self.size} samples ({self.size * self.sample_s:g} s)."


def bins_of(spec: Mapping[str, Any], most: int = MAX_BINS) -> Bins:
    """Return at most ``most`` bins and one for the last sample, of a run of the resolved ``spec``, which sets ``sample``."""
    sample = quantity(str(spec["sample"]))
    return Bins(sample, max(math.ceil(quantity(str(spec["duration"])) / sample / most), 1))


def along(rows: pl.DataFrame, column: str, bins: Sequence[int]) -> list[float]:
    """Return the values of ``column`` at ``bins``; NaN where ``rows``, one a bin, has none."""
    found = dict(zip(rows[BIN], rows[column], strict=True))
    return [math.nan if (value := found.get(one)) is None else float(value) for one in bins]


def gained(name: str, key: str) -> pl.Expr:
    """Return the increase of the counter ``name`` in each bin of each ``key``: since the last sample of the bin before.

    The counter of a bin is its largest sample. It is 0 at the start of the run.
    """
    return pl.col(name) - pl.col(name).shift(1, fill_value=0).over(key, order_by=BIN)


def goodput(series: pl.LazyFrame, flows: pl.DataFrame, bins: Bins) -> pl.DataFrame:
    """Return the goodput of each group in each bin in Mb/s, from `flow_series` and `flows`: columns group, `BIN`, goodput.

    The first bin begins with the run, at its first sample; the last may have fewer samples.
    """
    up_to = pl.col("delivered_bytes").max().cast(pl.Float64).alias("up_to")
    delivered = bins.over(series, ["flow"], up_to)
    last = series.select(pl.col("time_s").max()).collect().item() / bins.sample_s
    before = pl.max_horizontal(pl.col(BIN) * bins.size - 1, 0)
    intervals = pl.min_horizontal((pl.col(BIN) + 1) * bins.size - 1, round(last)) - before
    groups = flows.select(pl.col("name").alias("flow"), "group")
    return (
        delivered.with_columns(gained("up_to", "flow").alias("gain"))
        .join(groups, on="flow", how="left", maintain_order="left")
        .group_by("group", BIN, maintain_order=True)
        .agg(pl.col("gain").sum())
        .with_columns((8e-6 * pl.col("gain") / (pl.max_horizontal(intervals, 1) * bins.sample_s)).alias("goodput"))
        .sort("group", BIN)
    )


def reported_marks(series: pl.LazyFrame, flows: pl.DataFrame, bins: Bins) -> pl.DataFrame:
    """Return the marks that ACKs reported per round trip in each bin, in segments: columns flow, `BIN`, marks.

    It is the increase of ``bytes_marked`` since the last sample of the bin before, divided by the mean payload of the
    flow's data segments, times the mean smoothed RTT of the bin, divided by the time between these samples. The first bin
    of a flow has no bin before it and is left out, as are flows whose feedback does not count marks.
    """
    total, until = pl.col("bytes_marked").max().alias("total"), pl.col("time_s").max().alias("until")
    known = series.filter(pl.col("bytes_marked").is_not_null())
    found = bins.over(known, ["flow"], total, until, pl.col("srtt_s").mean().alias("rtt"))
    payload = flows.select(
        pl.col("name").alias("flow"), (pl.col("bytes_sent") / pl.col("data_segments_sent")).alias("payload")
    )
    gain, time = (pl.col(name) - pl.col(name).shift(1).over("flow", order_by=BIN) for name in ("total", "until"))
    return (
        found.join(payload, on="flow", how="left", maintain_order="left")
        .with_columns((gain / pl.col("payload") * pl.col("rtt") / time).fill_nan(None).alias("marks"))
        .select("flow", BIN, "marks")
        .drop_nulls()
    )
