"""Intervals and decisions that stay valid although the number of replicates depends on the results.

The 95 % interval of a fixed number of replicates excludes the true mean in far more than 5 % of experiments if one adds
replicates until it excludes a limit. The intervals here form a confidence sequence: the probability that any of them, at any
look, excludes the true mean is 5 % at most, whatever the reason to stop.

Few values have Student's t intervals at fixed looks (`ecnlab.base.looks`). Their levels spend the share `SPENT` of the 5 % by a
function of the number of values (Lan and DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70 (1983)); the
levels add up (Bonferroni). The confidence sequence has the rest, at any number of values.

Source of the sequence: Wang and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance" (2023,
arXiv:2310.03722): the test martingale of the t statistic with a Gaussian mixture over the effect size. It is exact for normal
values. For skewed values each interval is longer on the side of the tail, by the first term of the Edgeworth expansion of the t
statistic (Hall, "The Bootstrap and Edgeworth Expansion" (1992), section 2.6) with the factor `SKEW`; docs/sequential.md has the
error rates for known distributions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecnlab import _core
from ecnlab.base.looks import EARLY, LATER, looked_at
from ecnlab.base.stats import LEVEL, ROUNDING, UNBOUNDED, Bounds, Interval

SPENT: Final = 0.005
"""Error rate of all early looks together."""

POWER: Final = 3
"""Power of the number of values with which the early looks spend `SPENT`: the first ones, whose t is least robust, get little."""

METHOD: Final = (
    f"Student's t at {', '.join(map(str, EARLY))} values with {100 * SPENT:g} of the {100 * (1 - LEVEL):g} % "
    "(spending function of Lan and DeMets 1983), then the confidence sequence of the t statistic with a Gaussian mixture "
    "(Wang and Ramdas 2023); both with a term for skewness"
)

SPREAD: Final = 20.0
"""Reciprocal of the variance of the mixture over effect sizes: 0.22 standard deviations. A larger one decides large effects with
fewer values, but skewed values then exceed the error rate."""

SKEW: Final = 3.0
"""Factor of the term for skewness. Above 1, since the skewness of a few values is less than that of their distribution."""

CONSTANT: Final = 59
"""Equal values after which a search ends as inconclusive: another value then occurs in fewer than 5 % of runs (0.95^59 < 0.05)."""

UNVARIED: Final = EARLY[2]
"""Equal values that count as all there are, for a paper's verdicts: another then occurs in fewer than 28 % of runs (0.72^9 = 0.05)."""

Outcome = Literal["yes", "no", "inconclusive"]
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Width:
    """A question: has the interval of the mean a half-width of ``size`` at most?"""

    size: float
    relative: bool
    """Whether ``size`` is a part of the mean; else it is in the metric's unit."""

    def of(self, mean: float) -> float:
        """The half-width in the metric's unit."""
        return self.size * abs(mean) if self.relative else self.size

    def answer(self, found: Interval) -> Outcome:
        """Return "yes", or "inconclusive" while the interval is wider."""
        return "yes" if (found.high - found.low) / 2 <= self.of(found.mean) else "inconclusive"


@dataclass(frozen=True, slots=True)
class Side:
    """A question: is the mean above (or below) ``limit``?"""

    limit: float
    above: bool

    def answer(self, found: Interval) -> Outcome:
        """Return "inconclusive" while the interval contains the limit."""
        if found.low <= self.limit <= found.high:
            return "inconclusive"
        return "yes" if (found.low > self.limit) == self.above else "no"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer at the first look that decides, or at the last one."""

    outcome: Outcome
    found: Interval
    """Mean and interval at that look; ``n`` counts the values."""
    reason: str = ""
    """The reason for "inconclusive" if it is not the interval."""

    @property
    def over(self) -> bool:
        """Whether further values cannot be expected to change the answer."""
        return self.outcome != "inconclusive" or bool(self.reason and self.found.n >= CONSTANT)


def answer(question: Width | Side, values: Sequence[float], at: Sequence[int], bounds: Bounds = UNBOUNDED) -> Answer:
    """Return the answer of ``values``, of which the first ``at[0]``, ``at[1]`` ... are looked at until one look decides.

    ``bounds`` is the range of the quantity. A decision stands, whatever follows.
    """
    found = Answer("inconclusive", Interval(math.nan, -math.inf, math.inf, 0), "no values")
    for n in at:
        interval = bounds.clip(mean_interval(values[:n]))
        outcome = question.answer(interval)
        found = Answer(outcome, interval, _reason(values[:n]) if outcome == "inconclusive" else "")
        if outcome != "inconclusive":
            break
    return found


def _reason(values: Sequence[float]) -> str:
    if len(values) < EARLY[0]:
        return f"fewer than {EARLY[0]} values" if values else "no values"
    return "" if _vary(np.asarray(values)) else "all values are equal"


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean with its interval. Between two early looks it is that of the first of them, with fewer values.

    The interval is infinite before the first early look, and while all values are equal: the spread is then unknown.
    """
    x = np.asarray(values, dtype=float)
    seen = x[: looked_at(x.size)]
    if not seen.size or not _vary(seen):
        return Interval(float(x.mean()) if x.size else math.nan, -math.inf, math.inf, x.size)
    mean = seen.mean()
    low, high = ends(seen.size, mean, np.square(seen - mean).mean(), np.power(seen - mean, 3).mean())
    return Interval(float(mean), float(low), float(high), seen.size)


