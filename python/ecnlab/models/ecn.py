"""The sending rate B(RTT, p, r) of ECN(alpha, beta).

The response is Kwon and Fahmy's: on ECN-Echo the window is multiplied by
``beta`` and then grows with slope ``alpha``; on a loss it is halved and grows
with slope 1. Their printed rate could not be read, only what it depends on
(slides, ICC 2002). The formula is our own derivation in the framework they
name, Padhye's and Yang and Lam's: ``docs/models.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ecnlab.models.arguments import Array, congestion, per_ack, positive, retained, share, window_limit

ALPHA = 0.2
"""Additive increase after an ECN reduction, segments per window. Source: Kwon and Fahmy, slide 11."""

BETA = 0.875
"""Factor of the window reduction on ECN-Echo. Source: Kwon and Fahmy, slide 11."""


def mean_window(
    p: ArrayLike, r: ArrayLike, *, alpha: ArrayLike = ALPHA, beta: ArrayLike = BETA, d: ArrayLike = 1.0
) -> Array:
    """The response function w(p, r) in segments, without timeouts.

    ``p`` counts congestion indications per packet, marks and losses; ``r`` is the share of them that are marks.
    Source: docs/models.md, equation 4.
    """
    p, d = congestion(p), per_ack(d)
    slope, kept = _response(r, alpha, beta)
    return np.asarray(np.sqrt(slope * (1.0 + kept) / (2.0 * d * (1.0 - kept) * p)))


def sending_rate(
    rtt_s: ArrayLike,
    p: ArrayLike,
    r: ArrayLike,
    *,
    timeout_s: ArrayLike,
    alpha: ArrayLike = ALPHA,
    beta: ArrayLike = BETA,
    d: ArrayLike = 1.0,
    max_window: ArrayLike = np.inf,
) -> Array:
    """Return B(RTT, p, r), the sending rate of ECN(alpha, beta) in packets/s, including retransmissions.

    ``p`` counts congestion indications per packet, marks and losses; ``r`` is the share of them that are marks;
    ``timeout_s`` is the first timeout of a series, T0. With r = 0 this is `padhye.approximate`, with r = 1 there is no
    timeout. RFC 3168's response is alpha = 1, beta = 1/2; RFC 8511's (ABE) is alpha = 1, beta = 0.8.
    Source: docs/models.md, equation 6.
    """
    rtt, t0 = positive("rtt_s", rtt_s, "seconds"), positive("timeout_s", timeout_s, "seconds")
    p, d, limit = congestion(p), per_ack(d), window_limit(max_window)
    slope, kept = _response(r, alpha, beta)
    avoidance = rtt * np.sqrt(2.0 * d * (1.0 - kept) * p / (slope * (1.0 + kept)))
    by_timeout = np.minimum(1.0, 3.0 * np.sqrt((1.0 - kept * kept) * d * p / (2.0 * slope)))
    waiting = (1.0 - share("r", r)) * t0 * by_timeout * p * (1.0 + 32.0 * p * p)
    return np.asarray(np.minimum(limit / rtt, 1.0 / (avoidance + waiting)))


def _response(r: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> tuple[Array, Array]:
    """Return the mean slope A and mean reduction factor G of a sender if the share ``r`` of its indications are marks."""
    marks = share("r", r)
    a, b = positive("alpha", alpha, "segments per window"), retained(beta)
    return np.asarray(marks * a + (1.0 - marks)), np.asarray(marks * b + (1.0 - marks) / 2.0)
