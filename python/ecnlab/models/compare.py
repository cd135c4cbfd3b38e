"""Comparison of a model with a run's measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ecnlab.models.arguments import Array, positive


class Table(Protocol):
    """Columns by name: a Polars or pandas frame, or a dict of arrays."""

    def __getitem__(self, name: str, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Prediction:
    """One element per flow. NaN where a flow has no input for the model."""

    p: Array
    """Congestion indications per data segment sent."""
    r: Array
    """Share of the indications that were marks."""
    rtt_s: Array
    """Mean round trip, seconds."""
    measured: Array
    """Data segments sent each second, retransmissions included."""
    predicted: Array
    """Sending rate predicted by the model, packets a second."""

    @property
    def relative_error(self) -> Array:
        """Return the relative error: predicted divided by measured, minus 1."""
        return np.asarray(self.predicted / self.measured - 1.0)


def compare(flows: Table, rate: Callable[..., ArrayLike], *, timeout_s: ArrayLike) -> Prediction:
    """Predict each flow's sending rate from its own p, r and round trip.

    ``flows`` is a run's table of that name (docs/run-folder.md). An indication is an entry into fast recovery, a timeout or
    a reduction on ECN-Echo. Padhye counts a series of timeouts once where the table counts each, so p is somewhat high
    when timeouts follow each other. The seconds of measurement are those of ``goodput_bps``. ``rate`` is called as
    ``rate(rtt_s, p, r, timeout_s=...)``, which fits `ecn.sending_rate`; ``timeout_s`` is one value or one a flow.
    """
    sent, marks = _column(flows, "data_segments_sent"), _column(flows, "ecn_reductions")
    indications = marks + _column(flows, "timeouts") + _column(flows, "fast_recoveries")
    rtt, goodput = _column(flows, "rtt_mean_s"), _column(flows, "goodput_bps")
    t0 = np.broadcast_to(positive("timeout_s", timeout_s, "seconds"), sent.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        p, r = indications / sent, marks / indications
        measured = sent * goodput / (8.0 * _column(flows, "bytes_delivered"))
    usable = (indications > 0.0) & (indications <= sent) & (rtt > 0.0)
    predicted = np.full(sent.shape, np.nan)
    if usable.any():
        predicted[usable] = np.asarray(rate(rtt[usable], p[usable], r[usable], timeout_s=t0[usable]))
    return Prediction(p, r, rtt, measured, predicted)


def usual_timeout(series: Table, flow: str, since_s: float = 0.0) -> float:
    """Return the median timeout of the flow ``flow`` in seconds, from the table ``flow_series`` of a run.

    Samples before ``since_s`` are ignored. The median, because the sampled timer is doubled while it backs off and T0
    is not.
    """
    rto, time = _column(series, "rto_s"), _column(series, "time_s")
    chosen = rto[(np.asarray(series["flow"]) == flow) & (time >= since_s) & np.isfinite(rto)]
    if chosen.size == 0:
        raise ValueError(
            f"flow_series has no timeout of flow {flow} since {since_s:g} s: sample the run, or begin earlier"
        )
    return float(np.median(chosen))


def _column(table: Table, name: str) -> Array:
    return np.asarray(table[name], dtype=np.float64)
