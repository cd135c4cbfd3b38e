"""Means with their intervals as text: the width of the interval decides the digits, "19.248 ± 0.020 Mb/s"."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ecnlab.base.readable import PLAIN, cell, number, units_of

EXACT: Final = 1e-9
"""Relative half width below which an interval counts as a single value."""

SYMMETRIC: Final = 1e-6
"""Relative difference of the sides of an interval up to which it is written as "±"."""


@dataclass(frozen=True)
class Scale:
    """The unit of a text and the factor from SI units to it."""

    factor: float = 1.0
    unit: str = ""


def scale_of(column: str, values: Iterable[float]) -> Scale:
    """Return the scale for ``values`` of ``column``: the largest unit of which their maximum has at least one."""
    most = max((abs(one) for one in values if math.isfinite(one)), default=0.0)
    steps = units_of(column)
    if steps:
        factor, unit = next(((factor, unit) for factor, unit in steps if most >= factor), steps[-1])
        return Scale(1.0 / factor, unit) if most else Scale(1.0, next(unit for factor, unit in steps if factor == 1.0))
    if most and not PLAIN[0] <= most < PLAIN[1]:
        power = math.floor(math.log10(most))
        return Scale(10.0**-power, f"e{power}")
    return Scale()


def spread(column: str, mean: float, low: float | None, high: float | None) -> str:
    """Return ``mean`` with its interval and unit: "19.248 ± 0.020 Mb/s"; without an interval the mean alone.

    ``column`` ends as stored columns do, and gives the unit. An interval that is not symmetric, because the range of the
    metric clips it, is written with its ends: "0.982 (0.950 to 1.000)".
    """
    if low is None or high is None or not all(map(math.isfinite, (mean, low, high))):
        return cell(column, mean).replace("-", "−")
    scale = scale_of(column, (mean, (high - low) / 2))
    return (
        f"{in_scale(scale, mean, low, high)}{scale.unit if scale.unit.startswith('e') else f' {scale.unit}'}".rstrip()
    )


def in_scale(scale: Scale, mean: float, low: float | None, high: float | None) -> str:
    """Return the text of `spread` without the unit."""
    if low is None or high is None:
        return number(mean * scale.factor).replace("-", "−")
    mean, low, high = mean * scale.factor, low * scale.factor, high * scale.factor
    digits = decimals(mean, (high - low) / 2)
    if digits is None:
        text = f"{number(mean)} ± 0"
    elif abs((high - mean) - (mean - low)) <= SYMMETRIC * (high - low):
        text = f"{_fixed(mean, digits)} ± {_fixed((high - low) / 2, digits)}"
    else:
        text = f"{_fixed(mean, digits)} ({_fixed(low, digits)} to {_fixed(high, digits)})"
    text = text.replace("-", "−")
    return f"({text})" if scale.unit.startswith("e") and digits is not None else text


def _fixed(value: float, digits: int) -> str:
    """Return ``value`` with ``digits`` after the point; zero has no sign."""
    text = f"{value:.{digits}f}"
    return text if float(text) else text.lstrip("-")


def decimals(mean: float, half: float) -> int | None:
    """Return the digits after the point that show two significant digits of ``half``; None if it is zero next to ``mean``."""
    if half <= EXACT * abs(mean):
        return None
    return max(1 - math.floor(math.log10(float(f"{half:.1e}"))), 0)
