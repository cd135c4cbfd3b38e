"""A capture of a million packets: the whole analysis against tcptrace, and against tshark for the ECN fields, in one run.

Prints a line for each to standard error and one JSON object to standard output.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ecnlab

HERE = Path(__file__).parent
BINARY = HERE.parent / "target" / "release" / "ecnlab-bench"
SCENARIO = HERE / "trace.toml"
"""Fifty flows, half of them with ECN, through RED: marks, losses, retransmissions, SACK; 1.1 million packets."""

ECN_FIELDS = ("frame.time_epoch", "tcp.stream", "ip.dsfield.ecn", "tcp.flags.ece", "tcp.flags.cwr")


def main() -> int:
    """Time the three in turn."""
    parser = argparse.ArgumentParser(prog="bench/trace.py", description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="times each of ecnlab and tcptrace runs (default 5)")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="core that all runs are held to")
    options = parser.parse_args()
    missing = [name for name in ("tcptrace", "tshark") if not shutil.which(name)]
    if missing:
        print(
            f"bench: {' and '.join(missing)} missing: on Debian, apt-get install {' '.join(missing)}", file=sys.stderr
        )
        return 2
    with tempfile.TemporaryDirectory() as folder:
        ecnlab.run(SCENARIO, captures=folder)
        capture = str(Path(folder) / "bottleneck.pcapng")
        pinned = ["taskset", "--cpu-list", str(options.core)]
        commands = {
            "ecnlab": [*pinned, str(BINARY), "trace", capture],
            "tcptrace": [*pinned, "tcptrace", "-n", "-l", "-r", capture],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        packets = 0
        for _ in range(options.repeat):
            for name, command in commands.items():
                seconds, output = _timed(command)
                times[name].append(seconds)
                if name == "ecnlab":
                    packets = json.loads(output)["packets"]
        fields = [word for field in ECN_FIELDS for word in ("-e", field)]
        times["tshark"] = [_timed([*pinned, "tshark", "-n", "-r", capture, "-T", "fields", *fields])[0]]
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    ours = medians["ecnlab"]
    for name, median in medians.items():
        print(f"trace: {packets:,} packets: {name} {median:.3f} s, {median / ours:.1f} times ecnlab's", file=sys.stderr)
    print(json.dumps({"packets": packets, "core": options.core, "seconds": times}))
    return 0


def _timed(command: list[str]) -> tuple[float, bytes]:
    """Wall time of a whole process, start and reading included, and what it wrote."""
    began = time.perf_counter()
    output = subprocess.run(command, check=True, capture_output=True).stdout
    return time.perf_counter() - began, output


if __name__ == "__main__":
    sys.exit(main())
