"""Verdicts under other readings of what a paper leaves unstated: ``[readings]`` of ``published.toml``.

A reading is a label of one axis of the grid. Each printed number and claim that is judged under the claimed reading has the same
test at the same places under every other one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import polars as pl
from msgspec import structs

from ecnlab._core import Experiment
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import known, unknown
from ecnlab.papers.claim_places import worst
from ecnlab.papers.engine_rows import Forms
from ecnlab.papers.judge import OPEN, Grid, Rules, at, judge_claims, judge_numbers
from ecnlab.papers.published import Along, Claim, Number, Published, Readings
from ecnlab.results.sweep_part import ARM
from ecnlab.runs.sweep_runs import one_of_each

TABLE: Final = "readings"
"""Name of the analysis table."""

NOT_RUN: Final = "not run"
"""The outcome if not all places of a number or claim were run under a reading, and none of those that were refutes the claim."""

COLUMNS: Final[dict[str, type[pl.DataType]]] = {
    **dict.fromkeys(("id", "reading", "claimed", "outcome", "place"), pl.String),
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
    "n": pl.Int64,
}
"""``claimed`` is the verdict under the claimed reading; of several places the row has the worst."""

T = TypeVar("T", bound=Number | Claim)
Row = Mapping[str, Any]


# --------------------------------------------------------------- verdicts


def judged_again(
    grid: Grid,
    published: Published,
    readings: Readings,
    measured: pl.DataFrame,
    verdicts: Mapping[str, str],
    rules: Rules,
) -> pl.DataFrame:
    """Return one row for each number or claim and other reading, from samples. ``verdicts`` are those of the claimed reading."""
    here = replace(
        published, numbers=_covered(published.numbers, readings), claims=_covered(published.claims, readings)
    )
    compared = {entry.metric for entry in (*here.numbers, *here.claims)}
    points = grid.points(measured.filter(pl.col("metric").is_in(compared)), published.metrics, rules.level)
    places, rows = _places(here, points), []
    for reading in readings.others:
        there = _under(here, readings, reading)
        outcomes = _outcomes(grid, there, measured, points, rules, places)
        rows += [
            {"reading": reading, "claimed": verdicts[name], **outcomes.get(name, {"outcome": NOT_RUN, "place": ""})}
            | {"id": name}
            for name in here.ids()
        ]
    return pl.DataFrame(rows, schema=COLUMNS)


def _covered(entries: tuple[T, ...], readings: Readings) -> tuple[T, ...]:
    return tuple(entry for entry in entries if readings.cover(entry))


def _places(published: Published, points: pl.DataFrame) -> dict[str, int]:
    """By id the number of points at which a number or claim was measured."""
    return {one.id: at(points, one.metric, one.where).height for one in (*published.numbers, *published.claims)}


def _under(published: Published, readings: Readings, reading: str) -> Published:
    """The same numbers and claims under another reading."""
    labels = readings.labels(reading)

    def under(entry: T) -> T:
        here = entry.where[readings.key]
        there = [labels[label] for label in ([here] if isinstance(here, str) else here) if label in labels]
        return structs.replace(entry, where={**entry.where, readings.key: there})

    return replace(published, numbers=tuple(map(under, published.numbers)), claims=tuple(map(under, published.claims)))


def _outcomes(
    grid: Grid,
    there: Published,
    measured: pl.DataFrame,
    points: pl.DataFrame,
    rules: Rules,
    places: Mapping[str, int],
) -> dict[str, dict[str, Any]]:
    """Return by id the outcome of each number and claim that has one. ``places`` is the number of places that each needs.

    A claim that lacks some of them can only be refuted; a number or a trend that does has no outcome.
    """
    found = _places(there, points)
    run = replace(
        there,
        numbers=tuple(one for one in there.numbers if found[one.id] == places[one.id]),
        claims=tuple(
            one
            for one in there.claims
            if found[one.id] == places[one.id] or (found[one.id] and not isinstance(one, Along))
        ),
    )
    numbers = judge_numbers(run, points, grid, rules).iter_rows(named=True)
    outcomes = {row["id"]: _outcome(row, row["verdict"]) for row in numbers}
    of_claims = judge_claims(run, measured, points, grid, rules)
    for claim in run.claims:
        tests = of_claims.filter(pl.col("id") == claim.id)
        answer = tests["answer"][0]
        if answer == "no" or found[claim.id] == places[claim.id]:
            row, place = (tests.row(0, named=True), "") if tests.height == 1 else worst(tests, claim, grid)
            outcomes[claim.id] = _outcome(row, answer, place)
    return outcomes


def _outcome(row: Row, outcome: str, place: str = "") -> dict[str, Any]:
    return {"outcome": outcome, "place": place, **{key: row[key] for key in ("mean", "low", "high", "n")}}


def labels_on(key: str, experiments: Iterable[Experiment], places: Iterable[Mapping[str, str]]) -> list[str]:
    """Return the labels of the axis ``key`` in the experiments of a paper, and in the ``places`` that it gives them."""
    labels = [place[key] for place in places if key in place]
    for experiment in experiments:
        labels += [label for run in one_of_each(experiment) if (label := {**run.point, ARM: run.arm}.get(key))]
    return list(dict.fromkeys(labels))


def require_labels(path: Path, readings: Readings, there: Iterable[str]) -> None:
    """Raise EcnlabError for the first label of a reading that no experiment has; ``there`` are those of its axis."""
    labels = list(dict.fromkeys(there))
    for name in readings.others:
        for label in readings.labels(name).values():
            if label not in labels:
                kind = f"label of {readings.key} in the experiments"
                raise EcnlabError(f"{path}: readings.others.{name!r}: {unknown(kind, label, labels)}")


# --------------------------------------------------------------- in words


def in_words(rows: Sequence[Row]) -> str:
    """Return the outcomes of one number or claim under the other readings: "yes under A, B; no under C"."""
    by_outcome: dict[str, list[str]] = {rows[0]["claimed"]: []}
    for row in sorted(rows, key=lambda row: row["outcome"] == NOT_RUN):
        by_outcome.setdefault(row["outcome"], []).append(row["reading"])
    return "; ".join(f"{outcome} under {', '.join(names)}" for outcome, names in by_outcome.items() if names)


def turned(row: Row) -> bool:
    """Return whether a verdict is decided under both readings, and another."""
    return row["outcome"] != row["claimed"] and not {row["outcome"], row["claimed"]} & {*OPEN, NOT_RUN}


@dataclass(frozen=True)
class Again(Forms):
    """The rows of the numbers or the claims of a paper under other readings. Printed, it is their number."""

    _rows: pl.DataFrame
    _published: Published

    @property
    def run(self) -> int:
        """The number of those that were judged under another reading."""
        return len(self._by_id())

    @property
    def same(self) -> int:
        """The number of those with one verdict under all readings that were run."""
        return sum(all(row["outcome"] == row["claimed"] for row in rows) for rows in self._by_id().values())

    @property
    def turned(self) -> int:
        """The number of those that have another decided verdict under a reading."""
        return sum(any(map(turned, rows)) for rows in self._by_id().values())

    @property
    def open(self) -> int:
        """The number of the others: those that are undecided under one reading and not under another."""
        return self.run - self.same - self.turned

    @property
    def table(self) -> str:
        """A Markdown table of the readings with the number of verdicts that are the same, turn, are undecided, were not run."""
        return "\n".join(_lines(("reading", "same", "turned", "undecided in one", "not run"), self._readings()))

    @property
    def turns(self) -> str:
        """A Markdown table of those that turn, with the readings."""
        found = [rows for rows in self._by_id().values() if any(map(turned, rows))]
        lines = [(rows[0]["id"], self._statement(rows[0]["id"]), rows[0]["claimed"], in_words(rows)) for rows in found]
        return "\n".join(_lines(("row", "statement", "as claimed", "under other readings"), lines))

    def under(self, name: str, outcome: str) -> str:
        """Return the readings under which one has the ``outcome``: "A, B". Raises EcnlabError if there are none."""
        rows = known("row run under another reading", name, self._by_id())
        if found := [row["reading"] for row in rows if row["outcome"] == outcome]:
            return ", ".join(found)
        raise EcnlabError(f"{name} has the outcome {outcome!r} under no reading: {in_words(rows)}")

    def __str__(self) -> str:
        return str(self._rows["id"].n_unique())

    def _readings(self) -> Iterator[tuple[object, ...]]:
        readings = self._published.readings
        for name, reading in (readings.others if readings else {}).items():
            rows = self._rows.filter(reading=name).to_dicts()
            same = sum(row["outcome"] == row["claimed"] for row in rows)
            turns, not_run = sum(map(turned, rows)), sum(row["outcome"] == NOT_RUN for row in rows)
            yield f"**{name}**: {reading.text}", same, turns, len(rows) - same - turns - not_run, not_run

    def _by_id(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of each that was judged under another reading."""
        run = self._rows.filter(pl.col("outcome") != NOT_RUN)
        return {str(name): rows.to_dicts() for (name,), rows in run.group_by(["id"], maintain_order=True)}

    def _statement(self, name: str) -> str:
        for number in self._published.numbers:
            if number.id == name:
                unit = f" {number.unit}" if number.unit else ""
                return f"{self._published.metrics[number.metric].name}: {number.value:.10g}{unit} printed"
        return self._published.claim(name).statement


def _lines(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    for cells in (heads, ["---"] * len(heads), *rows):
        yield f"| {' | '.join(map(str, cells))} |"
