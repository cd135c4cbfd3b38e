"""What queue disciplines have in common in the words of ``tc``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from ecnlab.base.quantities import split
from ecnlab.laws.kernel.findings import Findings

TICK_NS: Final = 64
"""Units in which tc gives the kernel the depth of a bucket (PSCHED_SHIFT)."""


def only_tail(queue: Mapping[str, Any], path: str, found: Findings, help_: str = 'write full = "tail"') -> None:
    """Refuse a full queue that drops elsewhere than at its tail."""
    if queue["full"] != "tail":
        found.refuse(f"{path}.full", f"`{path}.full`: the kernel cannot drop at the {queue['full']}", help_)


def in_bytes(queue: Mapping[str, Any], key: str, path: str, packet: int, found: Findings) -> int:
    """The length ``key`` in bytes, in which the kernel thinks; packets count ``packet`` bytes each."""
    text = queue[key]
    if text.startswith("auto"):
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel has no automatic threshold", 'write such as "15 kB"')
        return 0
    value, unit = split(text)
    return value * packet if unit == "packets" else value


def bucket(burst: int, rate_bps: int) -> int:
    """``burst``, and the bytes that the kernel's clock of 64 ns may round away: tbf waits for ever for the last one."""
    return burst + 1 + math.ceil(TICK_NS * rate_bps / 8e9)
