"""Speed and memory of ecnlab, next to the targets and the installed peers: docs/performance.md defines each row.

Prints a table to standard error and one JSON object to standard output, with a description of the machine. Without names all
kinds of measures are run except `million`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import batch
import captures
import commands
import dumbbells
import growth
import instructions
import machine
import memory
import ns3
import recording
import warm
from measuring import ROOT, Options, Row, table

KINDS: dict[str, Callable[[Options], list[Row]]] = {
    "ns2": dumbbells.rows,
    "ns3": ns3.rows,
    "instructions": instructions.rows,
    "bbr3": instructions.bbr3,
    "overflow": instructions.overflow,
    "growth": growth.rows,
    "memory": memory.rows,
    "start": commands.start,
    "sweep": commands.sweeps,
    "batch": batch.rows,
    "warm": warm.rows,
    "recording": recording.rows,
    "captures": captures.rows,
    "million": memory.million,
}
"""Kinds of measures by name, in the order of the table."""

ONLY_BY_NAME = {"million"}
"""Kinds that take too long or too much memory for every `make bench`."""


def main() -> int:
    """Run the kinds of measures, and print their rows."""
    arguments = _arguments()
    options = Options(arguments.repeat, arguments.core, arguments.binary, arguments.clock)
    rows = []
    for kind in chosen(arguments.kinds):
        print(f"bench: {kind}", file=sys.stderr, flush=True)
        try:
            rows += KINDS[kind](options)
        except subprocess.CalledProcessError as error:
            print(f"bench: {kind}: {error}\n{error.stderr}", file=sys.stderr)
            return 1
    print("\n".join(table(rows)), file=sys.stderr)
    settings = {"repeat": options.repeat, "core": options.core, "clock": options.clock}
    print(json.dumps({"machine": machine.describe(), **settings, "rows": [row.as_json() for row in rows]}))
    return 0


def chosen(kinds: Sequence[str]) -> list[str]:
    """Return the kinds to run, in the order of the table: those named, or all that need not be named."""
    return [kind for kind in KINDS if (kind in kinds if kinds else kind not in ONLY_BY_NAME)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--repeat", type=int, default=5, help="timed runs of each side; the median counts (default 5)")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="core of single-threaded runs")
    parser.add_argument(
        "--clock", choices=["wall", "cpu"], default="wall", help="elapsed or processor time (default wall)"
    )
    parser.add_argument(
        "--binary", type=Path, default=ROOT / "target" / "release" / "ecnlab-bench", help="ecnlab-bench"
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.kinds) - set(KINDS))
    if unknown:
        parser.error(f"no kind of measure is named {', '.join(unknown)}; there are {', '.join(KINDS)}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
