"""PI, REM and AVQ: whether ns-2 still prints what the tests of these laws hold them to (crates/aqm/tests/ns2_laws.rs)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ns2

SCRIPT = Path(__file__).parent / "laws.tcl"
STORED = Path(__file__).parents[3] / "crates" / "aqm" / "tests" / "ns2"
ASKED = {
    "pi": "pi",
    "pi-fast": "pi -a_ 0.001 -b_ 0.0009 -qref_ 30",
    "rem": "rem",
    "rem-average": "rem -gamma_ 0.01 -inw_ 0.1 -qib_ true",
    "avq": "avq",
}
"""The files, and what `laws.tcl` is asked for each."""


def others() -> list[str]:
    """Names of the files that do not have what ns-2 prints."""
    return [name for name in ASKED if printed(name) != (STORED / f"{name}.txt").read_text()]


def printed(name: str) -> str:
    """What ns-2 prints for a file."""
    done = subprocess.run(("ns", str(SCRIPT), *ASKED[name].split()), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ns2.Ns2Error(f"ns {SCRIPT.name} {ASKED[name]} failed:\n{done.stderr.strip()}")
    return done.stdout
