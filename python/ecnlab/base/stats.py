"""Intervals, paired comparisons and verdicts.

Every statement of a report on a difference goes through this module, so that
a reader finds the arithmetic in one place. Values are one number per
replicate; replicate ``r`` of one arm and replicate ``r`` of another ran under
the same seed, so comparisons pair them. Intervals are two-sided. A single
replicate excludes nothing: its interval is unbounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecnlab import _core

LEVEL = 0.95
"""Default confidence of every interval."""

ROUNDING = 1e-12
"""Part of itself by which a value may be off that was summed and divided: values that differ by less are the same."""

Direction = Literal["increasing", "decreasing", "undecided"]
Answer = Literal["yes", "partly", "no", "undecided"]
Verdict = Literal["agrees", "same direction", "differs", "inconclusive"]

WIDEST = 2.0
"""Margins that the interval of a measurement may be wide if the verdict is to be *agrees*."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with a two-sided confidence interval from ``n`` replicates."""

    mean: float
    low: float
    high: float
    n: int
    level: float = LEVEL

    def contains(self, value: float) -> bool:
        """Return whether ``value`` lies inside the interval, ends included."""
        return self.low <= value <= self.high

    def excludes_zero(self) -> bool:
        """Return whether the sign of the quantity is decided at this level."""
        return self.low > 0.0 or self.high < 0.0

    def shifted(self, offset: float) -> Interval:
        """The interval of the quantity plus a constant: a ratio minus one is a gain."""
        return Interval(self.mean + offset, self.low + offset, self.high + offset, self.n, self.level)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the largest value that a quantity can have; either may be infinite."""

    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"bounds {self.low} to {self.high} leave no room")

    @property
    def bind(self) -> bool:
        """Return whether there is a bound."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    def clip(self, estimate: Interval) -> Interval:
        """The part of the interval within the bounds, with its mean.

        The quantity is within the bounds, so the part covers it whenever the whole interval does: confidence stays.
        A mean that rounding has put outside stays in the interval.
        """
        if math.isnan(estimate.mean):
            return estimate
        low, high = max(estimate.low, min(self.low, estimate.mean)), min(estimate.high, max(self.high, estimate.mean))
        return Interval(estimate.mean, low, high, estimate.n, estimate.level)

    def interval(self, estimate: Interval) -> Interval:
        """Return the interval of the same mean and standard error that stays within the bounds.

        The standard error is transformed to a scale without bounds, where the interval is computed and transformed
        back: the logit between two bounds, the logarithm of the distance from one. The mean is unchanged. With one
        replicate the interval is the full range allowed by the bounds. Without variation the spread is unknown, and the
        interval is the mean, as it is without bounds.

        Source: Korn and Graubard, "Confidence intervals for proportions with small expected number of positive counts
        estimated from survey data", Survey Methodology 24 (1998), logit intervals; the delta method.
        """
        if not self.bind or estimate.low == estimate.high:
            return estimate
        half = (estimate.high - estimate.low) / 2
        if not math.isfinite(half):
            return Interval(estimate.mean, self.low, self.high, estimate.n, estimate.level)
        low, high = self._bring_back(estimate.mean, half)
        return Interval(estimate.mean, low, high, estimate.n, estimate.level)

    def _bring_back(self, mean: float, half: float) -> tuple[float, float]:
        above, below = mean - self.low, self.high - mean
        if above <= 0.0 or below <= 0.0:  # values that differ have a mean inside, but for its last digit
            return mean, mean
        if math.isinf(below):
            return self.low + above * math.exp(-half / above), self.low + above * _exp(half / above)
        if math.isinf(above):
            return self.high - below * _exp(half / below), self.high - below * math.exp(-half / below)
        width = self.high - self.low
        shift = half * width / (above * below)
        odds = above / below
        down, up = odds * math.exp(-shift), odds * _exp(shift)
        return self.low + width * down / (1.0 + down), self.high - width / (1.0 + up)


UNBOUNDED = Bounds()

Estimator: TypeAlias = Callable[[ArrayLike], Interval]
"""The mean of values, one for each replicate, with its interval."""


def mean_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """Mean with Student's t interval; of values that are all the same, that value alone.

    Source: Student (1908); Jain, "The Art of Computer Systems Performance
    Analysis" (1991), section 13.2.
    """
    x = _finite(values)
    mean = float(x.mean())
    varied = x.size == 1 or np.ptp(x) > ROUNDING * np.abs(x).max()
    half = t_quantile(x.size, level) * _standard_error(x) if varied else 0.0
    return Interval(mean, mean - half, mean + half, int(x.size), level)


