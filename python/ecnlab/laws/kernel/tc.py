"""Keys that several queue disciplines share, as arguments of ``tc``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from ecnlab.base.quantities import split
from ecnlab.laws.kernel.findings import Findings

TICK_NS: Final = 64
"""Unit, in ns, in which tc passes the depth of a bucket to the kernel (PSCHED_SHIFT)."""


def only_tail(queue: Mapping[str, Any], path: str, found: Findings, help_: str = 'write full = "tail"') -> None:
    """Refuse a queue that, when full, drops anywhere but at its tail."""
    if queue["full"] != "tail":
        found.refuse(f"{path}.full", f"`{path}.full`: the kernel cannot drop at the {queue['full']}", help_)


def in_bytes(queue: Mapping[str, Any], key: str, path: str, packet: int, found: Findings) -> int:
    """Return the length ``key`` in bytes, the kernel's unit; a packet counts as ``packet`` bytes."""
    text = queue[key]
    if text.startswith("auto"):
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel has no automatic threshold", 'write such as "15 kB"')
        return 0
    value, unit = split(text)
    return value * packet if unit == "packets" else value


def bucket(burst: int, rate_bps: int) -> int:
    """Return ``burst`` plus the bytes lost to rounding to the kernel's 64 ns ticks: tbf would wait for ever for the last."""
    return burst + 1 + math.ceil(TICK_NS * rate_bps / 8e9)
