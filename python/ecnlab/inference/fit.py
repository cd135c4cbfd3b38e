"""How well a setting fits the printed numbers: implausibility, likelihood, and the weights of settings.

The implausibility of a setting is |mean - printed| / sd (Craig, Goldstein, Seheult and Smith 1997), where the variance sd^2 is the
margin's, that of rounding, and that of the seeds here and of the runs behind the printed number. The likelihood is normal with the
same sd. A printed limit counts how far the mean is beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ecnlab.inference.prior import Array, Truths
from ecnlab.inference.question import Target

CUT: Final = 3.0
"""Implausibility above which a setting does not meet a number: at most 5 % of any unimodal distribution is as far (Pukelsheim 1994)."""

SHARED: Final = 4.0
"""Weight, in degrees of freedom, of the median variance of all settings in the variance of one setting, which few seeds show badly."""

EPSILON: Final = 1e-12
"""Least standard deviation relative to the printed value: without margin, rounding and spread a number is met or it is not."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The fit of settings to targets: arrays with a row for each setting and a column for each target."""

    mean: Array
    """Mean of the quantity over seeds; NaN where it is not defined."""
    spread: Array
    """Standard deviation of its difference to a printed number of the same setting, without margin."""
    implausible: Array
    log_likelihood: Array

    @property
    def met(self) -> Truths:
        """Whether a setting meets a target."""
        return np.asarray(self.implausible <= CUT)


def fit(targets: Sequence[Target], values: Array, printed_runs: int) -> Fit:
    """Return the fit of ``values``, by setting, target and seed."""
    n = values.shape[2]
    mean = values.mean(axis=2)
    variance = values.var(axis=2, ddof=1)
    with np.errstate(all="ignore"):
        shared = np.array([np.median(one[np.isfinite(one)]) if np.isfinite(one).any() else 0.0 for one in variance.T])
    pooled = (SHARED * shared + (n - 1) * variance) / (SHARED + n - 1)
    spread = np.sqrt(pooled * (1.0 / n + 1.0 / printed_runs))
    columns = [_column(one, mean[:, k], spread[:, k]) for k, one in enumerate(targets)]
    implausible, likelihood = (np.array(part).reshape(len(targets), len(mean)).T for part in zip(*columns, strict=True))
    undefined = np.isnan(mean)
    implausible[undefined], likelihood[undefined] = np.inf, -np.inf
    return Fit(mean, spread, implausible, likelihood)


def _column(target: Target, mean: Array, spread: Array) -> tuple[Array, Array]:
    """Return implausibility and logarithm of the likelihood of one target."""
    if target.printed is not None:
        sd = scale(target, spread)
        z = np.abs(mean - target.printed) / sd
        return z, -0.5 * z * z - np.log(sd)
    limit, sign = (target.at_most, 1.0) if target.at_most is not None else (target.at_least, -1.0)
    assert limit is not None
    z = sign * (mean - limit) / np.maximum(np.hypot(target.tolerance, spread), EPSILON * max(abs(limit), EPSILON))
    return np.maximum(z, 0.0), np.array([log_normal_cdf(-one) for one in z])


def scale(target: Target, spread: Array) -> Array:
    """Return the standard deviation of a printed number around the mean of its setting."""
    assert target.printed is not None
    least = EPSILON * max(abs(target.printed), EPSILON)
    return np.maximum(np.sqrt(target.margin**2 + target.rounding**2 / 12.0 + np.square(spread)), least)


def log_normal_cdf(x: float) -> float:
    """Return the logarithm of the standard normal distribution at ``x``, by its asymptote far below 0."""
    if x < -30.0:
        return -0.5 * x * x - math.log(-x * math.sqrt(2.0 * math.pi))
    return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))


def tempered(log_weights: Array, least: float) -> Array:
    """Return weights, which sum to 1, raised to the greatest power up to 1 with an effective number of ``least`` or more."""
    power, low = 1.0, 0.0
    if effective(normalised(log_weights)) >= least:
        return normalised(log_weights)
    for _ in range(40):
        middle = 0.5 * (low + power)
        low, power = (middle, power) if effective(normalised(middle * log_weights)) >= least else (low, middle)
    return normalised(low * log_weights)


def normalised(log_weights: Array) -> Array:
    """Return weights that sum to 1 from their logarithms; equal ones if all are 0."""
    top = log_weights.max()
    # 0 times an infinite logarithm is not a number: that setting has no weight.
    weights = np.exp(np.nan_to_num(log_weights - top, nan=-np.inf)) if np.isfinite(top) else np.ones(log_weights.shape)
    return np.asarray(weights / weights.sum())


def effective(weights: Array) -> float:
    """Return the effective number of ``weights``, which sum to 1 (Kish 1965)."""
    return 1.0 / float(np.square(weights).sum())
