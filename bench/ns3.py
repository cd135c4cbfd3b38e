"""Delivered packets per second on c relative to ns-3, on one core, in turn.

The peer is `peers/ns3_dumbbell.cc`, c in ns-3 without what only takes time; it is compiled with `-O3` against Debian's ns-3.
Both simulate the same 20 s, because ns-3 takes minutes for c's 100. Timed is the event loop of both; with ``--clock cpu`` the
processor time of the whole processes counts.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from dumbbells import rate
from instructions import with_duration
from measuring import HERE, ROOT, Options, Row, alternate, execute, medians, missing

SOURCE = HERE / "peers" / "ns3_dumbbell.cc"
HEADERS = Path("/usr/include/ns3")
MODULES = ("applications", "internet", "point-to-point", "traffic-control", "network", "core")
SECONDS = 20
MEASURE, TARGET = "c: packets/s relative to ns-3", 220.0


def rows(options: Options) -> list[Row]:
    """Return one row: packets per second relative to ns-3."""
    program = "ns-3" if shutil.which("g++") else "g++"
    if program == "g++" or not HEADERS.is_dir():
        return [missing(MEASURE, program, "libns3-dev and g++", TARGET, unit="x", at_most=False)]
    peer = compiled()
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder, "c.toml")
        scenario.write_text(with_duration((HERE / "c.toml").read_text(), f"{SECONDS} s"))
        commands = {
            "ecnlab": options.bench(scenario, 1),
            "ns-3": options.pinned([str(peer), str(SECONDS), "1"]),
        }
        rates = alternate({side: rate(command, options.clock) for side, command in commands.items()}, options.repeat)
    middle = medians(rates)
    return [Row(MEASURE, middle["ecnlab"] / middle["ns-3"], TARGET, "x", False, details={"packets_per_second": rates})]


def compiled() -> Path:
    """Return the peer's program, compiled in `build/` unless it is newer than its source."""
    program = ROOT / "build" / "peers" / "ns3_dumbbell"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        libraries = [f"-lns3-{module}" for module in MODULES]
        execute(["g++", "-std=c++17", "-O3", "-o", str(program), str(SOURCE), *libraries])
    return program
