"""Root of a function of one variable between two points where its sign differs."""

from __future__ import annotations

import sys
from collections.abc import Callable

STEPS = 200
"""Bisection alone needs 53 steps; most functions take about ten."""


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return x between ``low`` and ``high`` with ``function(x) = 0``, to the rounding of the larger of the two ends.

    ``function`` may jump through 0: then x is the place of the jump. Raises ValueError unless the signs at the ends differ.
    Source: Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without
    using derivatives", Advances in Engineering Software 28 (1997).
    """
    x1, x2, f1, f2 = low, high, function(low), function(high)
    if not min(f1, f2) <= 0.0 <= max(f1, f2):
        raise ValueError(f"the function is {f1:g} at {low:g} and {f2:g} at {high:g}: a root needs different signs")
    tolerance = sys.float_info.epsilon * max(abs(low), abs(high))
    part = 0.5
    for _ in range(STEPS):
        best = x1 if abs(f1) < abs(f2) else x2
        if min(abs(f1), abs(f2)) == 0.0 or abs(x2 - x1) <= 2.0 * tolerance:
            return best
        x = x1 + part * (x2 - x1)
        value = function(x)
        if (value < 0.0) == (f1 < 0.0):
            x3, f3 = x1, f1
        else:
            x3, f3, x2, f2 = x2, f2, x1, f1
        x1, f1 = x, value
        least = tolerance / abs(x2 - x1) if x1 != x2 else 0.5
        part = min(max(_part(x1, x2, x3, f1, f2, f3), least), 1.0 - least)
    return best


def _part(x1: float, x2: float, x3: float, f1: float, f2: float, f3: float) -> float:
    """The next point, as a part of the way from ``x1`` to ``x2``: by inverse quadratic interpolation where that is safe."""
    xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
    if not (phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi):
        return 0.5
    return f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
