"""The ns-2 side: find or install it, run dumbbell.tcl, read what it prints."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parent / "dumbbell.tcl"
INSTALL = ("apt-get", "install", "--yes", "--no-install-recommends", "ns2")
VERSION = "2.35"


class Ns2Error(Exception):
    """ns-2 is missing, is another version, or a run of it failed."""


def ensure() -> str:
    """Return the path of `ns`, installing it from Debian if that is possible."""
    if not shutil.which("ns"):
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            raise Ns2Error(f"ns-2 is missing: as root on Debian or Ubuntu, run '{' '.join(INSTALL)}'")
        subprocess.run(("apt-get", "update", "--quiet"), check=False, stdout=subprocess.DEVNULL)
        if subprocess.run(INSTALL, check=False, stdout=subprocess.DEVNULL).returncode != 0:
            raise Ns2Error(f"'{' '.join(INSTALL)}' failed: see its messages above")
    path = shutil.which("ns")
    if path is None:
        raise Ns2Error("the Debian package ns2 left no 'ns' in PATH")
    asked = subprocess.run((path, "-"), input="puts [ns-version]", capture_output=True, text=True, check=False)
    if VERSION not in asked.stdout:
        raise Ns2Error(f"{path} is not ns-{VERSION}: it says {asked.stdout.strip() or asked.stderr.strip()!r}")
    return path


def run(options: dict[str, object], seed: int) -> dict[str, Any]:
    """Run one dumbbell; the keys are those of dumbbell.tcl."""
    pairs = [word for key, value in (options | {"seed": seed}).items() for word in (f"-{key}", str(value))]
    done = subprocess.run(("ns", str(SCRIPT), *pairs), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Ns2Error(f"ns {SCRIPT.name} {' '.join(pairs)} failed:\n{done.stderr.strip()}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure(options: dict[str, object], groups: tuple[str, ...], seed: int) -> dict[str, float]:
    """Run one dumbbell and return `metric group` -> value, as `simulated.measure` names them."""
    result = run(options, seed)
    values = {"queue mean, packets": float(result["queue_mean_packets"])}
    if "average_mean_packets" in result:
        values["RED average, packets"] = float(result["average_mean_packets"])
    for group in groups:
        row = result["groups"][group]
        values |= {
            f"goodput {group}, bit/s": row["goodput_bps"],
            f"drops {group}": row["drops"],
            f"early drops {group}": row["early"],
            f"marks {group}": row["marks"],
            f"retransmits {group}": row["retransmits"],
            f"timeouts {group}": row["timeouts"],
            f"ecn cuts {group}": row["ecn_reductions"],
        }
    return values
