"""What queue disciplines have in common in the words of ``tc``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecnlab.linux.findings import Findings
from ecnlab.linux.quantity import split


def only_tail(queue: Mapping[str, Any], path: str, found: Findings) -> None:
    """Refuse a full queue that drops elsewhere than at its tail."""
    if queue["full"] != "tail":
        help_ = 'write full = "tail"; "front" is there for droptail with a limit in packets'
        found.refuse(f"{path}.full", f"`{path}.full`: the kernel cannot drop at the {queue['full']}", help_)


def in_bytes(queue: Mapping[str, Any], key: str, path: str, packet: int, found: Findings) -> int:
    """The length ``key`` in bytes, in which the kernel thinks; packets count ``packet`` bytes each."""
    text = queue[key]
    if text.startswith("auto"):
        found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel has no automatic threshold", 'write such as "15 kB"')
        return 0
    value, unit = split(text)
    return value * packet if unit == "packets" else value
