"""Feedback equilibrium of senders and a queue (Firoiu and Borden)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ecnlab.models.arguments import Array, positive, window_limit
from ecnlab.models.red import ControlLaw
from ecnlab.models.roots import root

SendingRate = Callable[[float, float, float], ArrayLike]
"""Function that returns one flow's packets per second from its RTT in seconds, p, and the share r of p that are marks."""


@dataclass(frozen=True, slots=True)
class Equilibrium:
    """Operating points, one per element of the arguments."""

    queue: Array
    """Average queue, packets; 0 if the flows do not fill the link."""
    p: Array
    """Fraction of packets marked or dropped."""
    r: Array
    """Share of p that are marks; missing (NaN) where p is 0."""
    rtt_s: Array
    """Round trip with the queue's delay, seconds."""
    rate: Array
    """Sending rate of one flow, packets a second."""
    utilisation: Array
    """Sending rate of all flows divided by the link's capacity: 1 wherever there is a queue."""


def equilibrium(
    rate: SendingRate,
    law: ControlLaw,
    *,
    flows: ArrayLike,
    capacity: ArrayLike,
    base_rtt_s: ArrayLike,
    max_window: ArrayLike = np.inf,
) -> Equilibrium:
    """Find (q, p) with flows * B(base_rtt + q / capacity, p, r) = capacity and p = H(q), r from ``law``.

    ``flows`` equal flows with a round trip of ``base_rtt_s`` seconds without queue share a link of ``capacity`` packets
    a second. ``rate`` is any model with its other arguments bound, such as
    ``partial(ecn.sending_rate, timeout_s=1.0)``; it is never called with p = 0, where only ``max_window``, in segments,
    limits a flow. Flows that leave the link partly idle have q = 0. On a step of ``law`` the point is the mixture of
    its two sides that fills the link. Dropped packets, too, load the link in this model, as in its source.
    Raises ValueError if the flows exceed the link even when every packet is signalled.
    Source: Firoiu and Borden, "A study of active queue management for congestion control", INFOCOM 2000; Kwon and
    Fahmy, slide 14.
    """
    n, c = positive("flows", flows, "a number of flows"), positive("capacity", capacity, "packets per second")
    base, limit = positive("base_rtt_s", base_rtt_s, "seconds"), window_limit(max_window)
    arguments = np.broadcast_arrays(n, c, base, limit)
    found = [_solve(rate, law, *(float(x) for x in each)) for each in zip(*(a.flat for a in arguments), strict=True)]
    columns = np.array(found, dtype=np.float64).T.reshape(6, *arguments[0].shape)
    return Equilibrium(*(np.asarray(column) for column in columns))


def _solve(
    rate: SendingRate, law: ControlLaw, flows: float, capacity: float, base_rtt_s: float, max_window: float
) -> tuple[float, ...]:
    def state(position: float) -> tuple[float, ...]:
        queue, marked, dropped = law.point(position)
        p, rtt = marked + dropped, base_rtt_s + queue / capacity
        r = marked / p if p > 0.0 else np.nan
        sent = min(max_window / rtt, float(np.asarray(rate(rtt, p, r)))) if p > 0.0 else max_window / rtt
        return queue, p, r, rtt, sent, flows * sent / capacity

    def spare(position: float) -> float:
        # in time per packet, not packets per time: finite also where nothing limits a flow
        sent = state(position)[4]
        return capacity / (flows * sent) - 1.0

    if spare(0.0) >= 0.0:
        return state(0.0)
    for corner in range(1, law.last + 1):
        if spare(float(corner)) >= 0.0:
            return state(root(spare, corner - 1.0, float(corner)))
    raise ValueError(
        f"no equilibrium: {flows:g} flows exceed {capacity:g} packets/s even with every packet signalled; "
        "give fewer flows, or a law that drops"
    )
