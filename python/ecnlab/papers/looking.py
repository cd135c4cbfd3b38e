"""The quick size of a paper with a budget of runs: seeds where they decide a printed number or claim.

All points have the ``quick`` seeds of their step. The rows that are not decided are then judged as if their points had
the moments that they have, and the seeds of later looks. A row that this would decide, and whose runs the budget
still has, gets the seeds of the next look at its undecided points; printed numbers come before claims, and of each the rows that need the
fewest runs first. When no row gets more, the undecided numbers get the seeds of their next look, for the moments of few seeds
mislead; it ends when the budget has no runs for that. The intervals are those of `ecnlab.base.sequential`, and a decision
stands: it is that of the first look which decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from msgspec import structs
from numpy.typing import NDArray

from ecnlab.base import sequential
from ecnlab.base.looks import LEAST, looks
from ecnlab.base.stats import Estimator, Interval
from ecnlab.papers.behind import NOT_AXES, Finder, Keys, labels_of
from ecnlab.papers.judge import (
    LOOKED,
    OPEN,
    Grid,
    along,
    at,
    follows,
    has_value,
    judge_claims,
    judge_numbers,
    outcome,
    per_seed,
    trend_outcome,
    verdict,
)
from ecnlab.papers.paper import Paper, Tables
from ecnlab.papers.published import Along, Claim, Number, Printed, Published

Seeds: TypeAlias = Mapping[str, NDArray[np.intp]]
"""By step the seeds of its points: one number for each point and arm, in the order of the experiment."""

Place: TypeAlias = tuple[dict[str, str], NDArray[np.float64]]
"""A metric and labels, with one value for each replicate."""

Judged: TypeAlias = tuple[pl.DataFrame, pl.DataFrame]
"""The tables of printed numbers and claims."""


def full_seeds(paper: Paper, published: Published, cells: Mapping[str, Keys]) -> Seeds:
    """The seeds of each point in the full size. ``cells`` has a run of each point by step."""
    finder = Finder(paper, published, cells.__getitem__)
    seeds = {step.name: np.full(cells[step.name].height, step.full) for step in paper.steps if step.name in cells}
    for number in published.numbers if paper.printed else ():
        for step, there in _points_behind(finder, cells, number).items():
            seeds[step] = np.where(there, np.maximum(seeds[step], paper.printed), seeds[step])
    return seeds


def _points_behind(finder: Finder, cells: Mapping[str, Keys], entry: Printed) -> dict[str, NDArray[np.bool_]]:
    """By step whether a point of ``cells`` is behind ``entry``."""
    return {
        part.step: cells[part.step]["id"].is_in(part.runs["id"].implode()).to_numpy() for part in finder.behind(entry)
    }


class Limited:
    """The tables of a sweep, of the first ``seeds`` of each point less the first ones ``without``."""

    def __init__(self, sweep: Tables, cells: Keys, seeds: Sequence[int], without: Sequence[int]) -> None:
        self._sweep, self._on = sweep, [name for name in cells.columns if name not in NOT_AXES]
        limits = [pl.Series(name, one, pl.UInt32) for name, one in (("_from", without), ("_to", seeds))]
        self._limits = cells.select(*self._on, *limits).lazy()

    def table(self, name: str) -> pl.LazyFrame:
        """The rows of a table, of these runs."""
        rows = self._sweep.table(name).join(self._limits, on=self._on, nulls_equal=True, maintain_order="left")
        number = pl.col("replicate")
        return rows.filter(number >= pl.col("_from"), number < pl.col("_to")).drop("_from", "_to")


@dataclass(frozen=True, slots=True)
class Wish:
    """A row that more seeds can decide."""

    cells: Mapping[str, NDArray[np.bool_]]
    """By step the points that get them."""
    until: int
    """The look at which it would be decided."""
    number: bool
    """Whether it is a printed number."""


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
    paper: Paper,
    published: Published,
    cells: Mapping[str, Keys],
    measure: Callable[[Seeds, Collection[str]], Mapping[str, pl.DataFrame]],
) -> Settled:
    """Return the quick size of ``paper``. ``cells`` has a run of each point by step, ``measure`` returns the samples of some metrics.

    Samples of a metric that are the same object as at the last look are not judged again.
    """
    looking, look = _Looking(paper, published, cells), _Look(paper.grid, published)
    found = Settled(looking.least())
    open_ = [*published.numbers, *published.claims]
    while True:
        look.take(measure(found.seeds, {entry.metric for entry in open_}))
        decided = {entry.id for entry in open_ if _decides(look.outcomes(entry))}
        found.verdicts |= look.verdicts([entry for entry in open_ if entry.id in decided])
        open_ = [entry for entry in open_ if entry.id not in decided]
        further = looking.further(found.seeds, list(looking.wishes(open_, found.seeds, look)))
        if further is found.seeds:
            further = looking.explored(found.seeds, [entry for entry in open_ if isinstance(entry, Number)])
        if further is found.seeds:
            found.verdicts |= look.verdicts(open_)
            found.samples = paper.grid.ordered(pl.concat(list(measure(found.seeds, published.metrics).values())))
            return found
        found.seeds = further


class _Look:
    """The values of all places at a look, and what follows from them with this or a later number of seeds."""

    def __init__(self, grid: Grid, published: Published) -> None:
        self._grid, self._published = grid, published
        self._values: dict[str, _Values] = {}

    def take(self, samples: Mapping[str, pl.DataFrame]) -> None:
        """Take the samples of the open rows' metrics at the next look."""
        for name, rows in samples.items():
            if name not in self._values or self._values[name].samples is not rows:
                self._values[name] = _Values(self._grid, self._published, name, rows)

    def places(self, entry: Printed) -> list[Place]:
        """The places of ``entry``, in the order of its tests, with their values."""
        return self._values[entry.metric].places(entry)

    def outcomes(self, entry: Printed, n: int | None = None) -> list[str]:
        """The outcome of each test of ``entry``; with ``n`` that which so many seeds of the same moments would have."""
        return self._values[entry.metric].outcomes(entry, n)

    def verdicts(self, entries: Sequence[Printed]) -> dict[str, pl.DataFrame]:
        """By id the rows of the verdicts on ``entries``."""
        by_metric: dict[str, list[Printed]] = {}
        for entry in entries:
            by_metric.setdefault(entry.metric, []).append(entry)
        return {key: rows for name, some in by_metric.items() for key, rows in self._values[name].verdicts(some)}


