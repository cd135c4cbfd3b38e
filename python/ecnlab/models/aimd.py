"""General additive increase and multiplicative decrease, AIMD(alpha, beta).

The window grows by ``alpha`` segments for each window acknowledged without
delayed ACKs (``alpha / d`` with them) and is multiplied by ``beta`` at each
congestion indication. Reno is AIMD(1, 1/2).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ecnlab.models.arguments import Array, congestion, per_ack, positive, retained, window_limit


def mean_window(p: ArrayLike, *, alpha: ArrayLike = 1.0, beta: ArrayLike = 0.5, d: ArrayLike = 1.0) -> Array:
    """The response function w(p), in segments: the mean window under indications 1/p packets apart.

    w = sqrt(alpha (1 + beta) / (2 d (1 - beta) p)); for Reno sqrt(3 / (2 d p)).
    Source: Floyd, Handley and Padhye, "A comparison of equation-based and AIMD congestion control" (2000), as
    RFC 8312 section 4.2 equation 3 quotes it; d as in Padhye et al. (1998).
    """
    p, d = congestion(p), per_ack(d)
    a, b = positive("alpha", alpha, "segments per window"), retained(beta)
    return np.asarray(np.sqrt(a * (1.0 + b) / (2.0 * d * (1.0 - b) * p)))


def peak_window(p: ArrayLike, *, alpha: ArrayLike = 1.0, beta: ArrayLike = 0.5, d: ArrayLike = 1.0) -> Array:
    """The window at which an indication arrives, in segments, under indications 1/p packets apart.

    W = sqrt(2 alpha / (d (1 - beta^2) p)); for Reno sqrt(8 / (3 d p)).
    Source: Padhye et al. (1998), the limit of E[W] for small p; docs/models.md for the general case.
    """
    p, d = congestion(p), per_ack(d)
    a, b = positive("alpha", alpha, "segments per window"), retained(beta)
    return np.asarray(np.sqrt(2.0 * a / (d * (1.0 - b * b) * p)))


def sending_rate(
    rtt_s: ArrayLike,
    p: ArrayLike,
    *,
    timeout_s: ArrayLike,
    alpha: ArrayLike = 1.0,
    beta: ArrayLike = 0.5,
    d: ArrayLike = 1.0,
    max_window: ArrayLike = np.inf,
) -> Array:
    """Return the sending rate of AIMD(alpha, beta) in packets/s if each indication is a loss, with timeouts.

    ``timeout_s`` is the first timeout of a series, T0. The bound ``max_window / rtt_s`` is Padhye's; Yang and Lam
    have none.
    Source: Yang and Lam, "General AIMD congestion control", ICNP 2000, the sending rate T(p, RTT, T0, b).
    """
    rtt, t0 = positive("rtt_s", rtt_s, "seconds"), positive("timeout_s", timeout_s, "seconds")
    p, d, limit = congestion(p), per_ack(d), window_limit(max_window)
    a, b = positive("alpha", alpha, "segments per window"), retained(beta)
    avoidance = rtt * np.sqrt(2.0 * d * (1.0 - b) * p / (a * (1.0 + b)))
    by_timeout = np.minimum(1.0, 3.0 * np.sqrt((1.0 - b * b) * d * p / (2.0 * a)))
    waiting = t0 * by_timeout * p * (1.0 + 32.0 * p * p)
    return np.asarray(np.minimum(limit / rtt, 1.0 / (avoidance + waiting)))


def friendly_alpha(beta: ArrayLike, match: Literal["window", "timeouts"] = "window") -> Array:
    """Return the increase, in segments per window, at which AIMD(alpha, beta) has Reno's rate.

    ``window`` makes the mean windows equal, 3 (1 - beta) / (1 + beta): 0.2 for beta = 7/8. ``timeouts`` makes the
    timeout terms equal, 4 (1 - beta^2) / 3: 0.3125, which Yang and Lam round to 0.31.
    Source: RFC 8312 section 4.2; Yang and Lam (2000).
    """
    b = retained(beta)
    if match == "window":
        return np.asarray(3.0 * (1.0 - b) / (1.0 + b))
    if match == "timeouts":
        return np.asarray(4.0 * (1.0 - b * b) / 3.0)
    raise ValueError(f'match must be "window" or "timeouts", got {match!r}')
