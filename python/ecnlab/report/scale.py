"""Scales of axes: the place of a value, the ticks and their texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

TICKS: Final = 6
"""Most ticks of an axis: their texts fit on a phone."""

STEPS: Final = (1.0, 2.0, 5.0, 10.0)
"""Distances of ticks, times a power of ten."""


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from ``low`` to ``high``, linear or logarithmic."""

    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return where ``value`` is on the axis: 0 at ``low``, 1 at ``high``, outside these beyond the ends."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return (at - low) / (high - low)

    def ticks(self, most: int = TICKS) -> list[tuple[float, str]]:
        """Return at most ``most`` round values on the axis, with their texts."""
        return self._decades(most) if self.log else self._even(most)

    def _even(self, most: int) -> list[tuple[float, str]]:
        step = round_step((self.high - self.low) / most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return [(n * step, number(n * step, digits)) for n in range(first, last + 1)]

    def _decades(self, most: int) -> list[tuple[float, str]]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1, 2, 5), (1, 3), (1,)):
            found = [f * 10.0**p for p in powers for f in factors if self.low <= f * 10.0**p <= self.high]
            if len(found) <= most:
                break
        found = found[:: math.ceil(len(found) / most)] if found else [self.low]
        return [(value, f"{value:g}".replace("-", "−")) for value in found]


def cut_end(low: float, high: float, *, log: bool = False) -> float | None:
    """Return the end of an axis of values, ``low`` or ``high``, behind which 0 lies; None if the axis contains 0.

    A logarithmic axis has no 0.
    """
    if log or low <= 0 <= high:
        return None
    return low if low > 0 else high


def round_step(least: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is at least ``least`` (positive)."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(f * power for f in STEPS if f * power >= least * (1 - 1e-9))


def number(value: float, digits: int) -> str:
    """Return ``value`` with ``digits`` decimal places, large values in thousands or millions."""
    for least, unit, sign in ((1e6, 1e6, " M"), (1e4, 1e3, " k")):
        if abs(value) >= least:
            return f"{value / unit:,.6g}{sign}".replace("-", "−")
    return f"{value:,.{digits}f}".replace("-", "−")


def padded(low: float, high: float, share: float) -> tuple[float, float]:
    """Return the limits moved apart by ``share`` of their distance at either end."""
    pad = share * ((high - low) or abs(high) or 1.0)
    return low - pad, high + pad


def span(values: Sequence[float], *, zero: bool = False) -> tuple[float, float]:
    """Return the least and the greatest finite value, and 0 if ``zero``; (0, 1) if there is none."""
    finite = [v for v in values if math.isfinite(v)] + ([0.0] if zero else [])
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    return (low, high) if high > low else (min(low, 0.0), max(high, 0.0) or 1.0)


def written(value: float) -> str:
    """Return ``value`` with four significant digits, as tables of figures have it; a dash if it is not finite."""
    return f"{value:.4g}".replace("-", "−") if math.isfinite(value) else "–"
