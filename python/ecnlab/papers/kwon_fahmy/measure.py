"""Comparison of the models with the runs: predictions of the rate formula and the equilibrium, and the measurements.

The other metrics are defined in ``papers/kwon-fahmy/metrics.toml``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from ecnlab import models
from ecnlab.models import ecn, padhye, red
from ecnlab.models.roots import root
from ecnlab.papers.kwon_fahmy.grid import GRID
from ecnlab.papers.paper import Tables

RESPONSES: Final[Mapping[str, tuple[float, float]]] = {
    "reno": (1.0, 0.5),
    "reno-ecn": (1.0, 0.5),
    "ecn-ab": (ecn.ALPHA, ecn.BETA),
    "ecn-ab-real": (ecn.ALPHA, ecn.BETA),
}
"""(alpha, beta) of each arm's response to a mark."""

WARMUP_S: Final = 20.0
"""The warm-up of validation.toml."""

WINDOWS: Final = {"": 20.0, "10 Mb/s": 400.0}
"""The receiver's window by test, segments: of the profile ns-2.1b6, and of wide.toml."""

PACKET_BITS: Final = 8000
"""A segment of 1 KB."""

SETTINGS: Final = ("arm", "flows", "min_th", "maxp")
"""Parameters that affect the equilibrium."""

CAPACITY: Final = 125.0
"""1 Mb/s in packets of 1000 bytes a second."""

BASE_RTT_S: Final = 0.128
"""Twice 10 + 40 + 10 ms, and 8 ms in which the packet itself is sent: it is no longer in the queue then."""

BUFFER: Final = 168.0
"""168 KB in packets of 1 KB (slide 15)."""

TIMEOUT_S: Final = 1.0
"""T0 of the equilibrium, which uses no measurement; close to the timers of the runs."""


def rate(sweep: Tables) -> pl.LazyFrame:
    """Slide 16: the rate that the model predicts from each flow's own p, r and round trip, and the rate it had."""
    return _beside_model(sweep, lambda arm, window: _model(arm, max_window=window))


def rate_full(sweep: Tables) -> pl.LazyFrame:
    """The same of Padhye's full model, for Reno."""
    return _beside_model(sweep, lambda arm, window: partial(_full, window) if arm == "reno" else None)


SHORT_TERM: Final = 10
"""Number of samples of short.toml in the second that represents the short term."""


def kept(sweep: Tables) -> pl.LazyFrame:
    """Slide 11: the mean window in the second from a reduction on, over the window before it; mean over all reductions."""
    series = sweep.table("flow_series").filter(pl.col("time_s") >= WARMUP_S)
    keys = GRID.run_keys(series)
    window, threshold = pl.col("cwnd_bytes"), pl.col("ssthresh_bytes")
    after = window.cast(pl.Float64).reverse().rolling_mean(SHORT_TERM).reverse()
    reduced = (window < window.shift(1)) & threshold.ne_missing(threshold.shift(1))
    flows = series.sort(*keys, "flow", "time_s").with_columns(
        (after / window.shift(1)).over(*keys, "flow").alias("value"),
        reduced.over(*keys, "flow").alias("reduced"),
    )
    usable = flows.filter("reduced", pl.col("value").is_not_null())
    return usable.group_by(keys, maintain_order=True).agg(pl.col("value").mean())


def queue_predicted(sweep: Tables) -> pl.LazyFrame:
    """Slide 17: the queue where model senders and model queue agree."""
    return _at_equilibrium(sweep, 0)


def signals_predicted(sweep: Tables) -> pl.LazyFrame:
    """The p at which they do."""
    return _at_equilibrium(sweep, 1)


def _beside_model(sweep: Tables, model: Callable[[str, float], Callable[..., ArrayLike] | None]) -> pl.LazyFrame:
    """Return the rate of all flows of a run by the ``model`` of an arm and its receive window, and the measured one.

    ``predicted_each`` and ``measured_each`` are the values per flow, kb/s.
    """
    flows = sweep.table("flows")
    keys = GRID.run_keys(flows)
    series = sweep.table("flow_series").filter(pl.col("time_s") >= WARMUP_S)
    timers = series.group_by(keys, maintain_order=True).agg(pl.col("rto_s").median().alias("timeout_s"))
    rows = []
    for place, run in flows.join(timers, on=keys, maintain_order="left").collect().group_by(keys, maintain_order=True):
        at = dict(zip(keys, place, strict=True))
        if chosen := model(str(at["arm"]), WINDOWS[str(at.get("test", ""))]):
            found = models.compare(run, chosen, timeout_s=float(run["timeout_s"][0]))
            usable = np.isfinite(found.predicted)
            predicted, measured = (float(rates[usable].sum()) for rates in (found.predicted, found.measured))
            each = {
                f"{name}_each": rate * PACKET_BITS / 1e3 / run.height
                for name, rate in (("predicted", predicted), ("measured", measured))
            }
            rows.append({**at, "value": predicted, "other": measured, **each})
    return pl.LazyFrame(rows)


def _full(window: float, rtt_s: ArrayLike, p: ArrayLike, _r: ArrayLike, *, timeout_s: ArrayLike) -> ArrayLike:
    return padhye.full(rtt_s, p, timeout_s=timeout_s, max_window=window)


def _at_equilibrium(sweep: Tables, which: int) -> pl.LazyFrame:
    runs = sweep.table("links").filter(pl.col("link") == "pipe")
    places = runs.select(GRID.run_keys(runs)).collect()
    settings = [{key: row[key] for key in SETTINGS if key in row} for row in places.iter_rows(named=True)]
    return places.with_columns(value=pl.Series([equilibrium(**at)[which] for at in settings], dtype=pl.Float64)).lazy()


@cache
def equilibrium(arm: str, flows: str = "20", min_th: str = "28", maxp: str = "0.1") -> tuple[float, float]:
    """Return (q, p) of an arm and settings; omitted settings are as in validation.toml."""
    law = control_law(arm, float(min_th), float(maxp))
    found = models.equilibrium(
        _model(arm, timeout_s=TIMEOUT_S),
        law,
        flows=float(flows),
        capacity=CAPACITY,
        base_rtt_s=BASE_RTT_S,
        max_window=WINDOWS[""],
    )
    return float(found.queue), float(found.p)


def control_law(arm: str, min_th: float = 28.0, max_p: float = 0.1) -> red.ControlLaw:
    """The queue's law in front of ``arm``: gentle RED that marks or drops."""
    marks = arm != "reno"
    return red.red(min_th, 3 * min_th, max_p, gentle=True, ecn=marks, above="mark", limit=BUFFER, spacing="wait")


def filling_p(arm: str, queue: float, flows: float) -> float | None:
    """The p at which ``flows`` senders fill the link at an average of ``queue`` packets; None if no p below 1 does."""
    rtt_s, share = BASE_RTT_S + queue / CAPACITY, 0.0 if arm == "reno" else 1.0
    model = _model(arm, timeout_s=TIMEOUT_S)

    def excess(log_p: float) -> float:
        sent = float(np.asarray(model(rtt_s, math.exp(log_p), share)))
        return flows * min(sent, WINDOWS[""] / rtt_s) - CAPACITY

    least, most = math.log(1e-6), math.log(0.999)
    if excess(least) <= 0.0 or excess(most) >= 0.0:
        return None
    return math.exp(root(excess, least, most))


def _model(arm: str, **settings: float) -> Callable[..., ArrayLike]:
    """B(RTT, p, r) of an arm."""
    alpha, beta = RESPONSES[arm]
    return partial(ecn.sending_rate, alpha=alpha, beta=beta, **settings)
