"""Formats numbers for tables: with the unit from the column's name and three significant digits."""

from __future__ import annotations

import math
from typing import Final

DIGITS: Final = 3
"""Significant digits of a number in a table; ``--json`` and the stored tables have all."""

INSTANTS: Final = frozenset({"time_s", "start_s"})
"""Columns of points in time, which need more digits than durations."""

RATES: Final = ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s"))
BYTES: Final = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
TIMES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
SIZES: Final = frozenset({"bytes", "outstanding_max", "outstanding_mean", "window_max", "window_min"})

PLAIN: Final = (1e-4, 1e15)
"""Numbers outside this range are written with an exponent."""


def cell(name: str, value: object) -> str:
    """The ``value`` of the column ``name``; "-" for none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if name in INSTANTS:
        return f"{value:.6f} s"
    units = units_of(name)
    if units:
        return _scaled(float(value), units)
    return str(value) if isinstance(value, int) else number(value)


def number(value: float) -> str:
    """``value`` with three significant digits, without an exponent unless it is very large or small."""
    if value == 0 or not math.isfinite(value) or not PLAIN[0] <= abs(value) < PLAIN[1]:
        return f"{value:.{DIGITS}g}"
    return _digits(value)


def units_of(name: str) -> tuple[tuple[float, str], ...]:
    """Return the units of the stored column ``name`` with their sizes, the largest first; none if it has no unit."""
    if name.endswith("_bps"):
        return RATES
    if name in SIZES or name.endswith("_bytes"):
        return BYTES
    return TIMES if name.endswith("_s") else ()


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {units[0][1] if units is TIMES else units[-1][1]}"
    rounded = abs(float(f"{value:.{DIGITS}g}"))
    factor, unit = next((step for step in units if rounded >= step[0]), units[-1])
    return f"{_digits(value / factor)} {unit}"


def _digits(value: float) -> str:
    after = max(DIGITS - 1 - math.floor(math.log10(abs(float(f"{value:.{DIGITS}g}")))), 0)
    text = f"{float(f'{value:.{DIGITS}g}'):.{after}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
