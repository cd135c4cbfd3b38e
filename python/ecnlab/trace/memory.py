"""Memory limit for a capture's connections."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SHARE: Final = 0.75
"""Fraction of the available memory; the rest is for tables and other processes."""

MEMINFO: Final = Path("/proc/meminfo")
CGROUP: Final = Path("/sys/fs/cgroup")


def for_connections() -> int | None:
    """Return three quarters of the bytes available to the machine or the control group; None if unknown."""
    known = [bytes_ for bytes_ in (_of_machine(), _of_group()) if bytes_ is not None]
    return int(SHARE * min(known)) if known else None


def _of_machine() -> int | None:
    try:
        lines = MEMINFO.read_text().splitlines()
    except OSError:
        return None
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    available = values.get("MemAvailable")
    return None if available is None else int(available.split()[0]) * 1024


def _of_group() -> int | None:
    """Return the memory still available in the control group (version 2); None without a limit."""
    try:
        limit, used = ((CGROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return None
    return None if limit == "max" else max(0, int(limit) - int(used))
