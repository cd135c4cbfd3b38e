"""Where a packet's instructions go: those of c by stage, with five queues, and with CUBIC and AccECN, as a table and a figure.

    make stages

The program is compiled with line tables, so that callgrind attributes an inlined line to its own file; the stage is that of the file.
As in `instructions.py`, the slope between two run lengths leaves out the start.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
from instructions import LENGTHS, with_duration
from matplotlib import pyplot
from measuring import HERE, ROOT, execute
from perf import QUEUES, workload

FIGURE = ROOT / "docs" / "img" / "stages.svg"
TARGET = ROOT / "build" / "stages"
STAGES = {
    "event queue": r"engine/src/events",
    "simulation loop": r"engine/src/(sim|hosts|flow|signals|objects|ledger|balance|window|series|sojourns|transactions|stop)",
    "links and wires": r"engine/src/",
    "queue discipline": r"crates/aqm/",
    "TCP: arriving segments": r"crates/tcp/src/(input|receiver|flight|ecn|ack_sample|ranges)",
    "TCP: window and timers": r"crates/tcp/src/(cc|slow_start|recovery|rto|wheel|window)",
    "TCP: sending": r"crates/tcp/",
    "other crates of ecnlab": r"crates/",
    "standard library, inlined": r"/(library|rustc)/",
    "memory: malloc, memcpy": r"(malloc|memcpy|memmove|memset|string|\.S$)",
}
"""Stages, and what the path of a source file has; the first that matches counts."""
OTHER = "other"


def main() -> int:
    """Count, print the table, write the figure."""
    binary = build()
    text = (HERE / "c.toml").read_text()
    scenarios = {"red": text} | {name: workload(text, name) for name in [*QUEUES, "cubic-accecn"]}
    found = {}
    for name, scenario in scenarios.items():
        print(f"stages: {name}", file=sys.stderr, flush=True)
        found[name] = per_packet(binary, scenario)
    print("\n".join(table(found)))
    draw(found)
    return 0


def build() -> Path:
    """Return `ecnlab-bench` with the profile `quick` and line tables."""
    command = ["cargo", "build", "--profile=quick", "--quiet", "--package=ecnlab-bench", f"--target-dir={TARGET}"]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"CARGO_PROFILE_QUICK_DEBUG": "line-tables-only"})
    return TARGET / "quick" / "ecnlab-bench"


def per_packet(binary: Path, scenario: str) -> dict[str, float]:
    """Return the instructions of a delivered packet by stage."""
    (few, short), (many, long) = (counts(binary, with_duration(scenario, length)) for length in LENGTHS)
    return {stage: (long[stage] - short[stage]) / (many - few) for stage in [*STAGES, OTHER]}


def counts(binary: Path, scenario: str) -> tuple[int, Counter[str]]:
    """Return the delivered packets of a run, and its instructions by stage."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "scenario.toml"), Path(folder, "counts")
        file.write_text(scenario)
        run = execute(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--quiet", str(binary), str(file)]
        )
        return run.result()["packets"], by_stage(out.read_text())


def by_stage(text: str) -> Counter[str]:
    """Return the instructions by stage in a file of callgrind's, without those of calls."""
    names: dict[str, str] = {}
    found: Counter[str] = Counter()
    stage, of_call = OTHER, False
    for line in text.splitlines():
        place = re.match(r"(c?)f[lie]=\((\d+)\)(?: (.*))?$", line)
        if place:
            called, number, name = place.groups()
            names.setdefault(number, name)
            stage = stage if called else stage_of(names[number])
        elif line.startswith("calls="):
            of_call = True
        elif re.match(r"[+\-*\d]\S* \d+$", line):
            if not of_call:
                found[stage] += int(line.split()[1])
            of_call = False
    return found


def stage_of(path: str) -> str:
    """Return the stage of a source file."""
    return next((stage for stage, pattern in STAGES.items() if re.search(pattern, path)), OTHER)


def table(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the lines of a Markdown table: stages down, workloads across, totals last."""
    lines = [f"| stage | {' | '.join(found)} |", f"| --- |{' --- |' * len(found)}"]
    lines += [
        f"| {stage} | {' | '.join(f'{one[stage]:,.0f}' for one in found.values())} |" for stage in [*STAGES, OTHER]
    ]
    totals = " | ".join(f"{sum(one.values()):,.0f}" for one in found.values())
    return [*lines, f"| all | {totals} |"]


def draw(found: Mapping[str, Mapping[str, float]]) -> None:
    """Write the figure: a bar for each workload, divided by stage."""
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "ecnlab"}
    figure, axes = pyplot.subplots(figsize=(8, 3.6), layout="constrained")
    names, left = list(found), [0.0] * len(found)
    for number, stage in enumerate([*STAGES, OTHER]):
        values = [found[name][stage] for name in names]
        axes.barh(names, values, left=left, label=stage, color=mpl.colormaps["tab20"](number))
        left = [start + value for start, value in zip(left, values, strict=True)]
    axes.axvline(2_300, color="black", linewidth=0.8, linestyle="--", label="target with RED")
    axes.invert_yaxis()
    axes.set_xlabel("instructions per delivered packet")
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
