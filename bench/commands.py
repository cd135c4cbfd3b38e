"""Elapsed time of whole commands: the start of a small run, and sweeps of examples/gain.toml.

- Start: `ecnlab run` of 2 flows through 40 Mbit/s for 60 s, from the start of the process to its end, with the tables stored
  and the summary printed. Python's compiled modules are stored, as after an installation.
- Sweep: `ecnlab sweep` of 60 runs with two workers, likewise, into an empty folder.
- Scaling: 600 runs (50 replicates) with one worker relative to two. It is elapsed time with either clock, because the
  processor time of the workers does not show whether they ran at the same time.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from functools import partial
from pathlib import Path

from measuring import ROOT, Finished, Options, Row, alternate, execute, medians

EXAMPLES = ROOT / "examples"
START = {
    'title = "Dumbbell of 10 ECN flows"': 'title = "2 flows through 40 Mbit/s"',
    "count = 10": "count = 2",
    'rate = "10 Mbps"': 'rate = "40 Mbps"',
}
"""Changes of examples/dumbbell.toml, which has a duration of 60 s."""


def start(options: Options) -> list[Row]:
    """Return the time from the command to the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "start.toml")
        path.write_text(start_scenario((EXAMPLES / "dumbbell.toml").read_text()))
        runs = [
            _ecnlab(Path(folder), "run", str(path), "--out", str(Path(folder, f"run{turn}")))
            for turn in range(options.repeat + 1)
        ]
    seconds = [_seconds(run, options.clock) for run in runs[1:]]  # the first compiles Python's modules
    details = {"seconds": seconds}
    return [Row("2 flows, 60 s, 40 Mbit/s: command to table", statistics.median(seconds), 0.4, "s", details=details)]


def sweeps(options: Options) -> list[Row]:
    """Return the time of 60 runs, and the gain from a second core for 600."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _sweep(folder, "--workers", "2")
        short = [_seconds(_sweep(folder, "--workers", "2"), options.clock) for _ in range(options.repeat)]
        sides = {f"{workers} workers": partial(_long_sweep, folder, workers) for workers in (1, 2)}
        long = alternate(sides, min(options.repeat, 3))
    middle = medians(long)
    gain = middle["1 workers"] / middle["2 workers"]
    return [
        Row("gain.toml: 60 runs, two workers", statistics.median(short), 0.8, "s", details={"seconds": short}),
        Row("gain.toml: 600 runs, two workers relative to one", gain, 1.9, "x", False, details={"seconds": long}),
    ]


def start_scenario(text: str) -> str:
    """Return the scenario of the start-up row, from that of examples/dumbbell.toml.

    Raises ValueError if a line to replace is missing.
    """
    for before, after in START.items():
        if before not in text:
            raise ValueError(f"dumbbell.toml has no {before}")
        text = text.replace(before, after)
    return text


def _long_sweep(folder: Path, workers: int) -> float:
    """Return the elapsed time of 600 runs."""
    return _sweep(folder, "--workers", str(workers), "--replicates", "50").wall


def _sweep(folder: Path, *arguments: str) -> Finished:
    with tempfile.TemporaryDirectory(dir=folder) as out:
        return _ecnlab(folder, "sweep", str(EXAMPLES / "gain.toml"), "--out", str(Path(out, "sweep")), *arguments)


def _ecnlab(folder: Path, *arguments: str) -> Finished:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    return execute([sys.executable, "-m", "ecnlab", *arguments], folder, environment)


def _seconds(run: Finished, clock: str) -> float:
    return run.cpu if clock == "cpu" else run.wall
