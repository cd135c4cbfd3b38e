"""Short runs in a batch, each reduced to one metric: time of a run in one thread, and 1,000 runs from command to table.

- Time of a run: (time of 400 runs - time of 200) / 200 in one thread of one process, so that the start of Python does not count.
- 1,000 runs: `ecnlab batch` of an experiment of two arms with 500 replicates, two threads, with the table as CSV.

A run of 6,600 packets is 4 s of examples/dumbbell.toml; a nearly empty one has 30 pairs of hosts, each with a transfer of 3 kB, in 10 s.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from measuring import ROOT, Options, Row, execute

SCENARIO: Final = ROOT / "examples" / "dumbbell.toml"

PACKETS: Final = {"duration": "4 s", "warmup": "1 s"}
EMPTY: Final = {
    "duration": "10 s",
    "warmup": "1 s",
    "node.source.count": 30,
    "node.sink.count": 30,
    "flow.bulk.count": 30,
    "flow.bulk.traffic": {"kind": "ftp", "size": "3 kB"},
}

PROGRAM: Final = """
import json, sys, time, ecnlab
scenario, overrides = sys.argv[1], json.loads(sys.argv[2])
metrics = {"goodput": {"table": "flows", "column": "goodput_bps", "aggregate": "sum"}}
def seconds(runs):
    began = time.perf_counter()
    ecnlab.batch(scenario, [overrides], seeds=range(runs), metrics=metrics, threads=1)
    return time.perf_counter() - began
seconds(10)
print((seconds(400) - seconds(200)) / 200)
"""


def rows(options: Options) -> list[Row]:
    """Return the time of a run of each kind, and of 1,000 small runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packets, empty = (_run(options, folder, overrides) for overrides in (PACKETS, EMPTY))
        thousand = [_thousand(folder) for _ in range(options.repeat)]
    return [
        Row("a run of 6,600 packets in a batch", packets * 1e3, 6.0, "ms"),
        Row("a nearly empty run (30 pairs of hosts, 10 s) in a batch", empty * 1e3, 1.5, "ms"),
        Row("1,000 small runs, two threads: command to table", statistics.median(thousand), 5.0, "s"),
    ]


def _run(options: Options, folder: Path, overrides: dict[str, Any]) -> float:
    """Return the seconds of a run: the median of all repetitions."""
    command = options.pinned([sys.executable, "-c", PROGRAM, str(SCENARIO), json.dumps(overrides)])
    return statistics.median(float(execute(command, folder).output) for _ in range(options.repeat))


def _thousand(folder: Path) -> float:
    settings = "\n".join(f'"{key}" = {_toml(value)}' for key, value in EMPTY.items())
    path = folder / "small.toml"
    path.write_text(
        f'format = 1\nscenario = "{SCENARIO}"\nreplicates = 500\n[set]\n{settings}\n'
        '[arm.ecn]\nset = {}\n[arm.plain]\nset = { "tcp.default.ecn" = "off" }\n'
        '[metrics]\ngoodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }\n'
    )
    return execute([sys.executable, "-m", "ecnlab", "batch", str(path), "--workers", "2"], folder).wall


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(value)
