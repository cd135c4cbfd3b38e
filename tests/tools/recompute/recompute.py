"""Computes verdicts of RFC 2884's report again from its stored tables, by other code, and compares.

    make recompute                                    # ten of results/rfc2884
    make recompute ARGS="results/rfc2884 --seed 7 --count 20"
    make recompute ARGS="results/rfc2884 --all"

Nothing of ecnlab is imported: polars reads the tables of the runs, scipy makes the intervals, and the rules of docs/papers.md are
written a second time. What was printed, and each metric's kind, margin and bounds, are read from the paper's data files. Exits
with 1 if a value, an interval or a verdict is another.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measures import RECIPES
from rules import Point, outcome, point, seeds, size, together, trend, verdict
from tables import Results

PAPER = Path(__file__).parents[3] / "papers" / "rfc2884"
NEAR = 1e-6
"""Part of itself, and of its interval's width, by which a value may differ: sums in another order."""

LOADS = {"low": 2.0, "moderate": 5.0, "high": 10.0}
"""Background transfers of RFC 2884's levels of congestion (section 4.3)."""


class Paper:
    """What the RFC printed, and a results folder of it."""

    def __init__(self, folder: Path) -> None:
        self.results = Results(folder)
        self.stored: dict[str, Any] = json.loads((folder / "results.json").read_text())
        self.printed = tomllib.loads((PAPER / "published.toml").read_text())
        self.metrics: dict[str, Any] = tomllib.loads((PAPER / "metrics.toml").read_text())["metric"]
        self.full: bool = self.stored.get("full", True)
        self._measured: dict[str, pl.DataFrame] = {}

    def entries(self) -> list[dict[str, Any]]:
        """All numbers and claims that there is a recipe for."""
        return [entry for entry in self.all() if entry["metric"] in RECIPES]

    def all(self) -> list[dict[str, Any]]:
        """All numbers and claims."""
        return [*self.printed["number"], *self.printed["claim"]]

    def rows(self, entry: dict[str, Any]) -> list[dict[str, Any]]:
        """What the report says of an entry."""
        return [row for row in self.stored["claims" if "test" in entry else "numbers"] if row["id"] == entry["id"]]

    def at(self, entry: dict[str, Any]) -> pl.DataFrame:
        """The values of an entry's metric, one a seed, where it is measured."""
        name = entry["metric"]
        if name not in self._measured:
            self._measured[name] = RECIPES[name](self.results)
        frame = self._measured[name]
        for key, label in {**self.printed.get("where", {}), **entry["where"]}.items():
            labels = label if isinstance(label, list) else [label]
            frame = (
                frame.filter(pl.col(key).is_in(labels))
                if key in frame.columns
                else frame
                if labels == [""]
                else frame.clear()
            )
        return frame


def differences(paper: Paper, entry: dict[str, Any]) -> Iterator[str]:
    """How an entry computed again differs from the report; nothing if it does not."""
    rows, frame, metric = paper.rows(entry), paper.at(entry), paper.metrics[entry["metric"]]
    size(paper.full)
    if "axis" in entry:
        yield from _along(rows[0], frame, metric, entry, paper.full)
        return
    found = {place: point(*_columns(group), metric) for place, group in _places(frame)}
    if len(found) != len(rows):
        yield f"{len(found)} places, the report has {len(rows)}"
        return
    if "test" not in entry:
        (here,) = found.values()
        margin = entry.get("margin", metric.get("margin", 0.0))
        yield from _compared(here, rows[0])
        yield from _other(
            "verdict", verdict(here, entry["value"], margin, metric.get("neutral"), not paper.full), rows[0]["verdict"]
        )
        return
    for place, row in _matched(found, rows, entry["id"]):
        yield from _compared(place, row)
        yield from _other("outcome", outcome(place, entry), row["outcome"])
    yield from _other("answer", together([outcome(here, entry) for here in found.values()]), rows[0]["answer"])


def _along(
    row: dict[str, Any], frame: pl.DataFrame, metric: dict[str, Any], entry: dict[str, Any], full: bool
) -> Iterator[str]:
    labels = sorted(frame[entry["axis"]].unique(), key=_score)
    whole = pl.col(entry["axis"]).n_unique().over("replicate") == len(labels)
    frame = frame.filter(whole)  # only seeds that all labels have
    columns = np.column_stack([seeds(*_columns(frame.filter(pl.col(entry["axis"]) == x)), metric) for x in labels])
    slope, answer, reach = trend([math.log2(_score(label)) for label in labels], columns, entry)
    yield from _compared(slope, row)
    yield from _other("answer", "undecided" if answer == "partly" and not full else answer, row["answer"])
    if answer == "partly" and reach and labels[reach - 1] not in row["upto"]:
        yield f"up to {labels[reach - 1]}, the report has {row['upto']!r}"


