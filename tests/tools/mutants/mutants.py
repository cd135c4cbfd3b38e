"""Mutation testing: cargo-mutants changes the rules one place at a time, and the tests of the crate must notice.

    mutants.py PART ... [--file FILE ...] [--shard K/N]

Parts: aqm, tcp, wire, trace. With --file only the mutants of these files (crates/aqm/src/laws/red/curve.rs), with --shard the K-th
of N parts. .cargo/mutants.toml has the files, and what is left out and why. A mutant that no test notices must stand in
survivors.toml with a reason; the exit code is 1 if one does not, or if a test notices one that does. Changes of a function
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

ROOT = Path(__file__).parents[3]
PARTS = ("aqm", "tcp", "wire", "trace")
"""Crates; the configuration has their files."""
MISSED = "MissedMutant"
TESTED = {MISSED, "CaughtMutant", "Timeout"}
"""Outcomes in the words of cargo-mutants."""
TEXT = re.compile("delete field (name|label|summary|reference) from struct Facts")
"""Mutants without text for people, which no rule reads: `exclude_re` does not apply to them."""
QUICK = {
    # Nearly all the time goes into builds.
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
}


def main() -> None:
    """Goes through the parts; the exit code is 1 if a survivor is not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--file", action="append", default=[], metavar="FILE", help="mutate only this file")
    parser.add_argument("--shard", metavar="K/N", help="the K-th of N parts of the mutants, from 0")
    arguments = parser.parse_args()
    reasons = tomllib.loads((Path(__file__).parent / "survivors.toml").read_text())
    # The configuration's files would be taken in addition to these.
    options = ["--no-config", *(f"--file={file}" for file in arguments.file)] if arguments.file else []
    options += [f"--shard={arguments.shard}"] if arguments.shard else []
    failed = [part for part in arguments.parts if not explained(outcomes(part, options), reasons.get(part, {}), part)]
    if failed:
        sys.exit(f"not explained or no longer so: {', '.join(failed)}")


def outcomes(part: str, options: list[str]) -> dict[str, str]:
    """The outcome of each mutant of a crate, by its name with its place."""
    out = ROOT / "build" / "mutants" / part
    out.mkdir(parents=True, exist_ok=True)
    command = ["cargo", "mutants", "--package", f"ecnlab-{part}", "--output", out, "--jobs", "1", *options]
    # The tests of `make slow`, too.
    command += ["--cargo-arg=--lib", "--cargo-arg=--tests", "--", "--", "--include-ignored"]
    subprocess.run(command, cwd=ROOT, env=os.environ | QUICK)
    found = json.loads((out / "mutants.out" / "outcomes.json").read_text())["outcomes"]
    mutants = {one["scenario"]["Mutant"]["name"]: one["summary"] for one in found if one["scenario"] != "Baseline"}
    return {mutant: end for mutant, end in mutants.items() if not TEXT.search(mutant)}


def explained(ends: dict[str, str], reasons: dict[str, str], part: str) -> bool:
    """Whether the mutants that no test notices are those with a reason; prints the others."""
    tested = [mutant for mutant, end in ends.items() if end in TESTED]
    missed = Counter(name(mutant) for mutant in tested if ends[mutant] == MISSED)
    expected = Counter({mutant: times(reason) for mutant, reason in reasons.items()})
    tried = Counter(name(mutant) for mutant in tested)
    unexplained = missed - expected
    noticed = {mutant: more for mutant, more in (expected - missed).items() if tried[mutant] >= expected[mutant]}
    print(f"{part}: {len(tested)} mutants, {missed.total()} survive, {unexplained.total()} of them without a reason")
    for mutant, more in sorted(unexplained.items()):
        print(f"  no test notices: {mutant} ({more})")
    for mutant, more in sorted(noticed.items()):
        print(f"  a test notices it, remove its reason: {mutant} ({more})")
    return bool(ends) and not unexplained and not noticed


def times(reason: str) -> int:
    """The number of changes of one name that a reason applies to: in front of it, in brackets, if there are several."""
    found = re.match(r"\((\d+)\) ", reason)
    return int(found[1]) if found else 1


def name(mutant: str) -> str:
    """A mutant by what it changes, without the line, which moves: file, function and change."""
    where, _, what = mutant.partition(": ")
    return f"{where.split(':')[0]}: {what}"


if __name__ == "__main__":
    main()
