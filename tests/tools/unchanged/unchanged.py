"""Compares the results of this checkout with those of another commit: every column of every run, every capture.

The other commit is built in ``build/unchanged/``. Both do the runs of the other commit's papers (quick size) and
examples; nothing is stored between two calls that could be blessed again. A column, a table or a capture that only one
side has is told, and is no difference. The exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
PLACE = ROOT / "build" / "unchanged"
SHOWN = 20
"""Differing columns that are printed; all are counted."""

Digests = dict[str, dict[str, str]]
"""By the name of the run: the digest of each ``table.column``."""


def main() -> None:
    """Builds, runs both and compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--few", action="store_true", help="three points of each experiment, one replicate: a minute")
    given = parser.parse_args()
    base = built(given.base)
    digests = [of_tree(tree, base, few=given.few) for tree in (base, ROOT)]
    sys.exit(told(*digests))


def built(commit: str) -> Path:
    """The tree of a commit with its environment."""
    name = subprocess.run(
        ["git", "rev-parse", "--verify", f"{commit}^{{commit}}"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    tree = PLACE / name
    if not tree.exists():
        tree.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", name], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x"], cwd=tree, check=True, input=archive)
    subprocess.run(["make", "build"], cwd=tree, check=True, env={**os.environ, "VIRTUAL_ENV": ""})
    return tree


def of_tree(tree: Path, root: Path, *, few: bool) -> Digests:
    """The digests of the runs of ``root`` by the ecnlab of ``tree``."""
    print(f"runs of {'this checkout' if tree == ROOT else tree.name[:9]}", file=sys.stderr)
    out = PLACE / "digests.jsonl"
    digests = Path(__file__).with_name("digests.py")
    subprocess.run([tree / ".venv/bin/python", digests, root, out, *(["--few"] if few else [])], check=True)
    found = [json.loads(line) for line in out.read_text().splitlines()]
    return {line.pop("run"): line for line in found}


def told(before: Digests, after: Digests) -> int:
    """Prints what differs, and returns the exit code."""
    if before.keys() != after.keys():
        print(f"other runs: {sorted(before.keys() ^ after.keys())[:SHOWN]}")
        return 1
    differing = list(differences(before, after))
    compared = sum(len(before[run].keys() & after[run].keys()) for run in before)
    print(f"{len(before)} runs, {compared} columns and captures compared: {len(differing)} differ")
    for line in differing[:SHOWN]:
        print(f"  {line}")
    for run, columns in Counter(line.partition(":")[0] for line in differing).items():
        print(f"  {run}: {columns} columns")
    for name, one, other in (("gone", before, after), ("new", after, before)):
        if alone := sorted({column for run in one for column in one[run].keys() - other[run].keys()}):
            print(f"  {name}: {', '.join(alone)}")
    return 1 if differing or not compared else 0


def differences(before: Digests, after: Digests) -> Iterator[str]:
    """Each run and column that both have, and that is not the same."""
    for run, columns in before.items():
        for column in sorted(columns.keys() & after[run].keys()):
            if columns[column] != after[run][column]:
                yield f"{run}: {column}"


if __name__ == "__main__":
    main()
