"""The rules of docs/papers.md, written a second time: intervals by inverting scipy's tests, verdicts in plain steps."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

LEVEL = 0.95
"""Confidence of intervals; `size` sets it."""
WHOLE_PACKETS = 1e-3
ROUNDING = 1e-12

Values = NDArray[np.float64]


class Point(NamedTuple):
    """A mean with its interval."""

    mean: float
    low: float
    high: float
    n: int


def point(value: Values, other: Values | None, metric: dict[str, Any]) -> Point:
    """The estimate of one place, from one value a seed (and the value it is compared with)."""
    kind, bounds = metric["kind"], metric.get("bounds")
    if kind in ("mean", "difference"):
        x = value if kind == "mean" else value - other
        return _between(_student(_counted(x, bounds)), bounds) if bounds else _student(x)
    parts, ratio = seeds(value, other, metric), _ratio(value, other, metric)
    if bounds:
        found = _student(parts)
        return _between(
            found._replace(mean=ratio, low=found.low - found.mean + ratio, high=found.high - found.mean + ratio), bounds
        )
    less = 1.0 if kind == "gain" else 0.0
    low, high = _fieller(value, other)
    return Point(ratio, low - less, high - less, len(value))


def seeds(value: Values, other: Values | None, metric: dict[str, Any]) -> Values:
    """One number a seed with the estimate for their mean: of a ratio, its residuals over the mean of the denominator."""
    if metric["kind"] == "mean":
        return value
    if metric["kind"] == "difference":
        return value - other
    plain = math.fsum(value) / math.fsum(other)
    return _ratio(value, other, metric) + (value - plain * other) * len(other) / math.fsum(other)


def _ratio(value: Values, other: Values, metric: dict[str, Any]) -> float:
    return math.fsum(value) / math.fsum(other) - (metric["kind"] == "gain")


def size(full: bool) -> None:
    """Makes intervals those of the full size, or of verdicts of the quick one."""
    globals()["LEVEL"] = 0.95 if full else 0.99


def _student(x: Values) -> Point:
    mean = math.fsum(x) / len(x)
    if len(x) < 2:
        return Point(mean, -math.inf, math.inf, 1)
    if max(x) - min(x) <= ROUNDING * max(abs(x)):
        return Point(mean, mean, mean, len(x))
    found = stats.ttest_1samp(x, 0.0).confidence_interval(LEVEL)
    return Point(mean, float(found.low), float(found.high), len(x))


def _counted(x: Values, bounds: list[float]) -> Values:
    least, most = bounds
    room = most - least if math.isfinite(most - least) else 1.0
    if min(x) < least - WHOLE_PACKETS * room or max(x) > most + WHOLE_PACKETS * room:
        raise ValueError(f"values from {min(x)} to {max(x)} are not within {bounds}")
    return np.minimum(np.maximum(x, least), most)


def _between(found: Point, bounds: list[float]) -> Point:
    least, most = bounds
    if found.low == found.high:
        return found
    if found.n < 2:
        return found._replace(low=least, high=most)
    half = (found.high - found.low) / 2 * np.array([-1.0, 1.0])
    if math.isfinite(most) and math.isfinite(least):
        share = (found.mean - least) / (most - least)
        low, high = least + (most - least) * special.expit(
            special.logit(share) + half / (most - least) / (share - share**2)
        )
    elif math.isfinite(least):
        low, high = least + np.exp(np.log(found.mean - least) + half / (found.mean - least))
    else:
        high, low = most - np.exp(np.log(most - found.mean) + half / (most - found.mean))
    return found._replace(low=float(low), high=float(high))


def _fieller(value: Values, other: Values) -> tuple[float, float]:
    """The ratios r for which a t test of value - r other against 0 does not reject, found by their two ends."""
    if len(value) < 2:
        return -math.inf, math.inf
    limit = stats.t.isf((1 - LEVEL) / 2, len(value) - 1)

    def over(r: float) -> float:
        rest = value - r * other
        return abs(rest.mean()) - limit * rest.std(ddof=1) / math.sqrt(len(rest))

    ratio = value.mean() / other.mean()
    # But for rounding, every seed has this ratio. For any other r the test is that of the mean of `other` against 0.
    if over(ratio) >= 0:
        return (ratio, ratio) if over(ratio + 1.0) > 0 else (-math.inf, math.inf)
    ends = []
    for sign in (-1.0, 1.0):
        step = max(abs(ratio), 1e-9) * 1e-3
        while over(ratio + sign * step) < 0:
            step *= 2
            if step > 1e9 * max(abs(ratio), 1e-9):
                return -math.inf, math.inf
        ends.append(
            optimize.brentq(over, *sorted((ratio, ratio + sign * step)), xtol=1e-15, rtol=1e-14) if step else ratio
        )
    return ends[0], ends[1]


def verdict(found: Point, printed: float, margin: float, neutral: float | None, strict: bool = False) -> str:
    """Of a printed number. In the quick size, ``strict``, agreement needs the whole interval within the margin."""
    if not (found.n > 1 and math.isfinite(found.high - found.low)):
        return "inconclusive"
    apart = max(printed - margin - found.high, found.low - printed - margin)
    if apart <= 0:
        ends = (found.low, found.high) if strict else (found.mean,)
        off = max(abs(end - printed) for end in ends)
        return "agrees" if max(off, (found.high - found.low) / 2) <= margin else "inconclusive"
    if neutral is None or printed == neutral:
        return "differs"
    beyond = found.low > neutral if printed > neutral else found.high < neutral
    return "same direction" if beyond else "differs"


def outcome(found: Point, claim: dict[str, Any]) -> str:
    """Of a claim at one place."""
    if claim["test"] == "near":
        least, most = claim["target"] - claim["tolerance"], claim["target"] + claim["tolerance"]
        inside, outside = least <= found.low and found.high <= most, found.low > most or found.high < least
    else:
        limit, sign = claim["limit"], 1 if claim["test"] == "above" else -1
        near, far = sorted((sign * (found.low - limit), sign * (found.high - limit)))
        inside = near > 0
        outside = far <= 0
    return "yes" if inside else "no" if outside else "undecided"


def together(outcomes: list[str]) -> str:
    """The answer to a claim of several places."""
    return max(outcomes, key=["yes", "partly", "undecided", "no"].index)


def trend(scores: list[float], columns: Values, claim: dict[str, Any]) -> tuple[Point, str, int]:
    """Of a claim along an axis: slope, answer, and how many points it holds for. ``columns`` is seed by point."""
    slope = _slope(scores, columns)
    if claim["test"] == "no-trend":
        return slope, _no_trend(scores, columns, claim), 0
    sign = 1 if claim["expected"] == "increasing" else -1
    turned, y = sign * slope.mean, sign * columns
    low, high = sorted((sign * slope.low, sign * slope.high))
    reach = max((k for k in range(2, len(scores) + 1) if _rises(scores[:k], y[:, :k])), default=0)
    falls = any(_student(y[:, j] - y[:, i]).high < 0 for i, j in combinations(range(len(scores)), 2))
    if high < 0:
        return slope, "no", 0
    if low > 0 and turned > 0:
        return slope, "yes" if reach == len(scores) else "partly", reach
    return slope, "partly" if reach and falls else "undecided", reach


def _slope(scores: list[float], y: Values) -> Point:
    return _student(np.array([stats.linregress(scores, row).slope for row in y]))


def _rises(scores: list[float], y: Values) -> bool:
    back = any(_student(y[:, j] - y[:, i]).high < 0 for i, j in combinations(range(len(scores)), 2))
    return _slope(scores, y).low > 0 and not back and _student(y[:, -1] - y[:, -2]).low > 0


def _no_trend(scores: list[float], columns: Values, claim: dict[str, Any]) -> str:
    y = columns if claim["excluded"] == "increasing" else -columns
    slope, limit = _slope(scores, y), claim["tolerance"]
    if slope.low > limit:
        return "no"
    if slope.high > limit:
        return "undecided"
    pairs = combinations(range(len(scores)), 2)
    over = any(_student(y[:, j] - y[:, i]).low > limit * (scores[j] - scores[i]) for i, j in pairs)
    return "partly" if over else "yes"
