"""Section 2 and 2.1.1 from runs to samples: the faults of tail drop, and whom RED drops.

The settings are those of ``disciplines.toml`` (the testbed), ``tail-drop.toml`` (made for the faults) and ``shares.toml``.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from ecnlab.papers import measures
from ecnlab.papers.paper import Tables
from ecnlab.papers.rfc2884.grid import GRID

PIPE: Final = "pipe"
TESTBED: Final = "testbed"
"""How the settings call the testbed as it is."""

BUFFER_BYTES: Final = 60e3
"""What the queue holds, but for the settings of a small buffer."""

SMALL_BUFFER_BYTES: Final = 15e3

FULL: Final = 0.9
"""The part of its buffer from which on a queue counts as full: 54 kB of 60, where the next bursts find no room."""

PROBES: Final = ("bursts", "smooth")
"""Two UDP sources of one rate; the first sends six packets at a time."""

SHARERS: Final = {
    "plain": "TCP, 40 ms",
    "far": "TCP, 200 ms",
    "fast": "UDP, 300 kb/s",
    "smooth": "UDP, 75 kb/s",
    "bursts": "UDP, 75 kb/s in bursts",
    "small": "UDP, 75 kb/s, packets of 500 B",
}
"""The groups of ``shares.toml`` whose drops are set beside their bandwidth, as a reader writes them."""


_small = pl.col("setting").str.starts_with("phase") | pl.col("setting").str.ends_with("small buffer")
SOUGHT_BUFFER: Final = pl.when(_small).then(SMALL_BUFFER_BYTES).otherwise(BUFFER_BYTES)
FOUND_BUFFER: Final = pl.when(pl.col("setting").str.starts_with("8 ")).then(30e3).otherwise(SMALL_BUFFER_BYTES)


def in_testbed(sweep: Tables) -> pl.DataFrame:
    """The faults in the testbed; 30 s are left for the flows to open their windows."""
    return _faults(sweep, since_s=30.0, buffer=pl.lit(BUFFER_BYTES)).with_columns(setting=pl.lit(TESTBED))


def sought(sweep: Tables) -> pl.DataFrame:
    """The faults in the settings made for them, from the end of the warm-up on."""
    return pl.concat([_faults(sweep, since_s=20.0, buffer=SOUGHT_BUFFER), *_bursts(sweep)])


def synchrony(sweep: Tables) -> pl.DataFrame:
    """The faults in the settings that a search found to synchronise, from the end of the warm-up on."""
    return _faults(sweep, since_s=20.0, buffer=FOUND_BUFFER)


def shares(sweep: Tables) -> pl.DataFrame:
    """Each flow's part of the drops over its part of the bandwidth, and bursts beside a smooth flow."""
    queues = sweep.table("queues").filter(pl.col("link") == PIPE)
    everything = queues.filter(pl.col("group") == "all")
    parts = []
    for group, label in SHARERS.items():
        for metric, size in (("drop_share", "departed"), ("drop_share_of_bytes", "departed_bytes")):
            rate = pl.col("dropped") / pl.col(size)
            pairs = measures.pair(GRID, queues.filter(pl.col("group") == group), rate, everything, rate)
            parts.append(GRID.samples(metric, pairs.with_columns(setting=pl.lit(label))))
    return pl.concat([*parts, *(found.with_columns(setting=pl.lit(TESTBED)) for found in _bursts(sweep))])


def _faults(sweep: Tables, since_s: float, buffer: pl.Expr) -> pl.DataFrame:
    """Full queue, synchronisation and lock-out of each queue, and of tail drop against RED."""
    found = {
        "full": _full(sweep, since_s, buffer),
        "synchrony": _synchrony(sweep, since_s),
        "utilisation": measures.of_link(GRID, sweep, PIPE, pl.col("utilisation")),
        "least": _least(sweep),
    }
    parts = [GRID.samples(f"fault_{name}", values) for name, values in found.items()]
    return pl.concat([*parts, *(_against_red(f"fault_{name}", values) for name, values in found.items())])


def _against_red(metric: str, values: pl.LazyFrame) -> pl.DataFrame:
    return GRID.samples(f"{metric}_against_red", measures.beside(GRID, values, "variant", "tail", "red"))


def _full(sweep: Tables, since_s: float, buffer: pl.Expr) -> pl.LazyFrame:
    """The share of samples at which at least `FULL` of the buffer was taken."""
    series = sweep.table("queue_series").filter(pl.col("link") == PIPE, pl.col("time_s") >= since_s)
    full = (pl.col("bytes") >= FULL * buffer).mean().alias("value")
    return series.group_by(GRID.run_keys(series), maintain_order=True).agg(full)


def _synchrony(sweep: Tables, since_s: float) -> pl.LazyFrame:
    """The mean correlation of two flows' windows, where there are windows."""
    series = sweep.table("flow_series").filter(pl.col("time_s") >= since_s, pl.col("cwnd_bytes").is_not_null())
    return measures.mean_correlation(GRID, series, "cwnd_bytes")


def _least(sweep: Tables) -> pl.LazyFrame:
    """The goodput of the flow that got least, over an equal share; the probes aside."""
    flows = sweep.table("flows").filter(~pl.col("group").is_in(PROBES))
    keys = GRID.run_keys(flows)
    least = flows.group_by(keys, maintain_order=True).agg(pl.col("goodput_bps").min())
    equal = measures.mean_of(GRID, flows, "goodput_bps").rename({"value": "equal"})
    return least.join(equal, on=keys).select(*keys, (pl.col("goodput_bps") / pl.col("equal")).alias("value"))


def _bursts(sweep: Tables) -> list[pl.DataFrame]:
    """Drops of the bursts over those of the smooth flow, per arriving packet; and what is more of it than under RED."""
    queues = sweep.table("queues").filter(pl.col("link") == PIPE)
    rate = pl.col("dropped") / pl.col("arrived")
    rates = measures.pair(
        GRID, queues.filter(pl.col("group") == "bursts"), rate, queues.filter(pl.col("group") == "smooth"), rate
    )
    excess = rates.select(pl.exclude("value", "other"), (pl.col("value") - pl.col("other")).alias("value"))
    return [GRID.samples("fault_bursts", rates), _against_red("fault_bursts_excess", excess)]
