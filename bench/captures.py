"""Analysis of a capture of 970,000 packets, relative to tcptrace, and to tshark for the ECN fields.

Timed are whole processes, start and reading included: `ecnlab-bench trace`, `tcptrace -n -l -r` and `tshark -T fields`, on one
core in turn. With two cores a second thread reads, and packets go from one core to the other. How fast that is depends on the
cores: `ecnlab-bench exchange` measures a round trip of a number directly after the analysis with two.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from measuring import HERE, Options, Row, alternate, execute, medians, missing

SCENARIO = HERE / "trace.toml"
"""Fifty flows, half of them with ECN, through RED: marks, losses, retransmissions, SACK; 970,000 packets."""

ECN_FIELDS = ("frame.time_epoch", "tcp.stream", "ip.dsfield.ecn", "tcp.flags.ece", "tcp.flags.cwr")

THREADS = "capture analysis: two threads relative to one"
ROUND_TRIP = "round trip of a number between these cores"


def rows(options: Options) -> list[Row]:
    """Return the speed of the analysis relative to tcptrace, on one core and on two, and to tshark."""
    with tempfile.TemporaryDirectory() as folder:
        capture = _capture(Path(folder))
        times = _times(options, capture)
    middle = medians(times)
    details = {"seconds": times}
    wanted = [("tcptrace", "one core", 4.0), ("tcptrace", "two cores", 6.0), ("tshark", "one core", None)]
    found = []
    for peer, cores, target in wanted:
        measure = f"capture analysis relative to {peer}, {cores}"
        if peer not in middle:
            found.append(missing(measure, peer, peer, target, unit="x", at_most=False))
        elif cores not in middle:
            found.append(Row(measure, None, target, "x", False, "this process may use one core only"))
        else:
            found.append(Row(measure, middle[peer] / middle[cores], target, "x", False, details=details))
    if "two cores" in middle:
        found.append(Row(THREADS, middle["one core"] / middle["two cores"], None, "x", False))
        found.append(Row(ROUND_TRIP, middle["round trip"], None, "ns", details={"ns": times["round trip"]}))
    return found


def _capture(folder: Path) -> Path:
    import ecnlab

    ecnlab.run(SCENARIO, captures=folder)
    return folder / "bottleneck.pcapng"


def _times(options: Options, capture: Path) -> dict[str, list[float]]:
    """Return the seconds of ecnlab on one core and on two, and of the installed peers; tshark runs once."""
    ours = [str(options.binary), "trace", str(capture)]
    sides = {"one core": _timed(options.pinned(ours), options.clock)}
    cores = sorted(os.sched_getaffinity(0))[-2:]
    if len(cores) == 2:
        # Elapsed time with either clock: processor time does not show a gain from a second core.
        pair = ["taskset", "--cpu-list", ",".join(map(str, cores))]
        sides["two cores"] = _timed([*pair, *ours], "wall")
        sides["round trip"] = lambda: execute([*pair, str(options.binary), "exchange"]).result()["round_trip_ns"]
    if shutil.which("tcptrace"):
        sides["tcptrace"] = _timed(options.pinned(["tcptrace", "-n", "-l", "-r", str(capture)]), options.clock)
    times = alternate(sides, options.repeat)
    if shutil.which("tshark"):
        fields = [word for field in ECN_FIELDS for word in ("-e", field)]
        tshark = _timed(options.pinned(["tshark", "-n", "-r", str(capture), "-T", "fields", *fields]), options.clock)
        times["tshark"] = [tshark()]
    return times


def _timed(command: list[str], clock: str) -> Callable[[], float]:
    def measure() -> float:
        run = execute(command)
        return run.cpu if clock == "cpu" else run.wall

    return measure
