"""The table ``prediction``: the equilibrium of the senders and the queue of a scenario."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from ecnlab import laws
from ecnlab.base.quantities import quantity
from ecnlab.engines.model.law import control_law
from ecnlab.engines.model.path import FlowClass, Link, bottleneck
from ecnlab.laws.model_coverage import NotCoveredError, expected
from ecnlab.models import ecn, equilibrium, units

ROUND_TRIPS: Final = 2.0
"""T0 in RTTs, as measured in runs (docs/models.md). RFC 5348 section 4.3 takes a conservative four."""

MIN_FRACTION: Final = 1e-9
"""Fraction of the capacity treated as zero: the solver needs a rate above 0 when everything is dropped."""


def prediction(spec: Mapping[str, Any], in_force: Mapping[str, Any]) -> pl.DataFrame:
    """The table ``prediction`` of a resolved scenario and the values that its laws derive, as manifests and sweeps store them.

    Raises NotCoveredError.
    """
    found = bottleneck(spec)
    link, wire = found.link, found.wire_bytes
    any_ecn = any(each.ecn for each in found.classes)
    queue_table = {**spec["queue"][link.queue], **_derived(link, in_force)}
    law = control_law(link.queue, queue_table, wire, link.rate_bps, ecn=any_ecn)
    capacity = float(units.packets_per_second(link.rate_bps, wire))
    count = sum(each.count for each in found.classes)
    base = sum(each.count * each.base_rtt_s for each in found.classes) / count
    senders = [Senders(each, each.base_rtt_s - base) for each in found.classes]
    windows = sum(each.count * each.max_window for each in found.classes)

    def carried(rtt_s: float, p: float, r: float) -> float:
        return max(sum(each.flow.count * each.delivered(rtt_s, p, r) for each in senders), MIN_FRACTION * capacity)

    try:
        point = equilibrium(carried, law, flows=1.0, capacity=capacity, base_rtt_s=base, max_window=windows)
    except ValueError as error:
        raise NotCoveredError(f"no model covers this scenario: {error}") from error
    queue, p, r, rtt = (float(x) for x in (point.queue, point.p, point.r, point.rtt_s))
    rows = [each.row(rtt, p, r) for each in senders]
    shared = {
        "link": link.name,
        "queue_packets": queue,
        "queue_bytes": queue * wire,
        "utilisation": float(point.utilisation),
    }
    return pl.DataFrame([{**row, **shared} for row in rows])


def _derived(link: Link, in_force: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values that the law at ``link`` derives; for an array, those of its first link."""
    return next((values for name, values in in_force.items() if re.sub(r"\[\d+\]", "", name) == link.name), {})


class Senders:
    """The senders of one flow table, whose RTT is ``offset_s`` longer than the mean of all."""

    def __init__(self, flow: FlowClass, offset_s: float) -> None:
        self.flow = flow
        self.offset_s = offset_s
        self.alpha, self.beta = _response(flow)

    def sent(self, rtt_s: float, p: float, r: float) -> float:
        """Return the sending rate of one flow in packets/s, if the mean RTT of all is ``rtt_s``."""
        own = rtt_s + self.offset_s
        if p == 0.0:
            return self.flow.max_window / own
        return float(
            ecn.sending_rate(
                own,
                p,
                r if self.flow.ecn else 0.0,
                timeout_s=self.timeout_s(own),
                alpha=self.alpha,
                beta=self.beta,
                d=self.flow.per_ack,
                max_window=self.flow.max_window,
            )
        )

    def delivered(self, rtt_s: float, p: float, r: float) -> float:
        """Return the packets per second of one flow after the queue: drops there do not load the link."""
        return self.sent(rtt_s, p, r) * (1.0 - self.dropped(p, r))

    def dropped(self, p: float, r: float) -> float:
        """Return the fraction of its packets that are dropped."""
        return p * (1.0 - r) if self.flow.ecn and p > 0.0 else p

    def timeout_s(self, rtt_s: float) -> float:
        """Return T0: a multiple of the RTT, because the variation of RTTs is unknown, but at least the minimum RTO."""
        return max(quantity(self.flow.sender["min_rto"]), ROUND_TRIPS * rtt_s)

    def row(self, rtt_s: float, p: float, r: float) -> dict[str, Any]:
        """Return the prediction for one flow."""
        own = rtt_s + self.offset_s
        delivered = self.delivered(rtt_s, p, r)
        marks = p - self.dropped(p, r)
        return {
            "flow": self.flow.name,
            "group": self.flow.group,
            "flows": self.flow.count,
            "ecn": self.flow.ecn,
            "goodput_bps": delivered * 8.0 * self.flow.payload_bytes,
            "sent_pps": self.sent(rtt_s, p, r),
            "window_segments": self.sent(rtt_s, p, r) * own,
            "rtt_s": own,
            "timeout_s": self.timeout_s(own),
            "marked": marks,
            "dropped": self.dropped(p, r),
        }


def _response(flow: FlowClass) -> tuple[float, float]:
    """Return the slope and the reduction factor after a mark."""
    law = flow.sender["congestion"]
    kind = law if isinstance(law, str) else law["kind"]
    responses = {name: known.response for name, known in laws.windows().items() if known.response}
    expected(kind, list(responses), f"flow {flow.name} has the window law")
    return responses[kind]({} if isinstance(law, str) else law)
