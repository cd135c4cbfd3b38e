"""Quantities as a resolved scenario writes them, ``"1.5 Mbps"`` or ``"20 ms"``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

BYTES: Final = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
RATES: Final = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9}
TIMES: Final = {
    "ps": 1,
    "ns": 10**3,
    "us": 10**6,
    "ms": 10**9,
    "s": 10**12,
    "min": 60 * 10**12,
    "h": 3600 * 10**12,
}
"""In picoseconds."""
COUNTS: Final = {**BYTES, **RATES, "packets": 1}


HEADERS: Final = {4: 40.0, 6: 60.0}
"""Bytes of IP and TCP without options, which count in the MSS, by IP version."""


def headers_bytes(flow: Mapping[str, Any]) -> float:
    """Return the bytes of the IP and TCP headers of a flow of a resolved scenario."""
    return HEADERS[flow.get("ip", 4)]


def quantity(text: str) -> float:
    """``text``, a number and its unit, in bytes, bits per second, seconds or packets; "unlimited" is infinite."""
    if text == "unlimited":
        return math.inf
    value, unit = text.split()
    return float(value) * (TIMES[unit] / 1e12 if unit in TIMES else COUNTS[unit])


def highest(value: Any) -> float:
    """The rate or delay of a link in bits per second or seconds; the highest of one that changes."""
    if isinstance(value, str):
        return quantity(value)
    if isinstance(value, Mapping):
        if "highest" in value:
            return quantity(value["highest"])
        (levels,) = (value[kind] for kind in ("square", "sine", "walk", "steps") if kind in value)
        return max(map(quantity, levels)) if "steps" not in value else highest(levels)
    return max(quantity(level) for _, level in value)


def changes(value: Any) -> bool:
    """Return whether the rate or delay ``value`` of a link changes during a run."""
    return not isinstance(value, str) and not (isinstance(value, Mapping) and {*value} & DISTRIBUTIONS)


DISTRIBUTIONS: Final = frozenset({"uniform", "exponential", "pareto", "pareto2"})
"""Kinds of distributions, from which a value is drawn once for each run."""


def number(text: str) -> int:
    """``text``, a number and its unit, in whole bytes, bits per second, nanoseconds or packets."""
    return split(text)[0]


@lru_cache(maxsize=4096)
def split(text: str) -> tuple[int, str]:
    """Return whole number and unit of ``text``: ``("30 packets")`` gives ``(30, "packets")``, a time nanoseconds."""
    from fractions import Fraction  # for engines that count in whole numbers

    value, unit = text.split()
    size = Fraction(TIMES[unit], 10**3) if unit in TIMES else COUNTS[unit]
    return round(Fraction(value) * size), unit


def length(text: str) -> tuple[float, str]:
    """Return a queue's length ``text`` with its unit: "packets" or "bytes"."""
    return quantity(text), "packets" if text.endswith("packets") else "bytes"


def written(text: str) -> str:
    """A quantity in the unit that it is short in, as reports write it."""
    value, _, unit = text.partition(" ")
    if unit == "B" and float(value) >= 1e3:
        return f"{float(value) / BYTES['kB']:g} kB"
    return text.replace("bps", "b/s").replace("us", "µs") if unit else text