def spread(values: ArrayLike) -> Interval:
    """As `mean_interval`, but from `UNVARIED` equal values on the interval is their value alone, as that of a fixed number is."""
    x = np.asarray(values, dtype=float)
    seen = x[: looked_at(x.size)]
    if seen.size >= UNVARIED and not _vary(seen):
        return Interval(float(seen.mean()), float(seen.mean()), float(seen.mean()), seen.size)
    return mean_interval(list(x))


def projected(values: ArrayLike, n: int) -> Interval:
    """Return the interval that ``n`` values will have if their moments are those of ``values``.

    ``n`` is a look; with more ``values`` than that it is their number. Of equal values it is that value alone.
    """
    size, mean, second, third = _moments(np.asarray(values, dtype=float).tobytes())
    size = looked_at(max(n, size))
    if not second:
        return Interval(mean, mean, mean, size)
    low, high = ends(size, mean, second, third)
    return Interval(mean, float(low), float(high), size)


@lru_cache(maxsize=1 << 14)
def _moments(data: bytes) -> tuple[int, float, float, float]:
    """Return the number of values, their mean and their second and third central moments, 0 if all are equal."""
    x = np.frombuffer(data)
    mean = float(x.mean())
    if not _vary(x):
        return x.size, mean, 0.0, 0.0
    return x.size, mean, float(np.square(x - mean).mean()), float(np.power(x - mean, 3).mean())


def _vary(x: Array) -> bool:
    return bool(np.ptp(x) > ROUNDING * np.abs(x).max())


def ends(n: int, mean: ArrayLike, second: ArrayLike, third: ArrayLike) -> tuple[Array, Array]:
    """Return the lower and upper ends of intervals from the mean and the second and third central moments of ``n`` values.

    ``n`` is one of `EARLY`, or `LATER` at least. The other arguments may be arrays, one element for each sample. The second
    moments must be above 0.
    """
    centre, variance = np.asarray(mean, dtype=float), np.asarray(second, dtype=float)
    t = t_bound(n, LEVEL + SPENT) if n >= LATER else t_early(n)
    error = np.sqrt(variance / (n - 1))
    skewness = np.asarray(third, dtype=float) / variance**1.5 * math.sqrt(n * (n - 1)) / (n - 2)
    term = SKEW * (2 * t * t + 1) / (6 * math.sqrt(n))
    below, above = t + term * np.maximum(-skewness, 0.0), t + term * np.maximum(skewness, 0.0)
    return centre - error * below, centre + error * above


@lru_cache
def t_early(n: int) -> float:
    """Return Student's t of the early look at ``n`` values. Up to it the looks spend `SPENT` (n / last look)^`POWER`."""
    place = EARLY.index(n)
    before = EARLY[place - 1] if place else 0
    return _core.student_t(1.0 - SPENT * (n**POWER - before**POWER) / EARLY[-1] ** POWER, n - 1)


@lru_cache
def t_bound(n: int, level: float) -> float:
    """Return the t statistic of ``n`` normal values that is exceeded at some ``n`` with probability 1 - ``level`` at most.

    The martingale with g = `SPREAD` is (g / (n + g))^(1/2) ((1 + t^2 / (n-1)) / (1 + g/(n+g) t^2 / (n-1)))^(n/2). Ville's
    inequality bounds it by 1 / (1 - ``level``). Infinite where no t reaches that.
    """
    share = SPREAD / (n + SPREAD)
    most = (1.0 / ((1.0 - level) * math.sqrt(share))) ** (2.0 / n)
    return math.sqrt((n - 1) * (most - 1.0) / (1.0 - share * most)) if share * most < 1.0 else math.inf
