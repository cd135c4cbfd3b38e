"""Mutation testing: cargo-mutants names changes of the rules, one place at a time, and the tests of the crate must notice.

    mutants.py PART ... [--file FILE ...]

Parts: aqm, tcp, wire, trace. With --file only the mutants of these files (crates/aqm/src/laws/red/curve.rs). .cargo/mutants.toml
says which files there are, and what is left out and why. All mutants of a crate are in one build (switched.py) but those that
no test run can switch on, which cargo-mutants builds one at a time. A mutant that no test notices must stand in
survivors.toml with a reason; the exit code is 1 if one does not, or if one there is noticed by now. Changes of a function
that have the same name have one reason, with their number in front: "(2) ...".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import switched

ROOT = Path(__file__).parents[3]
PARTS = ("aqm", "tcp", "wire", "trace")
"""Crates; which of their files, the configuration says."""
LEAST_SECONDS = 30
"""A mutant in a build of its own loops if its tests take longer, at the least."""
TESTED = {switched.MISSED, switched.CAUGHT, switched.TIMEOUT}
QUICK = {
    # Nearly all the time goes into builds.
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
    **switched.ONCE,
}


def main() -> None:
    """Goes through the parts; the exit code is 1 if a survivor is not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="test runs at a time")
    parser.add_argument("--file", action="append", default=[], metavar="FILE", help="mutate only this file")
    arguments = parser.parse_args()
    reasons = tomllib.loads((Path(__file__).parent / "survivors.toml").read_text())
    failed = [part for part in arguments.parts if not run(part, reasons.get(part, {}), arguments.jobs, arguments.file)]
    if failed:
        sys.exit(f"not explained or no longer so: {', '.join(failed)}")


def run(part: str, reasons: dict[str, str], jobs: int, files: list[str]) -> bool:
    """Mutates one crate, or some of its files; whether the survivors are those with a reason."""
    ends, rest = switched.mutate(ROOT, part, ROOT / "build" / "mutants" / part, jobs, files)
    if rest:
        ends |= one_at_a_time(part, rest)
    tested = sum(end in TESTED for end in ends.values())
    missed = Counter(name(mutant) for mutant, end in ends.items() if end == switched.MISSED)
    explained = Counter({mutant: times(reason) for mutant, reason in reasons.items()})
    unexplained = missed - explained
    tried = {name(mutant) for mutant, end in ends.items() if end in TESTED}
    stale = {mutant: more for mutant, more in (explained - missed).items() if mutant in tried}
    print(f"{part}: {tested} mutants, {missed.total()} survive, {unexplained.total()} of them without a reason")
    for mutant, more in sorted(unexplained.items()):
        print(f"  no test notices: {mutant} ({more})")
    for mutant, more in sorted(stale.items()):
        print(f"  noticed by now, take its reason away: {mutant} ({more})")
    return bool(ends) and not unexplained and not stale


def times(reason: str) -> int:
    """How many changes of one name a reason is for: in front of it, in brackets, where there are several."""
    found = re.match(r"\((\d+)\) ", reason)
    return int(found[1]) if found else 1


def one_at_a_time(part: str, names: list[str]) -> dict[str, str]:
    """What became of each of these mutants, by its name with its place, each in a build of its own."""
    out = ROOT / "build" / "mutants" / part / "one-at-a-time"
    out.mkdir(parents=True, exist_ok=True)
    command = ["cargo", "mutants", "--no-config", "--package", f"ecnlab-{part}", "--output", str(out), "--jobs", "1"]
    command += [f"--minimum-test-timeout={LEAST_SECONDS}"]
    # `--re` lets pass mutants that take a field away: of other files by `--file`, which is without effect next to a configuration.
    command += [f"--file={file}" for file in sorted({name.partition(":")[0] for name in names})]
    command += ["--re", f"^({'|'.join(re.escape(name) for name in names)})$"]
    # Behind `--` they would choose what runs, while all test binaries are built.
    command += [f"--cargo-arg={argument}" for argument in ("--lib", "--tests")]
    subprocess.run(command, cwd=ROOT, env=os.environ | QUICK)
    outcomes = json.loads((out / "mutants.out" / "outcomes.json").read_text())["outcomes"]
    ends = {one["scenario"]["Mutant"]["name"]: one["summary"] for one in outcomes if one["scenario"] != "Baseline"}
    return {name: ends[name] for name in names}


def name(mutant: str) -> str:
    """A mutant by what it changes, without the line, which moves: file, function and change."""
    where, _, what = mutant.partition(": ")
    return f"{where.split(':')[0]}: {what}"


if __name__ == "__main__":
    main()
