"""Packets per second of ecnlab and of ns-2 on the same dumbbells, on one core, in one alternating run.

Prints a table to standard error and one JSON object to standard output.
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
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
DUMBBELL = ROOT / "tests" / "tools" / "crosscheck" / "dumbbell.tcl"
BINARY = ROOT / "target" / "release" / "ecnlab-bench"

# Scenario c: 100 Mbit/s, 50 flows. The keys are those of dumbbell.tcl; c.toml and d.toml say the same.
NS2_C = {
    "rate": 100e6, "delay": 0.016, "access_rate": 1e9, "access_delay": 0.002, "exit_rate": 1e9, "exit_delay": 0.002,
    "queue": "RED", "limit": 1000, "min_th": 100, "max_th": 300, "weight": 0.0002, "max_p": 0.1, "tcp": "Reno",
    "segment": 1460, "window": 2000, "ecn": 50, "start": 0, "spread": 1, "end": 100, "warmup": 0, "monitor": 0,
}  # fmt: skip
# Scenario d: 1 Gbit/s, 500 flows on 50 pairs of hosts, where ns-2 is faster than on 500.
NS2 = {
    "c": NS2_C,
    "d": NS2_C | {
        "rate": 1e9, "access_rate": 1e10, "exit_rate": 1e10, "limit": 10000, "min_th": 1000, "max_th": 3000,
        "weight": 0.00002, "ecn": 500, "hosts": 50, "end": 20,
    },
}  # fmt: skip


def main() -> int:
    """Time both simulators on each scenario."""
    options = _arguments()
    if not shutil.which("ns"):
        print("bench: ns-2 is missing: 'make crosscheck' installs it", file=sys.stderr)
        return 2
    commands = {
        name: {
            "ecnlab": [str(BINARY), str(HERE / f"{name}.toml"), "1"],
            "ns-2.35": ["ns", str(DUMBBELL), *_pairs(NS2[name] | {"seed": 1})],
        }
        for name in NS2
    }
    if options.instructions:
        results = {name: {side: _instructions(c) for side, c in sides.items()} for name, sides in commands.items()}
    else:
        results = {name: _alternate(sides, options.repeat, options.core) for name, sides in commands.items()}
    _print_table(results)
    print(json.dumps({"core": options.core, "repeat": options.repeat, "scenarios": results}))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7, help="runs of each simulator on each scenario (default 7)")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="core that all runs are held to")
    parser.add_argument(
        "--instructions", action="store_true", help="count instructions per packet with valgrind instead of timing"
    )
    return parser.parse_args()


def _pairs(options: dict[str, object]) -> list[str]:
    return [word for key, value in options.items() for word in (f"-{key}", str(value))]


def _run(command: list[str]) -> tuple[float, int]:
    """Run one simulation; return the seconds of its event loop and the data packets it delivered."""
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    packets = result["packets"] if "packets" in result else sum(g["acked"] for g in result["groups"].values())
    return result["wall_s"], packets


def _alternate(sides: dict[str, list[str]], repeat: int, core: int) -> dict[str, Any]:
    """Run the sides in turn, so that whatever else the machine does falls on both."""
    runs: dict[str, list[tuple[float, int]]] = {side: [] for side in sides}
    for _ in range(repeat):
        for side, command in sides.items():
            runs[side].append(_run(["taskset", "--cpu-list", str(core), *command]))
    result: dict[str, Any] = {}
    for side, timed in runs.items():
        rates = [packets / wall for wall, packets in timed]
        result[side] = {
            "packets_per_second": statistics.median(rates),
            "slowest": min(rates),
            "fastest": max(rates),
            "packets": timed[0][1],
        }
    return result


def _instructions(command: list[str]) -> dict[str, float]:
    """Count the instructions of a whole run, set-up included, per delivered packet."""
    with tempfile.TemporaryDirectory() as folder:
        counted = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--quiet", *command]
        _, packets = _run(counted)
        totals = next(line for line in Path(folder, "out").read_text().splitlines() if line.startswith("summary:"))
    return {"instructions_per_packet": int(totals.split()[1]) / packets, "packets": packets}


def _print_table(results: dict[str, dict[str, Any]]) -> None:
    for name, sides in results.items():
        measure = next(iter(sides["ecnlab"]))
        ours, theirs = sides["ecnlab"][measure], sides["ns-2.35"][measure]
        sides["times_ns2"] = ratio = ours / theirs if measure == "packets_per_second" else theirs / ours
        label = measure.replace("_", " ")
        print(f"{name}: {label}: ecnlab {ours:,.0f}, ns-2.35 {theirs:,.0f}: {ratio:.2f} times", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
