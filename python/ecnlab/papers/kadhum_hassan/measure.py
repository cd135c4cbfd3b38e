"""From runs to samples: what Kadhum & Hassan measure, one value per run.

Each function reads the tables of one experiment and gives the samples of the metrics that
``papers/kadhum-hassan/metrics.toml`` defines.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from ecnlab.papers import measures
from ecnlab.papers.kadhum_hassan.grid import GRID
from ecnlab.papers.paper import Tables

LINK: Final = "bottleneck"
RATE_BPS: Final = 700e3
SEGMENT_BYTES: Final = 552
WARMUP_S: Final = 10.0
MEASURED_S: Final = 40.0
BINS_S: Final = (0.1, 0.25, 0.5, 1.0)
"""Widths of the time bins in which cuts count as simultaneous; a round trip takes 0.15 to 0.7 s."""

CUT: Final = 0.9
"""A window that falls below this part of itself between two samples was cut."""

PAIRS: Final = (("ecn", "red"), ("ecn", "droptail"), ("red", "droptail"))
"""The queues whose difference the paper speaks of."""


def queues(sweep: Tables) -> pl.DataFrame:
    """All that the paper shows of its six cases."""
    return measures.by_blocks(_queues, sweep)


def _queues(sweep: Tables) -> pl.DataFrame:
    cuts = _cuts(sweep).collect().lazy()
    compared = {
        "delay_deviation": _delay_deviation(sweep),
        "queue_delay": _link(sweep, pl.col("sojourn_mean_s") * 1e3),
        "window_swing": _windows(sweep, _swing),
        "window_correlation": measures.window_correlation(GRID, sweep, WARMUP_S).collect().lazy(),
        "reductions": _reductions(sweep),
        "cut_correlation": pl.concat([_correlated(cuts, width) for width in BINS_S]),
    }
    return pl.concat(
        [
            *lengths(sweep),
            *_signals(sweep),
            *_throughput(sweep),
            GRID.samples("queue_packets_run", _link(sweep, pl.col("queue_mean_packets"), "links_run")),
            GRID.samples("average_kilobytes_run", _kilobytes(sweep, "average_mean_bytes", "links_run")),
            GRID.samples("early_peak", _early_peak(sweep)),
            GRID.samples("window_mean", _windows(sweep, pl.col("cwnd_bytes").mean())),
            GRID.samples("cut_together", _together(cuts.filter(pl.col("queue") == "droptail"), 1.0)),
            *_compared("loss_to", _loss(sweep)),
            *(GRID.samples(name, values) for name, values in compared.items()),
            *(part for name, values in compared.items() for part in _compared(f"{name}_difference", values)),
        ]
    )


def variants(sweep: Tables) -> pl.DataFrame:
    """What a change of settings or of reading does to queue, signals and throughput."""
    return pl.concat([*lengths(sweep), *_signals(sweep), *_throughput(sweep)])


def lengths(sweep: Tables) -> list[pl.DataFrame]:
    """The queue and RED's average of it, in packets and in kilobytes."""
    packets = _link(sweep, pl.col("queue_mean_packets"))
    return [
        GRID.samples("queue_packets", packets),
        GRID.samples("queue_kilobytes", _kilobytes(sweep, "queue_mean_bytes")),
        GRID.samples("average_packets", _link(sweep, pl.col("average_mean_packets"))),
        GRID.samples("average_kilobytes", _kilobytes(sweep, "average_mean_bytes")),
        *_compared("queue_difference", packets),
    ]


def _signals(sweep: Tables) -> list[pl.DataFrame]:
    """How RED signals: marks and drops, and how many of the two are marks."""
    queue = sweep.table("queues").filter(pl.col("link") == LINK, pl.col("group") == "all")
    red = queue.filter(pl.col("queue") != "droptail")
    marks, drops = pl.col("marks"), pl.col("dropped")
    return [
        GRID.samples("marked_share", measures.pair(GRID, red, marks, red, marks + drops)),
        GRID.samples("loss", measures.pair(GRID, queue, drops, queue, pl.col("arrived"))),
    ]


def _loss(sweep: Tables) -> pl.LazyFrame:
    """The share of packets that the congested link dropped, of each run."""
    queue = sweep.table("queues").filter(pl.col("link") == LINK, pl.col("group") == "all")
    return queue.select(*GRID.run_keys(queue), (pl.col("dropped") / pl.col("arrived")).alias("value"))


