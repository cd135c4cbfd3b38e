"""Time and peak memory of runs that record, relative to the same run that does not.

The run is c's network for 20 s, by `ecnlab.run` into a folder. Timed is that call in a process of its own, writing of the
folder included, import of the modules not; with ``--clock cpu`` it is the processor time of the process in the call.

- Series: `sample = "100 ms"`, the time series of queues and windows.
- Packet table: `events=True`. Capture: a capture of the bottleneck.
- Memory: the peak resident set of a run of 60 s relative to one of 20 s, with the packet table and with the capture.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from measures import HERE, Options, Row, alternate, execute, medians

CHILD = """\
import json, re, sys, time
from pathlib import Path
import ecnlab, ecnlab.runs.run
from ecnlab.scenario.files import read_scenario
arguments = json.loads(sys.argv[1])
scenario = read_scenario(arguments["scenario"]).with_overrides(arguments["overrides"])
began = time.perf_counter(), time.process_time()
ecnlab.run(scenario, 1, events=arguments["events"], out=arguments["out"])
spent = {"wall": time.perf_counter() - began[0], "cpu": time.process_time() - began[1]}
peak = re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())
print(json.dumps(spent | {"peak": 1024 * int(peak[1])}))
"""

SHORT, LONG = "20 s", "60 s"
KINDS: dict[str, tuple[dict[str, object], bool]] = {
    "series": ({"sample": "100 ms"}, False),
    "packet table": ({}, True),
    "capture": ({"capture.bottleneck.link": "bottleneck"}, False),
}
"""Overrides of the scenario, and whether the run records packet events."""

TARGETS = {"series": 1.1, "packet table": 2.5, "capture": 2.5}
FLAT = 1.1
"""Peak memory of three times the duration, at most."""


def rows(options: Options) -> list[Row]:
    """Return the time with each kind of recording relative to none, and the growth of memory with the duration."""
    sides = {"off": _timed(options, {}, False)}
    sides |= {name: _timed(options, overrides, events) for name, (overrides, events) in KINDS.items()}
    times = alternate(sides, options.repeat)
    middle = medians(times)
    found = [
        Row(f"{name} on relative to off", middle[name] / middle["off"], target, "x", details={"seconds": times})
        for name, target in TARGETS.items()
    ]
    return [*found, *(_memory(name) for name in ("packet table", "capture"))]


def _memory(name: str) -> Row:
    overrides, events = KINDS[name]
    peaks = [_run(overrides | {"duration": duration}, events)["peak"] for duration in (SHORT, LONG)]
    measure = f"{name}: peak memory of {LONG} relative to {SHORT}"
    return Row(measure, peaks[1] / peaks[0], FLAT, "x", details={"peaks": peaks})


def _timed(options: Options, overrides: dict[str, object], events: bool) -> Callable[[], float]:
    return lambda: _run(overrides | {"duration": SHORT}, events)[options.clock]


def _run(overrides: dict[str, object], events: bool) -> dict[str, float]:
    """Return the times in seconds (`wall`, `cpu`) and the peak resident set in bytes (`peak`)."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = {
            "scenario": str(HERE / "c.toml"),
            "overrides": overrides,
            "events": events,
            "out": str(Path(folder, "run")),
        }
        return execute([sys.executable, "-c", CHILD, json.dumps(arguments)]).result()
