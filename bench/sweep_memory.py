"""The largest memory of a sweep of few runs and of very many: docs/reliability.md has its table.

The runs are the shortest there are, so that the process that sweeps has the most to keep beside them. The last sweep is long:
name fewer runs for an answer in a minute or two.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

SCENARIO = """\
format = 1
title = "two flows, one pipe"
duration = "2 ms"
warmup = "1 ms"
profile = "modern"

link.pipe = { from = "r1", to = "r2", rate = "2 Mbps", delay = "10 ms", queue = "red" }
link.left = { from = "server", to = "r1", rate = "10 Mbps", delay = "1 ms" }
link.right = { from = "r2", to = "client", rate = "10 Mbps", delay = "1 ms" }
flow.bulk = { from = "server", to = "client", traffic = "ftp", count = 2 }

[queue.red]
discipline = "red"
limit = "60 packets"
min_th = "5 packets"
max_th = "15 packets"
max_p = 0.1
weight = 0.002
ecn = true
"""

EXPERIMENT = """\
format = 1
title = "many short runs"
scenario = "pipe.toml"
replicates = 1
seed = 1

grid.max_p = { path = "queue.red.max_p", values = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1] }
arm.marks = { set = {} }
arm.drops = { set = { "queue.red.ecn" = false } }

[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "mean" }
"""

SWEEP = """\
import resource, sys, ecnlab
ecnlab.sweep("many.toml", "out", replicates=int(sys.argv[1]), cache=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    """Prints megabytes for each number of runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", type=int, default=[60, 5_000, 50_000], help="numbers of runs, by twenties")
    for runs in parser.parse_args().runs:
        print(f"{runs:>7,} runs {megabytes(runs):>6.0f} MB", flush=True)


def megabytes(runs: int) -> float:
    """The largest memory of the process that does a sweep of so many runs."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pipe.toml").write_text(SCENARIO)
        Path(folder, "many.toml").write_text(EXPERIMENT)
        command = [sys.executable, "-c", SWEEP, str(runs // 20)]
        return float(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
