"""Reproduces the papers in the quick size with other base seeds, and compares the verdicts with those of the full size.

    make otherseeds                                  # all papers, a 7 before every base seed
    make otherseeds ARGS="--before 3 kadhum-hassan"

The rules of the quick size were chosen with the seeds of the papers' files (docs/papers.md). Other seeds test them. The
verdicts of the full size are those of quoted.json. What decides something else there than here is printed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

import polars as pl

from ecnlab.papers import sizes
from ecnlab.papers.registry import PAPERS, find
from ecnlab.papers.reproduction import reproduce

PLACE = Path(__file__).parents[3] / "build" / "otherseeds"
SEED = re.compile(r"^seed = (\d+)$", re.MULTILINE)


def main() -> None:
    """Reproduces and compares; the exit code is 1 if a verdict is contradicted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", default=list(PAPERS), help="all if none is named")
    parser.add_argument("--before", type=int, default=7, help="digits to put before every base seed (default: 7)")
    asked = parser.parse_args()
    contradicted = [row for paper in asked.papers for row in compare(paper, asked.before)]
    print("\n".join(contradicted) or "no verdict of the full size is contradicted")
    sys.exit(bool(contradicted))


def compare(paper: str, before: int) -> list[str]:
    """One line for each verdict of the full size that the quick one contradicts."""
    folder = with_seeds(paper, before)
    report = reproduce(folder, PLACE / str(before) / "results" / paper)
    quick = dict(pl.read_parquet(report.parent / "analysis" / "quick.parquet").iter_rows())
    full = sizes.of_full(folder)
    both = {name: {"quick": quick[name], "full": full[name]} for name in quick}
    decided = sum(verdict not in sizes.OPEN for verdict in quick.values())
    print(f"{paper}: {decided} of {len(quick)} verdicts decided", flush=True)
    return [f"{paper} {name}: {both[name]['quick']}, in full {both[name]['full']}" for name in sizes.contradicted(both)]


def with_seeds(paper: str, before: int) -> Path:
    """A copy of the paper's folder whose experiments have other base seeds."""
    folder = PLACE / str(before) / "papers" / paper
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(find(paper)[1], folder)
    for path in folder.glob("*.toml"):
        path.write_text(SEED.sub(rf"seed = {before}\1", path.read_text()))
    return folder


if __name__ == "__main__":
    main()
