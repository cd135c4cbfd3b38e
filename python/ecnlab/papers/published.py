"""Printed values of a paper (``published.toml``) and its metrics (``metrics.toml``), read and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from ecnlab.base.errors import EcnlabError
from ecnlab.base.stats import Bounds, Direction
from ecnlab.scenario.files import read_text

FORMAT: Final = 1
KINDS: Final = ("mean", "gain", "ratio", "difference")
TESTS: Final = {
    "trend": ("axis", "expected"),
    "no-trend": ("axis", "excluded", "tolerance"),
    "below": ("limit",),
    "above": ("limit",),
    "near": ("target", "tolerance"),
}

SIGNS: Final = ("increasing", "decreasing")

T = TypeVar("T")

Where = Mapping[str, str | list[str]]
"""A place in the grid: axis to label, or to several labels."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured quantity: its definition, and the condition for agreement with a printed value."""

    name: str
    definition: str
    kind: str
    margin: float = 0.0
    neutral: float | None = None
    percent: bool = False
    digits: int = 3
    bounds: Sequence[float] = ()
    """The least and the largest value there can be, ``inf`` where there is none; nothing for a quantity without bounds."""
    apart: bool = False
    """Its printed numbers are easy to meet and counted separately."""
    steps: Sequence[str] = ()
    """The steps in which it is measured according to ``measure``."""
    measure: Mapping[str, Any] = field(default_factory=dict)
    """How: see `ecnlab.papers.measuring`. Without it, as the quantity of the metric's name."""

    @property
    def limits(self) -> Bounds:
        """Between which values its intervals stay."""
        return Bounds(*self.bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A printed value of a paper, its source, and the metric and place of the grid with which it is compared."""

    id: str
    row: str
    metric: str
    where: Where
    section: str = ""
    page: int = 0
    figure: str = ""
    slide: int = 0

    @property
    def source(self) -> str:
        """Return the printed location, as far as the entry gives it."""
        section = "§" if self.section[:1].isdigit() else ""
        marks = (
            (section, self.section),
            ("Fig.\u00a0", self.figure),
            ("p.\u00a0", self.page),
            ("slide\u00a0", self.slide),
        )
        return ", ".join(f"{mark}{value}" for mark, value in marks if value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Printed):
    """A printed number. ``margin`` is how far it was rounded, where that is not the same for all of its metric."""

    value: float
    unit: str = ""
    about: bool = False
    margin: float | None = None

    def within(self, metric: Metric) -> float:
        """The margin: its own, or that of its metric."""
        return metric.margin if self.margin is None else self.margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Printed):
    """A printed statement without a number, and the test that decides it."""

    statement: str
    test: Literal["trend", "no-trend", "below", "above", "near"]
    axis: str = ""
    expected: Direction = "undecided"
    excluded: Direction = "undecided"
    limit: float = 0.0
    target: float = 0.0
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Published:
    """All that a paper printed and a run can answer."""

    paper: str
    title: str
    authors: str
    date: str
    metrics: Mapping[str, Metric]
    numbers: tuple[Number, ...]
    claims: tuple[Claim, ...]
    where: Where = field(default_factory=dict)
    """Place of all measurements, except for entries that give another."""
    quantities: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Definitions of metrics and comparisons: see `ecnlab.papers.measuring`."""
    beside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    together: bool = False
    """Whether all tests of claims are one family, whose intervals are corrected for their number."""

    def number(self, name: str) -> Number:
        """The printed number of that id. Raises KeyError if there is none."""
        return {number.id: number for number in self.numbers}[name]

    def claim(self, name: str) -> Claim:
        """The claim of that id. Raises KeyError if there is none."""
        return {claim.id: claim for claim in self.claims}[name]

    @property
    def apart(self) -> list[str]:
        """The metrics whose printed numbers have a tally of their own."""
        return [name for name, metric in self.metrics.items() if metric.apart]

    def ids(self) -> set[str]:
        """Return the ids of all numbers and claims."""
        return {number.id for number in self.numbers} | {claim.id for claim in self.claims}


def read_published(folder: Path) -> Published:
    """Read and check ``published.toml`` and ``metrics.toml`` of a paper's folder.

    Raises EcnlabError naming the entry that is wrong; OSError if the file cannot be read.
    """
    path = folder / "published.toml"
    table = read_toml(path)
    measured = read_toml(folder / "metrics.toml")
    metrics = {key: _make(Metric, entry, f"metric {key}") for key, entry in measured["metric"].items()}
    where = table.get("where", {})
    numbers = tuple(_make(Number, _placed(entry, where), "number") for entry in table["number"])
    claims = tuple(_make(Claim, _placed(entry, where), "claim") for entry in table["claim"])
    for key, metric in metrics.items():
        if metric.kind not in KINDS:
            raise EcnlabError(f"metrics.toml: metric {key}: kind {metric.kind!r} is none of {', '.join(KINDS)}")
        if metric.bounds and (len(metric.bounds) != 2 or not metric.bounds[0] < metric.bounds[1]):
            raise EcnlabError(
                f"metrics.toml: metric {key}: bounds are the least and the largest value, not {metric.bounds}"
            )
    printed: list[Printed] = [*numbers, *claims]
    for entry in printed:
        if entry.metric not in metrics:
            raise EcnlabError(f"{path}: {entry.id}: no metric is called {entry.metric!r}")
    for given, claim in zip(table["claim"], claims, strict=True):
        if claim.test not in TESTS:
            raise EcnlabError(f"{path}: {claim.id}: test {claim.test!r} is none of {', '.join(TESTS)}")
        if missing := [key for key in TESTS[claim.test] if key not in given]:
            raise EcnlabError(f"{path}: {claim.id}: a {claim.test} test needs {missing[0]!r}")
        if wrong := [key for key in ("expected", "excluded") if given.get(key, SIGNS[0]) not in SIGNS]:
            raise EcnlabError(f"{path}: {claim.id}: {wrong[0]} {given[wrong[0]]!r} is none of {', '.join(SIGNS)}")
    ids = [entry.id for entry in printed]
    if twice := {i for i in ids if ids.count(i) > 1}:
        raise EcnlabError(f"{path}: {min(twice)} appears twice")
    about = {key: table[key] for key in ("paper", "title", "authors", "date")}
    how = {"quantities": measured.get("quantity", {}), "beside": measured.get("beside", {})}
    together = table.get("together", False)
    return Published(**about, **how, metrics=metrics, numbers=numbers, claims=claims, where=where, together=together)


def read_toml(path: Path) -> dict[str, Any]:
    """A data file of a paper. Raises EcnlabError naming the file if it is not TOML of this format."""
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise EcnlabError(f"{path}: {error}") from error
    if table.get("format") != FORMAT:
        raise EcnlabError(f"{path}: format {table.get('format')!r}; this ecnlab reads format {FORMAT}")
    return table


def _placed(entry: Mapping[str, Any], where: Where) -> Mapping[str, Any]:
    return {**entry, "where": {**where, **entry["where"]}} if "where" in entry else entry


def _make(kind: type[T], entry: Mapping[str, Any], what: str) -> T:
    try:
        return kind(**entry)
    except TypeError as error:
        raise EcnlabError(f"{what} {entry.get('id', '')}: {error}") from error
