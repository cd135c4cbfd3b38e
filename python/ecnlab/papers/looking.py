"""The quick size of a paper with a budget of runs: seeds where they decide a printed number or claim.

All points have the ``quick`` seeds of their step. At each look the rows that are not decided are judged again as if their points had
the moments that they have, and the seeds of later looks. A row that this would decide, and whose runs the budget
still has, gets the seeds of the next look at its undecided points; the rows that need the fewest runs come first. It ends when
no row gets more. The intervals are those of `ecnlab.base.sequential`, and a decision stands: it is that of the first look which decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from msgspec import structs
from numpy.typing import NDArray

from ecnlab.base import sequential
from ecnlab.base.looks import LEAST, looks
from ecnlab.papers.behind import NOT_AXES, Finder, Keys, labels_of
from ecnlab.papers.judge import LOOKED, OPEN, Rules, at, judged
from ecnlab.papers.paper import Paper, Tables
from ecnlab.papers.published import Along, Claim, Number, Printed, Published

Seeds: TypeAlias = Mapping[str, NDArray[np.intp]]
"""By step the seeds of its points: one number for each point and arm, in the order of the experiment."""

Judged: TypeAlias = tuple[pl.DataFrame, pl.DataFrame]
"""The tables of printed numbers and claims."""


class Limited:
    """The tables of a sweep, of the first ``seeds`` of each point."""

    def __init__(self, sweep: Tables, cells: Keys, seeds: NDArray[np.intp]) -> None:
        self._sweep, self._on = sweep, [name for name in cells.columns if name not in NOT_AXES]
        self._seeds = cells.select(*self._on, pl.Series("_seeds", seeds, pl.UInt32)).lazy()

    def table(self, name: str) -> pl.LazyFrame:
        """The rows of a table, of these runs."""
        rows = self._sweep.table(name).join(self._seeds, on=self._on, nulls_equal=True, maintain_order="left")
        return rows.filter(pl.col("replicate") < pl.col("_seeds")).drop("_seeds")


@dataclass(frozen=True, slots=True)
class Wish:
    """A row that more seeds can decide."""

    cells: Mapping[str, NDArray[np.bool_]]
    """By step the points that get them."""
    until: int
    """The look at which it would be decided."""


@dataclass(slots=True)
class Settled:
    """The seeds of the quick size, its samples, and its verdicts."""

    seeds: Seeds
    samples: pl.DataFrame = field(default_factory=pl.DataFrame)
    verdicts: dict[str, pl.DataFrame] = field(default_factory=dict)
    """By id the rows of a number or claim."""

    def judged(self, published: Published) -> Judged:
        """The tables of numbers and claims, in their order."""
        tables = [[self.verdicts[entry.id] for entry in kind] for kind in (published.numbers, published.claims)]
        numbers, claims = (pl.concat(rows) if rows else pl.DataFrame() for rows in tables)
        return numbers, claims


def settle(
    paper: Paper, published: Published, cells: Mapping[str, Keys], measure: Callable[[Seeds], pl.DataFrame]
) -> Settled:
    """Return the quick size of ``paper``. ``cells`` has a run of each point by step; ``measure`` returns the samples of so many seeds."""
    looking = _Looking(paper, published, cells)
    found = Settled(looking.least())
    while True:
        found.samples = measure(found.seeds)
        open_ = [entry for entry in looking.entries if not _decided(found.verdicts, entry)]
        found.verdicts |= looking.judge(open_, found.samples, LOOKED)
        open_ = [entry for entry in open_ if not _decided(found.verdicts, entry)]
        further = looking.further(found, looking.wishes(open_, found))
        if all(np.array_equal(further[step], seeds) for step, seeds in found.seeds.items()):
            return found
        found.seeds = further


def _there(entry: Printed) -> pl.Expr:
    """Whether a sample is at the place of ``entry``."""
    place = {"metric": entry.metric, **entry.where}
    return pl.all_horizontal(pl.col(key).is_in(labels_of(labels)) for key, labels in place.items())


def _decided(verdicts: Mapping[str, pl.DataFrame], entry: Printed) -> bool:
    return entry.id in verdicts and _verdict(verdicts[entry.id]) not in OPEN


def _verdict(rows: pl.DataFrame) -> str:
    return str(rows["verdict" if "verdict" in rows.columns else "answer"][0])


class _Looking:
    """The rule for one paper."""

    def __init__(self, paper: Paper, published: Published, cells: Mapping[str, Keys]) -> None:
        self._paper, self._published, self._cells = paper, published, cells
        self._finder = Finder(paper, published, cells.__getitem__)
        self._most = {step.name: step.full for step in paper.steps}
        self._shared = {name: keys["id"].rank("dense").to_numpy() - 1 for name, keys in cells.items()}
        self.entries: list[Printed] = [*published.numbers, *published.claims]
        self._largest = {entry.id: self._of_all_points(entry) for entry in self.entries}

    def least(self) -> Seeds:
        """The seeds with which all points begin."""
        return {
            step.name: np.full(self._cells[step.name].height, step.quick)
            for step in self._paper.steps
            if step.name in self._cells
        }

    def judge(self, entries: Sequence[Printed], samples: pl.DataFrame, rules: Rules) -> dict[str, pl.DataFrame]:
        """By id the verdicts on ``entries``."""
        numbers = tuple(one for one in entries if isinstance(one, Number))
        claims = tuple(one for one in entries if isinstance(one, Claim))
        if not entries:
            return {}
        only = replace(self._published, numbers=numbers, claims=claims)
        tables = judged(self._paper.grid, only, samples.filter(pl.any_horizontal(map(_there, entries))), rules)
        return {
            str(key): rows
            for table, there in zip(tables, (numbers, claims), strict=True)
            if there
            for (key,), rows in table.group_by("id", maintain_order=True)
        }

    def wishes(self, open_: Sequence[Printed], found: Settled) -> Iterator[Wish]:
        """The rows of ``open_`` that more seeds would decide, with the first look at which they would."""
        most = {entry.id: self._largest[entry.id] for entry in open_}
        last = self._projected([one for one in open_ if most[one.id]], found, most)
        hopeful = [one for one in open_ if one.id in last and _verdict(last[one.id]) not in OPEN]
        for n in looks(min(map(int, map(min, found.seeds.values()))), max(most.values(), default=1)):
            at_look = self._projected(hopeful, found, {one.id: min(n, most[one.id]) for one in hopeful})
            for entry in hopeful:
                if _verdict(at_look[entry.id]) not in OPEN:
                    yield Wish(self._undecided(entry, found, at_look[entry.id]), min(n, most[entry.id]))
            hopeful = [one for one in hopeful if _verdict(at_look[one.id]) in OPEN]
            if not hopeful:
                return

    def _projected(self, entries: Sequence[Printed], found: Settled, at_: Mapping[str, int]) -> dict[str, pl.DataFrame]:
        """By id the verdicts on ``entries`` if each had the number of seeds ``at_``."""
        verdicts: dict[str, pl.DataFrame] = {}
        for n in sorted(set(at_.values())):
            rules = replace(LOOKED, spread=partial(sequential.projected, n=n))
            verdicts |= self.judge([one for one in entries if at_[one.id] == n], found.samples, rules)
        return verdicts

    def _of_all_points(self, entry: Printed) -> int:
        """The largest number of seeds that all points of a row can have."""
        return min((self._most[part.step] for part in self._finder.behind(entry)), default=0)

    def _undecided(self, entry: Printed, found: Settled, then: pl.DataFrame) -> dict[str, NDArray[np.bool_]]:
        """The points of a row that need more seeds, by step: of a claim that would be refuted, those of the first place that does."""
        places = [entry]
        if isinstance(entry, Claim) and not isinstance(entry, Along):
            tests = found.verdicts[entry.id]["outcome"].to_list(), then["outcome"].to_list()
            needed = [now == "undecided" and after == "no" for now, after in zip(*tests, strict=True)]
            if any(needed):
                needed = [i == needed.index(True) for i in range(len(needed))]
            else:
                needed = [now == "undecided" for now in tests[0]]
            places = [place for place, need in zip(self._places(entry, found), needed, strict=True) if need]
        cells: dict[str, NDArray[np.bool_]] = {}
        for place in places:
            for part in self._finder.behind(place):
                there = self._cells[part.step]["id"].is_in(part.runs["id"].implode()).to_numpy()
                cells[part.step] = cells.get(part.step, False) | there
        return cells

    def _places(self, claim: Claim, found: Settled) -> Iterator[Claim]:
        """The claim at each of its places, in the order of its tests."""
        keys = self._paper.grid.keys
        samples = at(found.samples, claim.metric, claim.where)
        for row in self._paper.grid.points(samples, self._published.metrics).iter_rows(named=True):
            yield structs.replace(claim, where={**claim.where, **{key: row[key] for key in keys if row[key]}})

    def further(self, found: Settled, wishes: Iterator[Wish]) -> Seeds:
        """The seeds of the next look, if the budget has all runs until the row would be decided."""
        seeds = reserved = found.seeds
        for wish in sorted(wishes, key=lambda one: self._runs(self._with(found.seeds, one.cells, one.until))):
            whole = self._with(reserved, wish.cells, wish.until)
            if self._runs(whole) <= self._paper.budget:
                reserved = whole
                n = min(int(found.seeds[step][there].min()) for step, there in wish.cells.items())
                following = next(one for one in looks(LEAST, wish.until) if one > n or one == wish.until)
                seeds = self._with(seeds, wish.cells, following)
        return seeds

    def _with(self, seeds: Seeds, cells: Mapping[str, NDArray[np.bool_]], n: int) -> dict[str, NDArray[np.intp]]:
        """``seeds`` with ``n`` at ``cells``, as far as the step has so many."""
        more = {step: np.where(there, min(n, self._most[step]), 0) for step, there in cells.items()}
        return {step: np.maximum(held, more.get(step, 0)) for step, held in seeds.items()}

    def _runs(self, seeds: Seeds) -> int:
        """The runs of so many seeds; points with the same run have it once."""
        return sum(runs_of(self._shared[step], held) for step, held in seeds.items())


def runs_of(shared: NDArray[Any], seeds: NDArray[np.intp]) -> int:
    """The number of runs of ``seeds`` of each point, of which ``shared`` numbers those with the same run."""
    largest = np.zeros(int(shared.max()) + 1, int)
    np.maximum.at(largest, shared, seeds)
    return int(largest.sum())