def _matched(found: dict[Any, Point], rows: list[dict[str, Any]], name: str) -> Iterator[tuple[Point, dict[str, Any]]]:
    """Places with the report's rows: by the labels in a row's ``place``."""
    for row in rows:
        words = row["place"].split(", ") if row["place"] else []
        told = {place: _told(place, found) for place in found}
        same = [place for place in found if sorted(words) == sorted(told[place])]
        if len(same) > 1:  # the same numbers on other axes
            same = [place for place in same if _numbers(words) == _numbers(told[place])]
        here = [found[place] for place in same]
        if len(here) != 1:
            raise LookupError(f"{name}: {len(here)} places are called {row['place']!r}")
        yield here[0], row


def _numbers(words: list[str]) -> list[str]:
    return [word for word in words if word[:1].isdigit()]


def _told(place: Any, found: dict[Any, Point]) -> list[str]:
    """The labels of a place that differ from one place to another."""
    varying = [i for i in range(len(place)) if len({other[i] for other in found}) > 1]
    return [label for i in varying for label in place[i].split(", ") if label]


def _places(frame: pl.DataFrame) -> Iterator[tuple[Any, pl.DataFrame]]:
    keys = [name for name in frame.columns if name not in ("replicate", "value", "other")]
    return iter(frame.group_by(keys, maintain_order=True)) if keys else iter([((), frame)])


def _columns(group: pl.DataFrame) -> tuple[np.ndarray, np.ndarray | None]:
    ordered = group.sort("replicate")
    if ordered["replicate"].is_duplicated().any():
        raise LookupError("more than one value of a seed: the place is not told completely")
    return ordered["value"].to_numpy(), ordered["other"].to_numpy() if "other" in ordered.columns else None


def _score(label: str) -> float:
    return LOADS.get(label) or float(label.split()[0])


def _compared(here: Point, row: dict[str, Any]) -> Iterator[str]:
    room = here.high - here.low if math.isfinite(here.high - here.low) else 0.0
    for name in ("mean", "low", "high"):
        mine, theirs = getattr(here, name), row[name]
        if theirs is None:
            same = math.isinf(mine)
        else:
            same = math.isclose(mine, theirs, rel_tol=NEAR, abs_tol=NEAR * room + 1e-12)
        if not same:
            yield f"{name} {mine:.9g}, the report has {theirs}"
    if here.n != row["n"]:
        yield f"{here.n} seeds, the report has {row['n']}"


def _other(what: str, mine: str, theirs: str) -> Iterator[str]:
    if mine != theirs:
        yield f"{what} {mine!r}, the report has {theirs!r}"


def recompute(folder: Path, count: int | None, seed: int) -> bool:
    """Compute ``count`` randomly chosen verdicts again (all for None), print each, and return whether all are the same."""
    paper = Paper(folder)
    can, all_ = paper.entries(), paper.all()
    drawn = can if count is None else random.Random(seed).sample(can, min(count, len(can)))
    print(f"{len(drawn)} of {len(all_)} verdicts; recipes for {len(can)} ({len(can) / len(all_):.0%})")
    good = True
    for entry in drawn:
        wrong = list(differences(paper, entry))
        row = paper.rows(entry)[0]
        result = row.get("answer") or row["verdict"]
        print(f"  {entry['id']:28} {result:15} {'the same' if not wrong else 'ANOTHER: ' + '; '.join(wrong)}")
        good = good and not wrong
    return good


def main(arguments: list[str]) -> int:
    """0 if all is the same, 1 if not, 2 if there is nothing to compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", default="results/rfc2884", type=Path, help="folder of the reproduction")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the draw")
    parser.add_argument("--count", type=int, default=10, help="verdicts")
    parser.add_argument("--all", action="store_true", help="every verdict that there is a recipe for")
    given = parser.parse_args(arguments)
    if not (given.results / "results.json").exists():
        print(f"{given.results} has no results: `ecnlab reproduce rfc2884 --full` makes them", file=sys.stderr)
        return 2
    if json.loads((given.results / "results.json").read_text()).get("looked"):
        print(
            f"{given.results} has seeds that depend on results: give those of `ecnlab reproduce rfc2884 --full`",
            file=sys.stderr,
        )
        return 2
    print(f"drawn with --seed {given.seed}" if not given.all else "all of them")
    return 0 if recompute(given.results, None if given.all else given.count, given.seed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
