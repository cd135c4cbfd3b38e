"""A claim about several places, in words: the number of places for each outcome, the median and the worst place."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.engine_rows import Forms
from ecnlab.papers.judge import Grid, shortfall
from ecnlab.papers.published import Claim

OUTCOMES: Final = ("yes", "partly", "no", "undecided")


def in_words(tests: pl.DataFrame) -> str:
    """Return the verdict on a claim; for a trend that ends, with the value of the axis up to which it holds.

    For a claim about several places, with the number of places for each outcome.
    """
    answer, upto = str(tests["answer"][0]), str(tests["upto"][0] or "") if "upto" in tests.columns else ""
    if tests.height == 1:
        return f"{answer}, up to {upto}" if upto else answer
    found = Counter(tests["outcome"])
    if len(found) == 1:
        return f"{answer} (in all {tests.height} places)"
    counts = ", ".join(f"{found[outcome]} {outcome}" for outcome in OUTCOMES if found[outcome])
    return f"{answer} (of {tests.height} places {counts})"


def median(tests: pl.DataFrame) -> dict[str, Any]:
    """Return a row with the median of the means of a claim's places."""
    return {**tests.row(0, named=True), "mean": statistics.median(tests["mean"])}


def worst(tests: pl.DataFrame, claim: Claim, grid: Grid) -> tuple[dict[str, Any], str]:
    """Return the row whose mean is farthest on the wrong side of the claim's limit, and its place in words."""
    row = max(tests.iter_rows(named=True), key=lambda row: shortfall(claim, row["mean"]))
    return row, ", ".join(map(grid.named, row["place"].split(", ")))


@dataclass(frozen=True)
class Tests(Forms):
    """The tests of a claim about several places; ``_quoted`` gives the written forms of a row."""

    _rows: pl.DataFrame
    _claim: Claim
    _grid: Grid
    _quoted: Callable[[Mapping[str, Any]], Any]

    @property
    def answer(self) -> str:
        """The verdict, with the number of places for each outcome."""
        return in_words(self._rows)

    @property
    def statement(self) -> str:
        """The statement of the paper."""
        return str(self._rows["statement"][0])

    @property
    def holds(self) -> str:
        """The number of places that show the claim, of all: "13 of 54"."""
        return f"{self._count('yes')} of {self._rows.height}"

    @property
    def refuted(self) -> str:
        """The number of places that refute the claim."""
        return str(self._count("no"))

    @property
    def median(self) -> str:
        """The median of the means of all places."""
        return str(self._quoted(median(self._rows)).mean)

    @property
    def worst(self) -> str:
        """The mean that is farthest on the wrong side of the claim's limit, with interval and place."""
        row, place = worst(self._rows, self._claim, self._grid)
        return f"{self._quoted(row)}: {place}"

    def _count(self, outcome: str) -> int:
        return int((self._rows["outcome"] == outcome).sum())

    def __str__(self) -> str:
        raise EcnlabError(f"{self._claim.id} has {self._rows.height} tests: name one (place=...)")

    def __getattr__(self, name: str) -> str:
        return super().__getattr__(name) if name.startswith("_") else str(self)
