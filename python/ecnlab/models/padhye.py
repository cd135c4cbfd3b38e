"""TCP Reno's sending rate after Padhye, Firoiu, Towsley and Kurose.

"Modeling TCP throughput: a simple model and its empirical validation",
SIGCOMM 1998; journal version: IEEE/ACM ToN 8(2), 2000. The rate counts packets sent, including retransmissions. After a loss,
the remaining packets of its round are lost too; together they count as one indication.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ecnlab.models.arguments import Array, congestion, per_ack, positive, window_limit


def approximate(
    rtt_s: ArrayLike, p: ArrayLike, *, timeout_s: ArrayLike, d: ArrayLike = 1.0, max_window: ArrayLike = np.inf
) -> Array:
    """Return the sending rate in packets/s by the short formula. ``timeout_s`` is the first timeout of a series, T0.

    min(Wm / RTT, 1 / (RTT sqrt(2dp/3) + T0 min(1, 3 sqrt(3dp/8)) p (1 + 32 p^2))).
    Source: the paper's approximation; RFC 5348 section 3.1 has it without the two minima.
    """
    rtt, t0 = positive("rtt_s", rtt_s, "seconds"), positive("timeout_s", timeout_s, "seconds")
    p, d, limit = congestion(p), per_ack(d), window_limit(max_window)
    avoidance = rtt * np.sqrt(2.0 * d * p / 3.0)
    waiting = t0 * np.minimum(1.0, 3.0 * np.sqrt(3.0 * d * p / 8.0)) * p * (1.0 + 32.0 * p * p)
    return np.asarray(np.minimum(limit / rtt, 1.0 / (avoidance + waiting)))


def full(
    rtt_s: ArrayLike, p: ArrayLike, *, timeout_s: ArrayLike, d: ArrayLike = 1.0, max_window: ArrayLike = np.inf
) -> Array:
    """Return the sending rate in packets/s by the full model. ``timeout_s`` is the first timeout of a series, T0.

    If `peak_window` is below ``max_window``, the limit has no effect, else the window stays at the limit for part of the
    cycle. The two forms meet for d = 2 and leave a small step for other values (docs/models.md). Numerator and
    denominator are multiplied by 1 - p here, so that p = 1 has its limit, 1 / (64 T0).
    Source: the paper's full model, its equation 31.
    """
    rtt, t0 = positive("rtt_s", rtt_s, "seconds"), positive("timeout_s", timeout_s, "seconds")
    p, d, limit = congestion(p), per_ack(d), window_limit(max_window)
    free = peak_window(p, d=d)
    limited = free >= limit
    window = np.where(limited, limit, free)
    rounds = np.where(limited, d * window / 8.0 + (1.0 - p) / (p * window) + 2.0, d * window / 2.0 + 1.0)
    by_timeout = timeout_probability(p, window)
    packets = (1.0 - p) ** 2 / p + (1.0 - p) * window + by_timeout
    seconds = rtt * (1.0 - p) * rounds + by_timeout * t0 * backoff(p)
    return np.asarray(packets / seconds)


def peak_window(p: ArrayLike, *, d: ArrayLike = 1.0) -> Array:
    """Return the mean window in segments at a loss without a window limit, E[W_u]. Source: the paper's equation 13."""
    p, d = congestion(p), per_ack(d)
    offset = (2.0 + d) / (3.0 * d)
    return np.asarray(offset + np.sqrt(8.0 * (1.0 - p) / (3.0 * d * p) + offset * offset))


def timeout_probability(p: ArrayLike, window: ArrayLike) -> Array:
    """Return the probability that a loss in a window of ``window`` segments causes a timeout, not a fast retransmit.

    Q(w) = min(1, (1 - x^3) (1 + x^3 (1 - x^(w-3))) / (1 - x^w)), x = 1 - p; near 3/w for small p.
    Source: the paper, the probability of a timeout.
    """
    p, w = congestion(p), positive("window", window, "segments")
    with np.errstate(divide="ignore"):
        log_x = np.log1p(-p)
    lost_of_three, lost_of_all = -np.expm1(3.0 * log_x), -np.expm1(w * log_x)
    # x^3 (1 - x^(w-3)) = x^3 - x^w = (1 - x^w) - (1 - x^3)
    return np.asarray(np.minimum(1.0, lost_of_three * (1.0 + lost_of_all - lost_of_three) / lost_of_all))


def backoff(p: ArrayLike) -> Array:
    """f(p): with doubling up to 64 T0, a series of timeouts lasts f(p) T0 / (1 - p) on average.

    f(p) = 1 + p + 2p^2 + 4p^3 + 8p^4 + 16p^5 + 32p^6. Source: the paper's equation 28.
    """
    return np.asarray(np.polynomial.polynomial.polyval(congestion(p), (1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)))
