"""Instructions of eleven fixed workloads, compared with stored figures: fails if one takes 3 % more than `bench/perf.json` has.

Nine are four seconds of bench c's network, with five queues and four other senders; one has thousands of holes at once, and the last is
the analysis of a capture.
Counts are Valgrind's, so that the machine's speed and load do not matter. They do depend on the compiler: with another
version of rustc than the stored figures have, nothing is compared. `--write` stores new figures: the commit that does so
states why.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BINARY = HERE.parent / "target" / "quick" / "ecnlab-bench"
STORED = HERE / "perf.json"
MARGIN = 0.03
"""Part of a stored figure by which a workload may exceed it."""

DURATION = "4 s"
"""Simulated time."""

QUEUES = {
    "droptail": 'discipline = "droptail"\nlimit = "300 packets"',
    "fq_codel": 'discipline = "fq_codel"\necn = true',
    "dualpi2": 'discipline = "dualpi2"',
    "cake": 'discipline = "cake"',
}
"""Keys of the bottleneck's queue in place of RED's."""

SENDERS = {
    "cubic-accecn": ("red", 'congestion = "cubic"\necn = "accecn"\nrecovery = "sack"\ndsack = true'),
    "prague": ("dualpi2", 'profile = "linux-7"\ncongestion = "prague"\necn = "accecn"\ndsack = true'),
    "bbr": ("droptail", 'profile = "linux-7"\ncongestion = "bbr"'),
    "bbr3": ("droptail", 'profile = "linux-7"\ncongestion = "bbr3"'),
}
"""Queues and keys of the senders in place of Reno's with the ECN of RFC 2481."""


def main() -> int:
    """Count, print a line for each workload, and compare or store."""
    parser = argparse.ArgumentParser(prog="make perf", description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store the figures in bench/perf.json")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("perf: valgrind is missing: on Debian, apt-get install valgrind", file=sys.stderr)
        return 2
    found = {"rustc": _rustc(), "workloads": count()}
    if options.write:
        STORED.write_text(json.dumps(found, indent=2) + "\n")
        return 0
    lines, failed = compare(found, json.loads(STORED.read_text()))
    print("\n".join(lines))
    return int(failed)


def compare(found: dict[str, Any], stored: dict[str, Any]) -> tuple[list[str], bool]:
    """Return a line for each workload of ``found``, and whether one takes too many instructions or has no stored figure."""
    if found["rustc"] != stored["rustc"]:
        return [f"perf: not compared: the figures are of {stored['rustc']}, this compiler is {found['rustc']}"], False
    lines, failed = [f"{'workload':14}{'per packet':>12}{'stored':>10}{'change':>9}"], False
    for name, now in found["workloads"].items():
        before = stored["workloads"].get(name)
        if before is None:
            lines.append(f"{name:14} has no stored figure: make perf ARGS=--write")
            failed = True
            continue
        per_packet, was = (one["instructions"] / one["packets"] for one in (now, before))
        change = per_packet / was - 1
        too_many = change > MARGIN
        failed |= too_many
        note = f"  more than {MARGIN:.0%}: make perf ARGS=--write, with the reason in the commit" if too_many else ""
        note += (
            "" if now["packets"] == before["packets"] else f"  {before['packets']} packets before, {now['packets']} now"
        )
        lines.append(f"{name:14}{per_packet:12,.0f}{was:10,.0f}{change:+9.2%}{note}")
    return lines, failed


def count() -> dict[str, dict[str, int]]:
    """Return instructions and packets of each workload."""
    with tempfile.TemporaryDirectory() as folder:
        commands = _commands(Path(folder))
        with ThreadPoolExecutor(2) as pool:
            return dict(zip(commands, pool.map(_count, commands.values()), strict=True))


def _commands(folder: Path) -> dict[str, list[str]]:
    """Return the arguments of `ecnlab-bench` for each workload; scenarios and the capture are in ``folder``."""
    text = re.sub(r"^duration = .*", f'duration = "{DURATION}"', (HERE / "c.toml").read_text(), flags=re.M)
    texts = {"red": text} | {name: workload(text, name) for name in [*QUEUES, *SENDERS]}
    commands = {}
    for name, scenario in texts.items():
        path = folder / f"{name}.toml"
        path.write_text(scenario)
        commands[name] = [str(path)]
    return commands | {"holes": [str(HERE / "holes.toml")], "trace": ["trace", _capture(folder)]}


def workload(text: str, name: str) -> str:
    """Return the scenario ``text`` of bench c with the queue or the sender of this workload, and the sender's queue."""
    if name in QUEUES:
        return with_table(text, "queue.red", QUEUES[name])
    queue, keys = SENDERS[name]
    return with_sender(workload(text, queue) if queue in QUEUES else text, keys)


def with_sender(text: str, keys: str) -> str:
    """Return the scenario with other keys in ``[tcp.ecn]``, and the segments and receive window of bench c."""
    return with_table(text, "tcp.ecn", keys + '\nmss = "1460 B"\nreceive_buffer = "2920000 B"')


def with_table(text: str, table: str, keys: str) -> str:
    """Return the scenario with other keys in ``[table]``."""
    replaced, n = re.subn(rf"^\[{re.escape(table)}\]\n(?:[^\[\n].*\n)*", f"[{table}]\n{keys}\n", text, flags=re.M)
    assert n == 1, f"c.toml has {n} tables [{table}]"
    return replaced


def _capture(folder: Path) -> str:
    import ecnlab
    from ecnlab.scenario.files import read_scenario

    scenario = read_scenario(HERE / "trace.toml").with_overrides({"duration": DURATION})
    ecnlab.run(scenario, 1, captures=folder)
    return str(folder / "bottleneck.pcapng")


def _count(arguments: list[str]) -> dict[str, int]:
    """Run `ecnlab-bench` once under Valgrind."""
    # The analysis of a capture uses two threads if it may; the cost of their exchange varies.
    pinned = ["taskset", "--cpu-list", str(max(os.sched_getaffinity(0)))] if arguments[0] == "trace" else []
    counted = [
        *pinned,
        "valgrind",
        "--tool=cachegrind",
        "--cache-sim=no",
        "--cachegrind-out-file=/dev/null",
        str(BINARY),
        *arguments,
    ]
    run = subprocess.run(counted, check=True, capture_output=True, text=True)
    (total,) = re.findall(r"I\s+refs:\s+([\d,]+)", run.stderr)
    return {"instructions": int(total.replace(",", "")), "packets": json.loads(run.stdout.splitlines()[-1])["packets"]}


def _rustc() -> str:
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
