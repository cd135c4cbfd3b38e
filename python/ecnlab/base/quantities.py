"""Quantities as a resolved scenario writes them."""

from __future__ import annotations

import math
from typing import Final

BYTES: Final = {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
RATES: Final = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}
TIMES: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
UNITS: Final = BYTES | RATES | TIMES | {"packets": 1.0}


def quantity(text: str) -> float:
    """``text``, a number and its unit, in bytes, bits per second, seconds or packets; "unlimited" is infinite."""
    if text == "unlimited":
        return math.inf
    number, unit = text.split()
    return float(number) * UNITS[unit]


def length(text: str) -> tuple[float, str]:
    """``text``, a queue's length, with what it counts: "packets" or "bytes"."""
    return quantity(text), "packets" if text.endswith("packets") else "bytes"


def written(text: str) -> str:
    """A quantity in the unit that it is short in, as reports write it."""
    number, _, unit = text.partition(" ")
    if unit == "B" and float(number) >= 1e3:
        return f"{float(number) / UNITS['kB']:g} kB"
    return text.replace("bps", "b/s").replace("us", "µs") if unit else text
