"""The rows of a full run that the texts of a paper quote: ``quoted.json``, written and read again, and `Evidence`, which notes them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict

import polars as pl

from ecnlab.base import stats
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.base.guesses import known
from ecnlab.folder.sealed_json import read_plain_json
from ecnlab.folder.shapes import Maker, insist
from ecnlab.papers import engine_rows
from ecnlab.papers.judge import MEANS, Grid, at
from ecnlab.papers.published import Metric, Published, Where
from ecnlab.papers.readings import COLUMNS
from ecnlab.papers.readings import TABLE as READINGS

FORMAT: Final = 1
"""Version of ``quoted.json``."""

QUOTED: Final = "quoted.json"
"""File with the quoted rows of a full run, and the verdicts of both sizes."""

QUOTE_AGAIN: Final = "quote a full run again with `make readme`, or restore the file"
"""Remedy for a damaged ``quoted.json``."""

JUDGEMENTS: Final = ("numbers", "claims")
"""Tables of verdicts."""

NO_FACTS: Final[Mapping[str, Any]] = {}

Row = Mapping[str, Any]


# --------------------------------------------------------------- evidence


@dataclass(frozen=True, slots=True)
class Evidence:
    """Data for references: tables of points by name, printed numbers, claims, and facts about the whole.

    ``seen`` collects the quoted rows, by table.
    """

    published: Published
    grid: Grid
    tables: Mapping[str, pl.DataFrame]
    about: Mapping[str, Any] = field(default_factory=dict)
    seen: dict[str, dict[tuple[Any, ...], Row]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        published: Published,
        grid: Grid,
        tables: Mapping[str, pl.DataFrame],
        about: Mapping[str, Any] = NO_FACTS,
        quoted: Mapping[str, list[dict[str, Any]]] = NO_FACTS,
    ) -> Evidence:
        """Return the data of ``tables``, and of ``quoted`` rows for those that are not there."""
        return cls(
            published, grid, {name: _frame(name, rows, grid) for name, rows in quoted.items()} | dict(tables), about
        )

    def rows(self, table: str, chosen: pl.DataFrame) -> list[Row]:
        """The rows of ``chosen``, a part of ``table``; they count as quoted."""
        found: list[Row] = list(chosen.iter_rows(named=True))
        noted = self.seen.setdefault(table, {})
        for row in found:
            noted[tuple(str(value) for value in row.values())] = row
        return found

    def quoted(self, *tables: str) -> dict[str, list[dict[str, Any]]]:
        """The rows that count as quoted, of the named tables or of all, as ``quoted.json`` has them."""
        return {name: [_plain(row) for row in self.seen.get(name, {}).values()] for name in tables or sorted(self.seen)}

    def metric(self, name: str) -> Metric:
        """Return the metric ``name``. Raises EcnlabError if there is none."""
        return known("metric", name, self.published.metrics)

    def points(self, name: str, place: Where) -> list[Row]:
        """Return the points of a metric at a place, as quoted rows. ``TABLE/METRIC`` names a table other than ``points``."""
        table, _, metric = name.rpartition("/")
        self.metric(metric)
        points = known("table", table or "points", self.tables)
        _require_labels(points.filter(pl.col("metric") == metric), place)
        chosen = at(points, metric, {**self.published.where, **place})
        if chosen.is_empty():
            raise EcnlabError("nothing was measured there")
        return self.rows(table or "points", chosen)


def _require_labels(points: pl.DataFrame, place: Where) -> None:
    """Raise EcnlabError for the first label of ``place`` that none of ``points`` has."""
    for key, labels in place.items():
        there = dict.fromkeys(points[key])
        for label in [labels] if isinstance(labels, str) else labels:
            known(f"label of {key}", label, there)


def _frame(name: str, rows: list[dict[str, Any]], grid: Grid) -> pl.DataFrame:
    """Quoted rows as the table they are from."""
    whole = [{key: _unbounded(key, value) for key, value in row.items()} for row in rows]
    if name in JUDGEMENTS:
        return pl.DataFrame(whole, infer_schema_length=None)
    if name == READINGS:
        return pl.DataFrame(whole, schema=COLUMNS)
    blank = dict.fromkeys(grid.keys, "")
    if name == engine_rows.CELLS:
        return pl.DataFrame([blank | row for row in whole], schema=engine_rows.schema(grid))
    schema: dict[str, type[pl.DataType]] = {"metric": pl.String, **dict.fromkeys(grid.keys, pl.String)}
    return pl.DataFrame([blank | row for row in whole], schema=schema | MEANS)


def _unbounded(key: str, value: Any) -> Any:
    if value is None and key in ("low", "high"):
        return -math.inf if key == "low" else math.inf
    return value


# --------------------------------------------------------------- quoted.json


def dump(held: Mapping[str, Any]) -> str:
    """JSON with one row a line, so that a change is read as the rows that it changes."""

    def lines(rows: Iterable[Any]) -> str:
        return ",\n".join("   " + json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)

    run = json.dumps(held["run"], indent=1, ensure_ascii=False).replace("\n", "\n ")
    verdicts = ",\n".join(f"  {json.dumps(name)}: {json.dumps(of)}" for name, of in held["verdicts"].items())
    tables = ",\n".join(f'  "{name}": [\n{lines(rows)}\n  ]' for name, rows in held["tables"].items())
    return f'{{\n "format": {held["format"]},\n "run": {run},\n "verdicts": {{\n{verdicts}\n }},\n "tables": {{\n{tables}\n }}\n}}\n'


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without its blank labels; an end that is not there is null."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in row.items()
        if value != ""
    }


def kept_rows(folder: Path, missing: set[str]) -> dict[str, dict[str, Any]]:
    """Quoted rows of the tables that the new results lack, with the run they are of."""
    if not (folder / QUOTED).exists():
        return {}
    held = read_quoted(folder / QUOTED)
    run = {key: held["run"][key] for key in ("ecnlab", "linux")}
    kept = held["run"].get("kept", {})
    return {name: {"rows": rows, "of": kept.get(name, run)} for name, rows in held["tables"].items() if name in missing}


class _Engines(TypedDict):
    """The runs of both engines."""

    ecnlab: Maker
    linux: dict[str, Any] | None
    full: bool
    experiments: dict[str, dict[str, Any]]


class _Run(TypedDict):
    """The run whose rows are quoted."""

    ecnlab: Maker
    linux: dict[str, Any] | None
    seed: int
    runs: int
    tally: dict[str, dict[str, int]]
    experiments: dict[str, dict[str, Any]]
    kept: NotRequired[dict[str, dict[str, Any]]]
    kernel: NotRequired[_Engines]


class _Sizes(TypedDict):
    """A verdict in both sizes."""

    quick: str
    full: str


class _Point(TypedDict):
    """A quoted mean; an infinite end is null."""

    metric: str
    mean: float
    low: float | None
    high: float | None
    n: int


class _Number(_Point):
    """A quoted printed number."""

    id: str
    printed: float
    margin: float
    verdict: stats.Verdict


class _Claim(TypedDict):
    """A quoted test of a claim."""

    id: str
    metric: str
    answer: stats.Answer
    values: list[float]
    outcome: stats.Answer
    mean: float
    low: float | None
    high: float | None
    n: int


class _Cell(TypedDict):
    """A quoted comparison of both engines."""

    metric: str
    simulator: float
    kernel: float
    low: float | None
    high: float | None
    neutral: float
    n: int
    verdict: str


class _Again(TypedDict):
    """A quoted verdict under another reading; without a mean if it was not run."""

    id: str
    reading: str
    claimed: str
    outcome: str
    mean: float | None
    low: float | None
    high: float | None
    n: int | None


class _Tables(TypedDict):
    """Quoted rows by table."""

    points: NotRequired[list[_Point]]
    numbers: NotRequired[list[_Number]]
    claims: NotRequired[list[_Claim]]
    linux: NotRequired[list[_Point]]
    engines: NotRequired[list[_Cell]]
    readings: NotRequired[list[_Again]]


_TYPED: Final = frozenset({*_Number.__annotations__, *_Claim.__annotations__, *_Cell.__annotations__, "page", "about"})


class QuotedFile(TypedDict):
    """``quoted.json``."""

    format: Literal[1]
    run: _Run
    verdicts: dict[str, _Sizes]
    tables: _Tables


def read_quoted(path: Path) -> dict[str, Any]:
    """Return the ``quoted.json`` in ``path``. Raises EcnlabError for another format, FolderError if it is damaged; OSError."""
    held = read_plain_json(path)
    if type(held.get("format")) is int and held["format"] != FORMAT:
        raise EcnlabError(f"{path}: format {held['format']}; this ecnlab reads format {FORMAT}")
    insist(path, held, QuotedFile, QUOTE_AGAIN)
    for name, rows in held["tables"].items():
        for index, row in enumerate(rows):
            insist_on_labels(path, f"tables.{name}[{index}]", row)
    return held


def quoted_verdicts(folder: Path) -> dict[str, str]:
    """By id the verdict of the full size that the paper's ``folder`` quotes; nothing where none is quoted."""
    path = folder / QUOTED
    if not path.exists():
        return {}
    return {name: sizes["full"] for name, sizes in read_quoted(path)["verdicts"].items()}


def insist_on_labels(path: Path, place: str, row: Mapping[str, Any]) -> None:
    """Raise FolderError if a label of the quoted ``row`` is neither text nor one of the typed columns."""
    for key, value in row.items():
        if key not in _TYPED and not isinstance(value, str):
            raise FolderError(f"{path} is damaged (`{place}.{key}` is no text): {QUOTE_AGAIN}")
