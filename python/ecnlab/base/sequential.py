"""Intervals and decisions that stay valid although the number of replicates depends on the results.

The 95 % interval of a fixed number of replicates excludes the true mean in far more than 5 % of experiments if one adds
replicates until it excludes a limit. The intervals here form a confidence sequence: the probability that any of them, at any
number of replicates, excludes the true mean is 5 % at most. So one may look after each replicate, and stop for any reason.

Source: Wang and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance" (2023,
arXiv:2310.03722): the test martingale of the t statistic with a Gaussian mixture over the effect size. It is exact for normal
values. For skewed ones the interval is longer on the side of the tail, by the first term of the Edgeworth expansion of the t
statistic (Hall, "The Bootstrap and Edgeworth Expansion" (1992), section 2.6) with the factor `SKEW`; docs/sequential.md has the
error rates for known distributions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecnlab.base.stats import LEVEL, ROUNDING, UNBOUNDED, Bounds, Interval

METHOD: Final = (
    "confidence sequence of the t statistic, Gaussian mixture (Wang and Ramdas 2023), with a term for skewness"
)

LEAST: Final = 14
"""Fewest values that decide: the interval is finite from 13 on (`t_bound`), where it is longer than any use."""

SPREAD: Final = 20.0
"""Reciprocal of the variance of the mixture over effect sizes: 0.22 standard deviations. A larger one decides large effects with
fewer values, but skewed values then exceed the error rate."""

SKEW: Final = 1.5
"""Factor of the term for skewness. Above 1, since the skewness of a few values is less than that of their distribution."""

CONSTANT: Final = 59
"""Equal values after which a search ends as inconclusive: another value then occurs in fewer than 5 % of runs (0.95^59 < 0.05)."""

GROWTH: Final = 1.25
"""Ratio of the numbers of values at two looks."""

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


def looks(least: int, most: int) -> Iterator[int]:
    """Yield the numbers of replicates at which one looks: ``least``, each by `GROWTH` more, and at the end ``most``."""
    n = least
    while n < most:
        yield n
        n = max(n + 1, int(n * GROWTH))
    yield most


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
    if len(values) < LEAST:
        return f"fewer than {LEAST} values" if values else "no values"
    return "" if _vary(np.asarray(values)) else "all values are equal"


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean with its interval of the confidence sequence.

    The interval is infinite below `LEAST` values, and while all values are equal: the spread is then unknown.
    """
    x = np.asarray(values, dtype=float)
    if not x.size:
        return Interval(math.nan, -math.inf, math.inf, 0)
    mean = float(x.mean())
    if x.size < LEAST or not _vary(x):
        return Interval(mean, -math.inf, math.inf, int(x.size))
    low, high = ends(x.size, x.mean(), np.square(x - mean).mean(), np.power(x - mean, 3).mean())
    return Interval(mean, float(low), float(high), int(x.size))


def _vary(x: Array) -> bool:
    return bool(np.ptp(x) > ROUNDING * np.abs(x).max())


def ends(n: int, mean: ArrayLike, second: ArrayLike, third: ArrayLike, level: float = LEVEL) -> tuple[Array, Array]:
    """Return the lower and upper ends of intervals from the mean and the second and third central moments of ``n`` values.

    The arguments but ``n`` may be arrays, one element for each sample. The second moments must be above 0.
    """
    centre, variance = np.asarray(mean, dtype=float), np.asarray(second, dtype=float)
    t = t_bound(n, level)
    error = np.sqrt(variance / (n - 1))
    skewness = np.asarray(third, dtype=float) / variance**1.5 * math.sqrt(n * (n - 1)) / (n - 2)
    term = SKEW * (2 * t * t + 1) / (6 * math.sqrt(n))
    below, above = t + term * np.maximum(-skewness, 0.0), t + term * np.maximum(skewness, 0.0)
    return centre - error * below, centre + error * above


def t_bound(n: int, level: float = LEVEL) -> float:
    """Return the t statistic of ``n`` normal values that is exceeded at some ``n`` with probability 1 - ``level`` at most.

    The martingale with g = `SPREAD` is (g / (n + g))^(1/2) ((1 + t^2 / (n-1)) / (1 + g/(n+g) t^2 / (n-1)))^(n/2). Ville's
    inequality bounds it by 1 / (1 - ``level``). Infinite where no t reaches that.
    """
    share = SPREAD / (n + SPREAD)
    most = (1.0 / ((1.0 - level) * math.sqrt(share))) ** (2.0 / n)
    return math.sqrt((n - 1) * (most - 1.0) / (1.0 - share * most)) if share * most < 1.0 else math.inf
