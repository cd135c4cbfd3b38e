"""The models beside the runs: what the rate formula and the equilibrium say of each run, and what it had.

The other metrics are measured as ``papers/kwon-fahmy/metrics.toml`` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from ecnlab import models
from ecnlab.models import ecn, padhye, red
from ecnlab.papers.kwon_fahmy.grid import GRID
from ecnlab.papers.paper import Tables

RESPONSES: Final[Mapping[str, tuple[float, float]]] = {
    "reno": (1.0, 0.5),
    "reno-ecn": (1.0, 0.5),
    "ecn-ab": (ecn.ALPHA, ecn.BETA),
    "ecn-ab-real": (ecn.ALPHA, ecn.BETA),
}
"""(alpha, beta) of each arm's answer to a mark."""

WARMUP_S: Final = 20.0
"""The warm-up of validation.toml."""

WINDOW: Final = 20.0
"""The receiver's window of the profile ns-2.1b6, segments."""

WIDE_WINDOW: Final = 400.0
"""That of wide.toml."""

CAPACITY: Final = 125.0
"""1 Mb/s in packets of 1000 bytes a second."""

BASE_RTT_S: Final = 0.128
"""Twice 10 + 40 + 10 ms, and 8 ms in which the packet itself is sent: it is no longer in the queue then."""

BUFFER: Final = 168.0
"""168 KB in packets of 1 KB (slide 15)."""

TIMEOUT_S: Final = 1.0
"""T0 of the equilibrium, which uses no measurement; about what the timers of the runs show."""

PACKET_BITS: Final = 8000
"""A segment of 1 KB."""

COLUMNS: Final = ("delay", "web", "udp", "ftp", "drops")
"""The metrics of the printed tables, in the order of their columns."""


def over_flows(sweep: Tables) -> pl.DataFrame:
    """Slides 16 and 17 over the number of flows."""
    return pl.concat([rates(sweep), operating_point(sweep)])


def wide(sweep: Tables) -> pl.DataFrame:
    """Slide 16 with windows of tens of packets."""
    return rates(sweep, WIDE_WINDOW)


def rates(sweep: Tables, window: float = WINDOW) -> pl.DataFrame:
    """Slide 16: the rate that the model predicts from each flow's own p, r and round trip, and the rate it had.

    ``window`` is the receiver's, in segments.
    """
    flows = sweep.table("flows")
    keys = GRID.run_keys(flows)
    series = sweep.table("flow_series").filter(pl.col("time_s") >= WARMUP_S)
    timers = series.group_by(keys, maintain_order=True).agg(pl.col("rto_s").median().alias("timeout_s"))
    names = ("rate", "rate_measured", "rate_predicted", "rate_full", "indications", "mark_share")
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    runs = flows.join(timers, on=keys, maintain_order="left").collect().group_by(keys, maintain_order=True)
    for place, run in runs:
        at = dict(zip(keys, place, strict=True))
        alpha, beta = RESPONSES[str(at["arm"])]
        ours = _predicted(run, partial(ecn.sending_rate, alpha=alpha, beta=beta, max_window=window))
        rows["rate"].append({**at, **ours})
        rows["rate_predicted"].append({**at, "value": _each(ours["value"], run)})
        rows["rate_measured"].append({**at, "value": _each(ours["other"], run)})
        if at["arm"] == "reno":
            rows["rate_full"].append({**at, **_predicted(run, partial(_full, window))})
        marks, timeouts, recoveries = (float(run[c].sum()) for c in ("ecn_reductions", "timeouts", "fast_recoveries"))
        every = marks + timeouts + recoveries
        rows["indications"].append({**at, "value": every / float(run["data_segments_sent"].sum())})
        if every:
            rows["mark_share"].append({**at, "value": marks / every})
    return pl.concat([GRID.samples(metric, pl.DataFrame(found)) for metric, found in rows.items() if found])


