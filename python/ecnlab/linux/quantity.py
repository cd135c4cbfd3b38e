"""Quantities as a resolved scenario writes them, ``"1.5 Mbps"`` or ``"20 ms"``, as whole numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

UNITS: Final = {
    "s": Fraction(10**9),
    "ms": Fraction(10**6),
    "us": Fraction(10**3),
    "ns": Fraction(1),
    "ps": Fraction(1, 1000),
    "bps": Fraction(1),
    "kbps": Fraction(10**3),
    "Mbps": Fraction(10**6),
    "Gbps": Fraction(10**9),
    "B": Fraction(1),
    "kB": Fraction(10**3),
    "MB": Fraction(10**6),
    "packets": Fraction(1),
}


def number(text: str) -> int:
    """Nanoseconds, bit/s, bytes or packets, whatever the unit of ``text`` counts."""
    return split(text)[0]


def split(text: str) -> tuple[int, str]:
    """The number and the unit of ``text``: ``("30 packets")`` gives ``(30, "packets")``."""
    value, unit = text.split(" ")
    return round(Fraction(value) * UNITS[unit]), unit