def _throughput(sweep: Tables) -> list[pl.DataFrame]:
    """What the link carried and what of it was new, kb/s; timeouts."""
    flows = sweep.table("flows")
    per_run = flows.group_by(GRID.run_keys(flows), maintain_order=True)
    goodput = per_run.agg((pl.col("goodput_bps").sum() / 1e3).alias("value")).collect().lazy()
    carried = _link(sweep, pl.col("delivered_bytes") * 8 / 1e3 / MEASURED_S)
    return [
        GRID.samples("goodput", goodput),
        *_compared("goodput_difference", goodput),
        GRID.samples("throughput", carried),
        *_compared("throughput_difference", carried),
        GRID.samples("timeouts", per_run.agg(pl.col("timeouts").sum().cast(pl.Float64).alias("value"))),
    ]


def _compared(metric: str, values: pl.LazyFrame) -> list[pl.DataFrame]:
    """``values`` of one queue beside those of another under the same seeds, for the pairs that were run."""
    found = values.collect()
    present = set(found["queue"])
    return [
        GRID.samples(
            metric,
            measures.beside(GRID, found.lazy(), "queue", left, right).with_columns(
                queue=pl.lit(left), against=pl.lit(right)
            ),
        )
        for left, right in PAIRS
        if {left, right} <= present
    ]


def _delay_deviation(sweep: Tables) -> pl.LazyFrame:
    """Standard deviation over time of the queueing delay, ms: that part of the round trip which varies."""
    series = sweep.table("queue_series").filter(pl.col("link") == LINK, pl.col("time_s") >= WARMUP_S)
    delay_ms = pl.col("bytes") * 8e3 / RATE_BPS
    return series.group_by(GRID.run_keys(series), maintain_order=True).agg(delay_ms.std().alias("value"))


def _reductions(sweep: Tables) -> pl.LazyFrame:
    """Reductions of the window per flow and second: entries into fast recovery, timeouts, and those on ECN-Echo."""
    flows = sweep.table("flows")
    count = pl.col("fast_recoveries") + pl.col("timeouts") + pl.col("ecn_reductions")
    mean = count.cast(pl.Float64).mean() / MEASURED_S
    return flows.group_by(GRID.run_keys(flows), maintain_order=True).agg(mean.alias("value"))


def _early_peak(sweep: Tables) -> pl.LazyFrame:
    """The longest queue while the connections begin, kB."""
    series = sweep.table("queue_series").filter(pl.col("link") == LINK, pl.col("time_s") < WARMUP_S)
    return series.group_by(GRID.run_keys(series), maintain_order=True).agg((pl.col("bytes").max() / 1e3).alias("value"))


_swing = pl.col("cwnd_bytes").quantile(0.95) - pl.col("cwnd_bytes").quantile(0.05)


def _windows(sweep: Tables, value: pl.Expr) -> pl.LazyFrame:
    """``value`` of each flow's window over time, in segments, averaged over the flows."""
    series = sweep.table("flow_series").filter(pl.col("time_s") >= WARMUP_S)
    keys = GRID.run_keys(series)
    each = series.group_by([*keys, "flow"], maintain_order=True).agg((value / SEGMENT_BYTES).alias("value"))
    return each.group_by(keys, maintain_order=True).agg(pl.col("value").mean())


def _cuts(sweep: Tables) -> pl.LazyFrame:
    """Samples of each flow's window in which it was cut: the threshold moved, or the window fell."""
    series = sweep.table("flow_series").filter(pl.col("time_s") >= WARMUP_S)
    each = [*GRID.run_keys(series), "flow"]
    window, threshold = pl.col("cwnd_bytes"), pl.col("ssthresh_bytes")
    moved = threshold != threshold.shift(1).over(each)
    fell = window < CUT * window.shift(1).over(each)
    return series.select(*each, "time_s", (moved | fell).fill_null(False).alias("cut"))


def _binned(cuts: pl.LazyFrame, width: float) -> pl.LazyFrame:
    """Whether each flow was cut in each bin of ``width`` seconds, as ``x``; the bin's number stands as ``time_s``."""
    number = ((pl.col("time_s") - WARMUP_S) / width).floor().alias("time_s")
    keys = [*GRID.run_keys(cuts), "flow"]
    return cuts.group_by([*keys, number], maintain_order=True).agg(pl.col("cut").any().cast(pl.Float64).alias("x"))


def _correlated(cuts: pl.LazyFrame, width: float) -> pl.LazyFrame:
    """Mean correlation of the cuts of two flows: 0 when each is cut by itself, 1 when all are cut at once."""
    found = measures.mean_correlation(GRID, _binned(cuts, width))
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


def _kilobytes(sweep: Tables, column: str, table: str = "links") -> pl.LazyFrame:
    return _link(sweep, pl.col(column) / 1e3, table)


def _link(sweep: Tables, value: pl.Expr, table: str = "links") -> pl.LazyFrame:
    """``value`` of the congested link; runs of a queue that does not have it are left out."""
    return measures.of_link(GRID, sweep, LINK, value, table).filter(pl.col("value").is_not_null())
