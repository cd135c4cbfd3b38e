"""Whether real time was kept well enough for a run to be evidence.

What the router does between a packet's arrival and its delivery is computed at exact times; what is late is the reading
of a packet from its sender's device and its delivery to the receiver's. Both lengthen the way of a packet, so the limits
are of the scenario's own times, the least that any of its flows has:

* 99 of 100 packets are no later than a full packet takes on the flow's slowest link, so that neighbours on that link stay
  apart, and than a twentieth of its round trip without queues, so that rates, which go with the round trip, are off by
  less than 5 %.
* No packet is later than that round trip: a longer pause is an event that TCP reacts to, and not the network's.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import polars as pl

from ecnlab.linux.network import Flow
from ecnlab.linux.plan import Plan
from ecnlab.linux.topology import Link

PACKET_BITS: Final = 12_000
"""Of a full packet, 1500 bytes."""

SHARE: Final = 0.05
"""Of a round trip, that the 99th percentile may be."""


@dataclass(frozen=True)
class Limits:
    """How late packets may be."""

    p99_s: float
    max_s: float


def limits(plan: Plan) -> Limits:
    """Those of the most demanding flow."""
    return Limits(
        min(min(_packet_s(flow.way), SHARE * _round_trip_s(flow)) for flow in plan.flows),
        min(_round_trip_s(flow) for flow in plan.flows),
    )


def _packet_s(way: list[Link]) -> float:
    """How long a full packet takes on the slowest of these links; for ever where no link has a rate."""
    return max((PACKET_BITS / link.drain_bps for link in way if link.drain_bps), default=float("inf"))


def _round_trip_s(flow: Flow) -> float:
    """Of a full packet and an ACK of no length, without queues."""
    delay = sum(link.delay_ps for link in (*flow.way, *flow.back)) / 1e12
    return delay + sum(PACKET_BITS / link.rate_bps for link in flow.way if link.rate_bps)


def judge(timing: pl.DataFrame, plan: Plan) -> dict[str, Any]:
    """The manifest's ``evidence``: the error of a packet's way, reading and delivery together, and the limits."""
    most = limits(plan)
    error = {name: float(timing[name].fill_null(0.0).sum()) for name in ("p50_s", "p99_s", "max_s")}
    broken = [name for name, limit in asdict(most).items() if error[name] > limit]
    return {"ok": not broken, "error": error, "limit": asdict(most), "broken": broken}