def paired_difference(a: ArrayLike, b: ArrayLike, level: float = LEVEL) -> Interval:
    """Mean of ``a - b`` over replicates that share their seeds.

    Source: Jain (1991), section 13.4.1, paired observations.
    """
    x, y = _paired(a, b)
    return mean_interval(x - y, level)


def independent_difference(a: ArrayLike, b: ArrayLike, level: float = LEVEL) -> Interval:
    """``mean(a) - mean(b)`` of replicates with different seeds; ``n`` is the smaller number of replicates.

    Source: Welch (1947), "The generalization of 'Student's' problem when several different population variances are
    involved", Biometrika 34; degrees of freedom after Satterthwaite (1946).
    """
    x, y = _finite(a), _finite(b)
    n, mean = int(min(x.size, y.size)), float(x.mean() - y.mean())
    if n < 2:
        return Interval(mean, -math.inf, math.inf, n, level)
    parts = [_standard_error(one) ** 2 for one in (x, y)]
    total = sum(parts)
    if total == 0.0:
        return Interval(mean, mean, mean, n, level)
    freedom = total**2 / sum(part**2 / (one.size - 1) for part, one in zip(parts, (x, y), strict=True))
    half = _core.student_t(level, freedom) * math.sqrt(total)
    return Interval(mean, mean - half, mean + half, n, level)


def log_ratio(a: ArrayLike, b: ArrayLike, level: float = LEVEL) -> Interval:
    """Geometric mean of ``a / b`` over pairs, with the t interval of its logarithm.

    Suits quantities that vary by factors. All values must be positive; use
    `ratio_of_means` when zero is possible.
    Source: Jain (1991), section 12.4 (geometric mean) and 13.4.1.
    """
    x, y = _paired(a, b)
    if np.any(x <= 0) or np.any(y <= 0):
        raise ValueError("a ratio of logarithms needs positive values; use ratio_of_means")
    logs = mean_interval(np.log(x) - np.log(y), level)
    return Interval(math.exp(logs.mean), math.exp(logs.low), _exp(logs.high), logs.n, level)


def ratio_of_means(a: ArrayLike, b: ArrayLike, level: float = LEVEL) -> Interval:
    """``mean(a) / mean(b)`` of paired values with Fieller's interval.

    The interval holds every ``r`` for which a paired t test does not reject
    ``mean(a - r b) = 0``. Zeros are allowed. When the mean of ``b`` is not
    distinguishable from zero the set is unbounded, and so is the result.
    Source: Fieller (1954), "Some problems in interval estimation", JRSS B 16.
    """
    x, y = _paired(a, b)
    n = int(x.size)
    if y.mean() == 0.0:
        raise ValueError("the mean of the denominator is zero: the ratio has no value")
    ratio = float(x.mean() / y.mean())
    if n < 2:
        return Interval(ratio, -math.inf, math.inf, n, level)
    covariance = np.cov(x, y) / n
    t2 = t_quantile(n, level) ** 2
    # (mean a - r mean b)^2 <= t^2 (Vaa - 2 r Vab + r^2 Vbb), a quadratic in r
    square = float(y.mean() ** 2 - t2 * covariance[1, 1])
    linear = float(x.mean() * y.mean() - t2 * covariance[0, 1])
    constant = float(x.mean() ** 2 - t2 * covariance[0, 0])
    if square <= 0.0:
        return Interval(ratio, -math.inf, math.inf, n, level)
    root = math.sqrt(max(linear * linear - square * constant, 0.0))
    return Interval(ratio, (linear - root) / square, (linear + root) / square, n, level)


