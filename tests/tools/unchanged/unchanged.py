"""Compares the results of this checkout with those of another commit: every column of every run, every capture.

The other commit is built in ``build/unchanged/``. Both do the runs of the other commit's papers (quick size) and
examples; nothing is stored between two calls that could be blessed again. A column, a table or a capture that only one
side has is printed, and is no difference. Changes that were meant are in `changes.py`, each with what it may alter. The
exit code is 1 if anything differs for another reason.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from changes import CHANGES, Change

ROOT = Path(__file__).parents[3]
PLACE = ROOT / "build" / "unchanged"
SHOWN = 20
"""Differing columns that are printed; all are counted."""

BUT_FOR = " but for "
"""Stands in the name of a digest before the commit of the change that it leaves out."""

Digests = dict[str, dict[str, str]]
"""By the name of the run: the digest of each ``table.column``."""


def main() -> None:
    """Builds, runs both and compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--few", action="store_true", help="three points of each experiment, one replicate: a minute")
    given = parser.parse_args()
    base = built(given.base)
    before, after = (of_tree(tree, base, few=given.few) for tree in (base, ROOT))
    sys.exit(report(given.base, before, after))


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


def report(base: str, before: Digests, after: Digests) -> int:
    """Prints what differs, and returns the exit code."""
    if before.keys() != after.keys():
        print(f"other runs: {sorted(before.keys() ^ after.keys())[:SHOWN]}")
        return 1
    changes = [change for change in CHANGES if lies_between(change.commit, base)]
    differing = list(differences(before, after, changes))
    compared = sum(BUT_FOR not in column for run in before for column in before[run].keys() & after[run].keys())
    print(f"{len(before)} runs, {compared} columns and captures compared: {len(differing)} differ")
    for change in changes:
        places = [one.place for one in differing if one.change is change]
        print(f"  {len(places)} by {change.commit}: {change.about}: {change.reason}")
    unexplained = [one.place for one in differing if one.change is None]
    print(f"  {len(unexplained)} for no stated reason")
    for place in unexplained[:SHOWN]:
        print(f"    {place}")
    for run, columns in Counter(place.partition(":")[0] for place in unexplained).items():
        print(f"    {run}: {columns} columns")
    for name, one, other in (("gone", before, after), ("new", after, before)):
        if alone := sorted({column for run in one for column in one[run].keys() - other[run].keys()}):
            print(f"  {name}: {', '.join(alone)}")
    return 1 if unexplained or not compared else 0


@dataclass(frozen=True, slots=True)
class Difference:
    """A column or capture of a run that is not the same, and the change that explains it, if one does."""

    place: str
    change: Change | None


def differences(before: Digests, after: Digests, changes: Sequence[Change]) -> Iterator[Difference]:
    """Each run and column that both have, and that is not the same."""
    for run, columns in before.items():
        for column in sorted(columns.keys() & after[run].keys()):
            if BUT_FOR not in column and columns[column] != after[run][column]:
                yield Difference(f"{run}: {column}", explanation(column, columns, after[run], changes))


def explanation(column: str, before: dict[str, str], after: dict[str, str], changes: Sequence[Change]) -> Change | None:
    """The change without which a column that differs is the same on both sides."""
    for change in changes:
        apart = f"{column}{BUT_FOR}{change.commit}"
        if apart in before and before[apart] == after.get(apart):
            return change
    return None


def lies_between(commit: str, base: str) -> bool:
    """Whether this checkout has a commit that the base lacks. A clone without its history lacks all."""
    return is_in(commit, "HEAD") == 0 and is_in(commit, base) == 1


def is_in(commit: str, other: str) -> int:
    """What git answers to whether ``commit`` is ``other`` or before it: 0 yes, 1 no, or an error."""
    ancestor = ["git", "merge-base", "--is-ancestor", commit, other]
    return subprocess.run(ancestor, cwd=ROOT, stderr=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    main()
