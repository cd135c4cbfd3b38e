"""Checks whether real time was kept well enough for a run to be evidence.

The router computes everything between a packet's arrival and its delivery at exact times; only reading a packet from
its sender's device and delivering it to the receiver's can be late. Both lengthen the delay of a packet, so the limits
are derived from the scenario's own times, the minimum over its flows:
* 99 of 100 packets are late by at most the transmission time of a full packet on the flow's slowest link, so that
  consecutive packets on that link stay apart, and by at most a twentieth of the flow's RTT without queues, so that
  rates, which depend on the RTT, are off by less than 5 %.
* No packet is late by more than that RTT: a longer pause is an event to which TCP reacts, and which the network did not
  cause.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import polars as pl

from ecnlab.linux.network import Flow
from ecnlab.linux.plan import Plan
from ecnlab.linux.topology import Link

PACKET_BITS: Final = 12_000
"""Fraction of the transmission time of a full packet, 1500 bytes."""

SHARE: Final = 0.05
"""Fraction of an RTT that the 99th percentile may reach."""


@dataclass(frozen=True)
class Limits:
    """How late packets may be."""

    p99_s: float
    max_s: float


def limits(plan: Plan) -> Limits:
    """Return the limits of the most demanding flow."""
    return Limits(
        min(min(_packet_s(flow.way), SHARE * _round_trip_s(flow)) for flow in plan.flows),
        min(_round_trip_s(flow) for flow in plan.flows),
    )


def _packet_s(way: list[Link]) -> float:
    """Return the transmission time of a full packet on the slowest of these links; infinity if no link has a rate."""
    return max((PACKET_BITS / link.drain_bps for link in way if link.drain_bps), default=float("inf"))


def _round_trip_s(flow: Flow) -> float:
    """Return the round-trip time of a full packet and an ACK of zero length, without queues."""
    delay = sum(link.delay_ps for link in (*flow.way, *flow.back)) / 1e12
    return delay + sum(PACKET_BITS / link.rate_bps for link in flow.way if link.rate_bps)


def judge(timing: pl.DataFrame, plan: Plan) -> dict[str, Any]:
    """The manifest's ``evidence``: the error of a packet's way, reading and delivery together, and the limits."""
    most = limits(plan)
    error = {name: float(timing[name].fill_null(0.0).sum()) for name in ("p50_s", "p99_s", "max_s")}
    broken = [name for name, limit in asdict(most).items() if error[name] > limit]
    return {"ok": not broken, "error": error, "limit": asdict(most), "broken": broken}
