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

from instructions import with_duration
from measuring import HERE, Options, Row, alternate, execute, medians

CHILD = """\
import json, re, sys, time
from pathlib import Path
import ecnlab, ecnlab.runs.run
arguments = json.loads(sys.argv[1])
scenario = ecnlab.Scenario("c.toml", arguments["text"])
began = time.perf_counter(), time.process_time()
ecnlab.run(scenario, 1, events=arguments["events"], out=arguments["out"])
spent = {"wall": time.perf_counter() - began[0], "cpu": time.process_time() - began[1]}
peak = re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())
print(json.dumps(spent | {"peak": 1024 * int(peak[1])}))
"""

SHORT, LONG = "20 s", "60 s"
KINDS = {
    "off": ("", "", False),
    "series": ('sample = "100 ms"', "", False),
    "packet table": ("", "", True),
    "capture": ("", '[capture.bottleneck]\nlink = "bottleneck"', False),
}
"""Additional lines at the start and at the end of the scenario, and whether the run records packet events."""

TARGETS = {"series": 1.1, "packet table": 3.5, "capture": 2.5}
FLAT = 1.1
"""Peak memory of three times the duration, at most."""


def rows(options: Options) -> list[Row]:
    """Return the time with each kind of recording relative to none, and the growth of memory with the duration."""
    sides = {kind: _timed(options, kind) for kind in KINDS}
    times = alternate(sides, options.repeat)
    middle = medians(times)
    found = [
        Row(f"{name} on relative to off", middle[name] / middle["off"], target, "x", details={"seconds": times})
        for name, target in TARGETS.items()
    ]
    return [*found, *(_memory(name) for name in ("packet table", "capture"))]


def scenario(kind: str, duration: str) -> str:
    """Return c.toml with another duration and the lines of ``kind``."""
    first, last, _ = KINDS[kind]
    text = with_duration((HERE / "c.toml").read_text(), duration)
    return f"{first}\n{text}\n{last}\n"


def _memory(kind: str) -> Row:
    peaks = [_run(kind, duration)["peak"] for duration in (SHORT, LONG)]
    measure = f"{kind}: peak memory of {LONG} relative to {SHORT}"
    return Row(measure, peaks[1] / peaks[0], FLAT, "x", details={"peaks": peaks})


def _timed(options: Options, kind: str) -> Callable[[], float]:
    return lambda: _run(kind, SHORT)[options.clock]


def _run(kind: str, duration: str) -> dict[str, float]:
    """Return the times in seconds (`wall`, `cpu`) and the peak resident set in bytes (`peak`)."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = {"text": scenario(kind, duration), "events": KINDS[kind][2], "out": str(Path(folder, "run"))}
        return execute([sys.executable, "-c", CHILD, json.dumps(arguments)]).result()
