"""How much memory a capture's connections may take."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SHARE: Final = 0.75
"""Of what is available; the rest is for tables and for others."""

MEMINFO: Final = Path("/proc/meminfo")
CGROUP: Final = Path("/sys/fs/cgroup")


def for_connections() -> int | None:
    """Bytes: three quarters of what the machine, or the control group, has available. None where nothing tells."""
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
    """What the control group (version 2) may still take; None without a limit."""
    try:
        limit, used = ((CGROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return None
    return None if limit == "max" else max(0, int(limit) - int(used))
