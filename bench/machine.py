"""Description of the machine and of the build, for the JSON of `make bench`."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Any


def describe() -> dict[str, Any]:
    """Return processor, cores, memory in bytes, kernel, load, compiler, and ecnlab's version, build and commit."""
    from ecnlab.base.provenance import maker

    return {
        "processor": processor(Path("/proc/cpuinfo").read_text()) or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": f"{platform.system()} {platform.release()}",
        "load": os.getloadavg()[0],
        "rustc": _first_line(["rustc", "--version"]),
        "python": platform.python_version(),
        "ecnlab": maker(),
    }


def processor(cpuinfo: str) -> str | None:
    """Return the model of the first processor in the text of /proc/cpuinfo, None if it names none."""
    found = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, flags=re.M)
    return found[1].strip() if found else None


def _first_line(command: list[str]) -> str | None:
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError):
        return None
