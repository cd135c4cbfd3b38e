"""User and system time to start: `python -c pass`, `import ecnlab`, `ecnlab --help`, and a run of two seconds.

Prints a table to standard error and one JSON object to standard output. The commands take turns, so that other work on the
machine meets all of them; of each the least counts, as nothing makes a process need less than it needs. Python keeps the compiled
modules in a temporary folder, as pip does when it installs a package.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIBRARIES = "import numpy, polars"


def main() -> int:
    """Time each command."""
    options = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(Path(folder))
        times: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(options.repeat + 1):
            for name, command in commands.items():
                seconds = _cpu_seconds(command, Path(folder) / "compiled")
                if turn:  # the first reads files into memory, and compiles
                    times[name].append(seconds)
    least = {name: min(found) for name, found in times.items()}
    for name, found in times.items():
        print(f"{name:24} {min(found):6.3f} s   median {statistics.median(found):6.3f} s", file=sys.stderr)
    print(json.dumps({"repeat": options.repeat, "seconds": least}))
    return 0


def _commands(folder: Path) -> dict[str, list[str]]:
    ecnlab = [sys.executable, "-m", "ecnlab"]
    text = (ROOT / "examples" / "dumbbell.toml").read_text()
    scenario = folder / "small.toml"
    scenario.write_text(_with(_with(text, "duration", "2 s"), "warmup", "1 s"))
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        LIBRARIES: [sys.executable, "-c", LIBRARIES],
        "import ecnlab": [sys.executable, "-c", "import ecnlab"],
        "ecnlab --help": [*ecnlab, "--help"],
        "ecnlab run, 2 s": [*ecnlab, "run", str(scenario), "--out", str(folder / "run")],
    }


def _with(text: str, key: str, value: str) -> str:
    lines = text.splitlines()
    places = [place for place, line in enumerate(lines) if line.startswith(f"{key} = ")]
    lines[places[0]] = f'{key} = "{value}"'
    return "\n".join(lines) + "\n"


def _cpu_seconds(command: list[str], compiled: Path) -> float:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(compiled), "ECNLAB_CACHE": "off"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return used.ru_utime + used.ru_stime


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=20, help="turns of each command")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