class _Values:
    """The values of a metric at its places."""

    def __init__(self, grid: Grid, published: Published, name: str, samples: pl.DataFrame) -> None:
        self._grid, self._published, self._metric = grid, published, published.metrics[name]
        self.samples = samples
        self._places: list[Place] = [
            (place, per_seed(values, self._metric))
            for place, values in grid.places(samples)
            if has_value(values, self._metric)
        ]
        self._trends: dict[str, tuple[list[str], NDArray[np.float64]]] = {}
        self._outcomes: dict[tuple[str, int | None], list[str]] = {}

    def places(self, entry: Printed) -> list[Place]:
        """As `_Look.places`."""
        labels = {key: labels_of(wanted) for key, wanted in entry.where.items()}
        return [one for one in self._places if all(one[0][key] in some for key, some in labels.items())]

    def outcomes(self, entry: Printed, n: int | None) -> list[str]:
        """As `_Look.outcomes`."""
        if (entry.id, n) not in self._outcomes:
            spread = sequential.spread if n is None else partial(sequential.projected, n=n)
            self._outcomes[entry.id, n] = self._tested(entry, spread)
        return self._outcomes[entry.id, n]

    def verdicts(self, entries: Sequence[Printed]) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yield the id and the rows of the verdict on each of ``entries``, which are of this metric."""
        numbers = tuple(one for one in entries if isinstance(one, Number))
        claims = tuple(one for one in entries if isinstance(one, Claim))
        only = replace(self._published, numbers=numbers, claims=claims)
        points = self._grid.points_of(
            (place, self._interval(values, sequential.spread)) for place, values in self._places
        )
        for table in (
            judge_numbers(only, points, self._grid, LOOKED),
            judge_claims(only, self.samples, points, self._grid, LOOKED),
        ):
            yield from ((str(key), rows) for (key,), rows in table.group_by("id", maintain_order=True))

    def _tested(self, entry: Printed, spread: Estimator) -> list[str]:
        if isinstance(entry, Along):
            labels, values = self._trend(entry)
            return [trend_outcome(follows(entry, labels, values, self._grid, spread), LOOKED)]
        found = [self._interval(values, spread) for _, values in self.places(entry)]
        if isinstance(entry, Number):
            return [verdict(entry, self._metric, one, LOOKED) for one in found]
        assert isinstance(entry, Claim)
        return [outcome(entry, one) for one in found]

    def _interval(self, values: NDArray[np.float64], spread: Estimator) -> Interval:
        return self._metric.limits.clip(spread(values))

    def _trend(self, claim: Along) -> tuple[list[str], NDArray[np.float64]]:
        if claim.id not in self._trends:
            rows = at(self.samples, claim.metric, claim.where)
            self._trends[claim.id] = along(claim, self._metric, rows, self._grid)
        return self._trends[claim.id]


def _decides(outcomes: Sequence[str]) -> bool:
    """Whether the tests of a number or claim decide it: one that refutes does."""
    return "no" in outcomes or not set(outcomes) & set(OPEN)


class _Looking:
    """The rule for one paper."""

    def __init__(self, paper: Paper, published: Published, cells: Mapping[str, Keys]) -> None:
        self._paper, self._cells = paper, cells
        self._finder = Finder(paper, published, cells.__getitem__)
        self._full = full_seeds(paper, published, cells)
        self._shared = {name: keys["id"].rank("dense").to_numpy() - 1 for name, keys in cells.items()}
        self._behind: dict[tuple[str, str], dict[str, NDArray[np.bool_]]] = {}

    def least(self) -> Seeds:
        """The seeds with which all points begin."""
        return {
            step.name: np.full(self._cells[step.name].height, step.quick)
            for step in self._paper.steps
            if step.name in self._cells
        }

    def wishes(self, open_: Sequence[Printed], seeds: Seeds, look: _Look) -> Iterator[Wish]:
        """The rows of ``open_`` that more seeds would decide, with the first look at which they would."""
        for entry in open_:
            points = self._points(entry, {})
            last = _fewest(self._full, points) if points else 0
            if not last or not _decides(look.outcomes(entry, last)):
                continue
            held = _fewest(seeds, points)
            for n in (one for one in looks(LEAST, last) if one > held):
                then = look.outcomes(entry, n)
                if _decides(then):
                    yield Wish(self._undecided(entry, look, then), n, isinstance(entry, Number))
                    break

    def _undecided(self, entry: Printed, look: _Look, then: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
        """The points of a row that need more seeds, by step: of a claim that would be refuted, those of the first place that does."""
        if isinstance(entry, Along):
            return self._points(entry, {})
        now = look.outcomes(entry)
        open_ = [i for i, one in enumerate(now) if one in OPEN]
        needed = [i for i in open_ if then[i] == "no"][:1] or open_
        keys, cells = self._paper.grid.keys, dict[str, NDArray[np.bool_]]()
        for i, (place, _) in enumerate(look.places(entry)):
            if i in needed:
                for step, there in self._points(entry, {key: place[key] for key in keys if place[key]}).items():
                    cells[step] = cells.get(step, False) | there
        return cells

    def _points(self, entry: Printed, place: Mapping[str, str]) -> dict[str, NDArray[np.bool_]]:
        """The points behind a row, or only those of one ``place`` of it, by step."""
        key = entry.id, str(place)
        if key not in self._behind:
            there = structs.replace(entry, where={**entry.where, **place})
            self._behind[key] = _points_behind(self._finder, self._cells, there)
        return self._behind[key]

    def further(self, held: Seeds, wishes: Sequence[Wish]) -> Seeds:
        """The seeds of the next look, if the budget has all runs until the row would be decided."""
        seeds = reserved = held
        for wish in sorted(
            wishes, key=lambda one: (not one.number, self._runs(self._with(held, one.cells, one.until)))
        ):
            whole = self._with(reserved, wish.cells, wish.until)
            n = _fewest(held, wish.cells)
            if n < wish.until and self._runs(whole) <= self._paper.budget:
                reserved = whole
                following = next(one for one in looks(LEAST, wish.until) if one > n)
                seeds = self._with(seeds, wish.cells, following)
        return seeds

    def explored(self, held: Seeds, numbers: Sequence[Number]) -> Seeds:
        """The seeds with the next look of each of ``numbers``, those with the fewest first, as far as the budget has the runs."""
        seeds, behind = held, [points for number in numbers if (points := self._points(number, {}))]
        for points in sorted(behind, key=lambda one: _fewest(held, one)):
            n, last = _fewest(held, points), _fewest(self._full, points)
            more = self._with(seeds, points, next((one for one in looks(LEAST, last) if one > n), n))
            if self._runs(seeds) < self._runs(more) <= self._paper.budget:
                seeds = more
        return seeds

    def _with(self, seeds: Seeds, cells: Mapping[str, NDArray[np.bool_]], n: int) -> dict[str, NDArray[np.intp]]:
        """``seeds`` with ``n`` at ``cells``, as far as the full size has so many."""
        more = {step: np.where(there, np.minimum(n, self._full[step]), 0) for step, there in cells.items()}
        return {step: np.maximum(held, more.get(step, 0)) for step, held in seeds.items()}

    def _runs(self, seeds: Seeds) -> int:
        """The runs of so many seeds; points with the same run have it once."""
        return sum(runs_of(self._shared[step], held) for step, held in seeds.items())


def _fewest(seeds: Seeds, points: Mapping[str, NDArray[np.bool_]]) -> int:
    """The least of the ``seeds`` of some ``points``, by step."""
    return min(int(seeds[step][there].min()) for step, there in points.items())


def runs_of(shared: NDArray[Any], seeds: NDArray[np.intp]) -> int:
    """The number of runs of ``seeds`` of each point, of which ``shared`` numbers those with the same run."""
    largest = np.zeros(int(shared.max()) + 1, int)
    np.maximum.at(largest, shared, seeds)
    return int(largest.sum())
