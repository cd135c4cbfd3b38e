"""Mutation testing: cargo-mutants changes the rules one place at a time, and the tests of the crate must notice.

    mutants.py PART ... [-- what cargo-mutants takes, such as --shard 1/8]

Parts: aqm, tcp, wire, trace. .cargo/mutants.toml says which files, and what is left out and why. A mutant that no test
notices must stand in survivors.toml with a reason; the exit code is 1 if one does not, or if one there is noticed by now.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = {
    "aqm": ["--lib"],
    "tcp": ["--lib"],
    "wire": ["--lib", "--test", "known_bytes"],
    "trace": ["--lib", "--test", "rules"],
}
"""Crates; which of their files, the configuration says. And the tests that look first: they are built in a third of the
time of all, and notice most. All tests look for what these miss."""
MISSED, CAUGHT = "MissedMutant", "CaughtMutant"
TESTED = {MISSED, CAUGHT, "Timeout"}
QUICK = {
    # Nearly all the time goes into builds.
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
}


def main() -> None:
    """Goes through the parts; the exit code is 1 if a survivor is not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    arguments, rest = parser.parse_known_args([argument for argument in sys.argv[1:] if argument != "--"])
    reasons = tomllib.loads((Path(__file__).parent / "survivors.toml").read_text())
    failed = [part for part in arguments.parts if not run(part, rest, reasons.get(part, {}))]
    if failed:
        sys.exit(f"not explained or no longer so: {', '.join(failed)}")


def run(part: str, rest: list[str], reasons: dict[str, str]) -> bool:
    """Mutates one part; whether its survivors are those with a reason."""
    ends = mutate(part, PARTS[part], rest)
    if MISSED in ends.values():
        ends |= mutate(part, ["--test", "*"], rest if "--iterate" in rest else [*rest, "--iterate"])
    tested = sum(end in TESTED for end in ends.values())
    missed = {name(mutant) for mutant, end in ends.items() if end == MISSED}
    survivors = sum(end == MISSED for end in ends.values())
    unexplained = missed - set(reasons)
    # Two changes of a function may have the same name, and one of them a reason.
    stale = {name(mutant) for mutant, end in ends.items() if end == CAUGHT} & set(reasons) - missed
    print(f"{part}: {tested} mutants, {survivors} survive, {len(unexplained)} of them without a reason")
    for mutant in sorted(unexplained):
        print(f"  no test notices: {mutant}")
    for mutant in sorted(stale):
        print(f"  noticed by now, take its reason away: {mutant}")
    return bool(ends) and not unexplained and not stale


def mutate(part: str, tests: list[str], rest: list[str]) -> dict[str, str]:
    """What became of each mutant before `tests`, by its name with its place."""
    out = ROOT / "build" / "mutants" / part
    out.mkdir(parents=True, exist_ok=True)
    command = ["cargo", "mutants", "--package", f"ecnlab-{part}", "--output", str(out), "--jobs", "1", *rest]
    # Behind `--` they would choose what runs, while all test binaries are built.
    command += [f"--cargo-arg={argument}" for argument in tests]
    subprocess.run(command, cwd=ROOT, env=os.environ | QUICK)
    outcomes = json.loads((out / "mutants.out" / "outcomes.json").read_text())["outcomes"]
    return {one["scenario"]["Mutant"]["name"]: one["summary"] for one in outcomes if one["scenario"] != "Baseline"}


def name(mutant: str) -> str:
    """A mutant by what it changes, without the line, which moves: file, function and change."""
    where, _, what = mutant.partition(": ")
    return f"{where.split(':')[0]}: {what}"


if __name__ == "__main__":
    main()