def ratio_parts(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """One number per pair whose mean is ``mean(a) / mean(b)``: ``r + (a_i - r b_i) / mean(b)``.

    The linearised ratio: its t interval is the delta method's, and it lets a
    trend be tested over ratios that are zero in some replicates.
    Source: Cochran, "Sampling Techniques" (1977), section 6.4.
    """
    x, y = _paired(a, b)
    if y.mean() == 0.0:
        raise ValueError("the mean of the denominator is zero: the ratio has no value")
    ratio = x.mean() / y.mean()
    return np.asarray(ratio + (x - ratio * y) / y.mean(), dtype=np.float64)


def jain_index(throughputs: ArrayLike) -> float:
    """Jain's fairness index, (sum x)^2 / (n sum x^2), between 1/n and 1.

    Source: RFC 2884 section 5.1; Jain, Chiu and Hawe, DEC-TR-301 (1984).
    """
    x = _finite(throughputs)
    squares = float(np.square(x).sum())
    if squares == 0.0:
        raise ValueError("the fairness of flows without throughput is not defined")
    return float(x.sum() ** 2 / (x.size * squares))


@dataclass(frozen=True, slots=True)
class Trend:
    """Change of a quantity along an axis, tested over paired replicates."""

    slope: Interval
    """Least-squares slope against the axis scores, per replicate, then averaged."""
    rises: tuple[tuple[Interval, ...], ...]
    """``rises[j - 1][i]``: paired difference of point ``j`` to the earlier point ``i``."""

    @property
    def steps(self) -> tuple[Interval, ...]:
        """Paired difference of each point to the point before it."""
        return tuple(earlier[-1] for earlier in self.rises)

    @property
    def direction(self) -> Direction:
        """The sign of the slope where its interval decides it."""
        return _direction(self.slope)

    @property
    def monotone(self) -> bool:
        """Return whether no point contradicts the slope, beyond the interval of its difference to any earlier point."""
        against = "decreasing" if self.slope.mean > 0 else "increasing"
        return all(_direction(rise) != against for earlier in self.rises for rise in earlier)


def trend(scores: Sequence[float], values: ArrayLike, mean: Estimator = mean_interval) -> Trend:
    """Test whether ``values[replicate, point]`` moves along ``scores[point]``.

    Every replicate ran at every point under one seed, so each gives its own
    least-squares slope; the slopes are independent and get a t interval. This
    is the linear contrast of a repeated-measures design.
    Source: Maxwell and Delaney, "Designing Experiments and Analyzing Data",
    chapter 13 (per-subject trend scores).
    """
    x = _finite(scores)
    y = np.asarray(values, dtype=float)
    if y.ndim != 2 or y.shape[1] != x.size:
        raise ValueError(f"expected one column per score ({x.size}), got shape {y.shape}")
    if x.size < 2 or np.ptp(x) == 0.0:
        raise ValueError("a trend needs at least two different scores")
    _finite(y.ravel())
    centred = x - x.mean()
    slopes = y @ centred / float(centred @ centred)
    rises = tuple(tuple(mean(y[:, j] - y[:, i]) for i in range(j)) for j in range(1, x.size))
    return Trend(mean(slopes), rises)


@dataclass(frozen=True, slots=True)
class TrendAnswer:
    """The verdict on an expected trend."""

    answer: Answer
    trend: Trend
    reach: int
    """Number of points, from the first on, for which the statement holds; 0 for none."""


def follows(
    scores: Sequence[float], values: ArrayLike, expected: Direction, mean: Estimator = mean_interval
) -> TrendAnswer:
    """Whether ``values[replicate, point]`` is ``expected`` ("increasing" or "decreasing") along ``scores``.

    *yes* needs three things: a slope whose interval has the expected sign; means that are monotone within their
    intervals (`Trend.monotone`); and a last step that is decided in that direction, so that a curve which has levelled
    off does not count. The ``reach`` is the longest beginning of the axis that has all three. With the slope
    alone the answer is *partly*, as it is where the statement holds up to a point and is reversed behind it while the
    slope is undecided. *no* is a slope of the other sign.
    """
    x, y = list(scores), np.asarray(values, dtype=float)
    whole = trend(x, y, mean)
    reach = next((k for k in range(len(x), 1, -1) if _holds(trend(x[:k], y[:, :k], mean), expected)), 0)
    if whole.direction == expected:
        answer: Answer = "yes" if reach == len(x) else "partly"
    elif whole.direction != "undecided":
        answer, reach = "no", 0
    else:
        turned = any(_direction(rise) not in (expected, "undecided") for earlier in whole.rises for rise in earlier)
        answer = "partly" if reach and turned else "undecided"
    return TrendAnswer(answer, whole, reach)


def excludes(
    scores: Sequence[float], values: ArrayLike, excluded: Direction, tolerance: float, mean: Estimator = mean_interval
) -> TrendAnswer:
    """Whether ``values[replicate, point]`` is not ``excluded`` ("increasing" or "decreasing") along ``scores``.

    That nothing moves cannot be shown, only that it moves by less than ``tolerance`` per unit of the scores. *yes*: the
    whole interval of the slope is at most that, and no point is decided to be farther than that from any before
    it. *partly*: the slope is, a point is not. *no*: the whole interval of the slope is above it. A quantity that moves
    the other way is not excluded.
    """
    x, y = list(scores), np.asarray(values, dtype=float)
    sign = 1.0 if excluded == "increasing" else -1.0
    found, turned = trend(x, y, mean), trend(x, sign * y, mean)
    if turned.slope.low > tolerance:
        answer: Answer = "no"
    elif turned.slope.high > tolerance:
        answer = "undecided"
    else:
        rises = [
            rise.low > tolerance * (x[j] - x[i])
            for j, earlier in enumerate(turned.rises, 1)
            for i, rise in enumerate(earlier)
        ]
        answer = "partly" if any(rises) else "yes"
    return TrendAnswer(answer, found, len(x) if answer == "yes" else 0)


def _holds(found: Trend, expected: Direction) -> bool:
    return found.direction == expected and found.monotone and _direction(found.steps[-1]) == expected


def _direction(change: Interval) -> Direction:
    return "increasing" if change.low > 0.0 else "decreasing" if change.high < 0.0 else "undecided"


def equivalent(measured: Interval, target: float, margin: float) -> bool:
    """Whether the whole interval lies within ``margin`` of ``target``.

    With a 90% interval this is the two one-sided tests procedure at 5%; with
    the 95% interval it is stricter.
    Source: Schuirmann (1987), J. Pharmacokinetics and Biopharmaceutics 15.
    """
    return target - margin <= measured.low and measured.high <= target + margin


def below(measured: Interval, limit: float) -> Answer:
    """Whether a quantity is below ``limit``: *yes* and *no* need the whole interval on one side."""
    return "yes" if measured.high < limit else "no" if measured.low >= limit else "undecided"


def above(measured: Interval, limit: float) -> Answer:
    """Whether a quantity is above ``limit``, as `below`."""
    return "yes" if measured.low > limit else "no" if measured.high <= limit else "undecided"


def verdict(measured: Interval, printed: float, margin: float, neutral: float | None = 0.0) -> Verdict:
    """Compare a measurement with a printed number that came without an interval.

    ``agrees``: the mean lies within ``margin`` of the printed value, and the interval is no wider than `WIDEST` margins,
    so that fewer replicates do not agree more easily. ``differs``: no value of the interval lies within ``margin`` of the
    printed one. ``same direction``: so it is, but the whole interval lies on the printed value's side of ``neutral`` (0
    for a gain); ``None`` if the quantity has no direction. ``inconclusive``: neither agreement nor difference
    is shown, as with one replicate or an unbounded interval.
    """
    if measured.n < 2 or not (math.isfinite(measured.low) and math.isfinite(measured.high)):
        return "inconclusive"
    if measured.low <= printed + margin and measured.high >= printed - margin:
        near = abs(measured.mean - printed) <= margin
        return "agrees" if near and measured.high - measured.low <= WIDEST * margin else "inconclusive"
    if neutral is None or printed == neutral:
        return "differs"
    beyond = measured.low > neutral if printed > neutral else measured.high < neutral
    return "same direction" if beyond else "differs"


def batch_means(series: ArrayLike, batches: int = 20, level: float = LEVEL) -> Interval:
    """Mean of one long correlated series, from ``batches`` equal stretches of it.

    For one long run instead of replicates. A remainder at the start is left
    out: that is where a transient would be.
    Source: Law, "Simulation Modeling and Analysis", section 9.5.3; Jain
    (1991), section 25.5.2.
    """
    x = _finite(series)
    if batches < 2 or x.size < batches:
        raise ValueError(f"{x.size} values cannot be divided into {batches} batches")
    size = x.size // batches
    return mean_interval(x[x.size - size * batches :].reshape(batches, size).mean(axis=1), level)


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    x = np.asarray(values, dtype=float).ravel()
    if x.size == 0:
        raise ValueError("no values")
    if not np.all(np.isfinite(x)):
        raise ValueError(f"{int((~np.isfinite(x)).sum())} of {x.size} values are missing")
    return x


def _paired(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, y = _finite(a), _finite(b)
    if x.size != y.size:
        raise ValueError(f"pairs need equal lengths, got {x.size} and {y.size}")
    return x, y


def _standard_error(x: NDArray[np.float64]) -> float:
    return float(x.std(ddof=1) / math.sqrt(x.size)) if x.size > 1 else 1.0


def _exp(x: float) -> float:
    """The exponential; infinite where that is too large to write."""
    return math.exp(x) if x < 700.0 else math.inf


def t_quantile(n: int, level: float = LEVEL) -> float:
    """Two-sided quantile of Student's t for the mean of ``n`` values; infinite for one value."""
    return _core.student_t(level, n - 1) if n > 1 else math.inf