def operating_point(sweep: Tables) -> pl.DataFrame:
    """Slide 17: queue and p where model senders and model queue agree, and where the run had them."""
    links = sweep.table("links").filter(pl.col("link") == "pipe")
    queues = sweep.table("queues").filter(pl.col("link") == "pipe", pl.col("group") == "all")
    keys = GRID.run_keys(links)
    queue = links.select(*keys, pl.col("average_mean_packets").alias("other")).collect()
    p = queues.select(*keys, ((pl.col("marks") + pl.col("dropped")) / pl.col("arrived")).alias("other")).collect()
    found = {place: _equilibrium(dict(zip(keys, place, strict=True))) for place in queue.drop("other").iter_rows()}
    parts = []
    for metric, measured, which in (("queue", queue, 0), ("signals", p, 1)):
        predicted = pl.Series("value", [found[row[:-1]][which] for row in measured.iter_rows()])
        both = measured.with_columns(predicted)
        parts += [
            GRID.samples(metric, both),
            GRID.samples(f"{metric}_measured", both.select(*keys, pl.col("other").alias("value"))),
            GRID.samples(f"{metric}_predicted", both.select(*keys, "value")),
        ]
    return pl.concat(parts)


def _predicted(run: pl.DataFrame, rate: Callable[..., ArrayLike]) -> dict[str, float]:
    found = models.compare(run, rate, timeout_s=float(run["timeout_s"][0]))
    usable = np.isfinite(found.predicted)
    return {"value": float(found.predicted[usable].sum()), "other": float(found.measured[usable].sum())}


def _each(packets_per_second: float, run: pl.DataFrame) -> float:
    """Of all flows together, what one has: kb/s."""
    return packets_per_second * PACKET_BITS / 1e3 / run.height


def _full(window: float, rtt_s: ArrayLike, p: ArrayLike, _r: ArrayLike, *, timeout_s: ArrayLike) -> ArrayLike:
    return padhye.full(rtt_s, p, timeout_s=timeout_s, max_window=window)


def _equilibrium(at: Mapping[str, Any]) -> tuple[float, float]:
    """(q, p) of the arm and settings ``at``; what it leaves out is as in validation.toml."""
    law = control_law(str(at["arm"]), float(at.get("min_th", 28.0)), float(at.get("maxp", 0.1)))
    rate, flows = _model(str(at["arm"])), float(at.get("flows", 20.0))
    found = models.equilibrium(rate, law, flows=flows, capacity=CAPACITY, base_rtt_s=BASE_RTT_S, max_window=WINDOW)
    return float(found.queue), float(found.p)


def control_law(arm: str, min_th: float = 28.0, max_p: float = 0.1) -> red.ControlLaw:
    """The queue's law in front of ``arm``: gentle RED that marks or drops."""
    marks = arm != "reno"
    return red.red(min_th, 3 * min_th, max_p, gentle=True, ecn=marks, above="mark", limit=BUFFER, spacing="wait")


def filling_p(arm: str, queue: float, flows: float) -> float | None:
    """The p at which ``flows`` senders fill the link at an average of ``queue`` packets; None if no p below 1 does."""
    rtt_s, share = BASE_RTT_S + queue / CAPACITY, 0.0 if arm == "reno" else 1.0
    rate = _model(arm)

    def excess(log_p: float) -> float:
        sent = float(np.asarray(rate(rtt_s, math.exp(log_p), share)))
        return flows * min(sent, WINDOW / rtt_s) - CAPACITY

    least, most = math.log(1e-6), math.log(0.999)
    if excess(least) <= 0.0 or excess(most) >= 0.0:
        return None
    return math.exp(brentq(excess, least, most))


def _model(arm: str) -> Callable[[float, float, float], ArrayLike]:
    """B(RTT, p, r) of an arm."""
    alpha, beta = RESPONSES[arm]
    return partial(ecn.sending_rate, timeout_s=TIMEOUT_S, alpha=alpha, beta=beta)
