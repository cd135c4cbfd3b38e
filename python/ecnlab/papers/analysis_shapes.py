"""Shapes of a paper's stored results: its analysis tables, and the rows in ``quoted.json``. They are checked when a file is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NotRequired, TypedDict, get_args

import polars as pl

from ecnlab.base import stats
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.folder.names import RESULTS
from ecnlab.folder.sealed_json import read_json, read_plain_json
from ecnlab.folder.shapes import Maker, Results, insist
from ecnlab.folder.table_shapes import Shape, insist_on_finite, insist_on_shape, insist_on_types
from ecnlab.papers.judge import Grid
from ecnlab.papers.published import Published

FORMAT: Final = 1
"""Version of ``quoted.json``."""

QUOTED: Final = "quoted.json"
"""File with the quoted rows of a full run, and the verdicts of both sizes."""

QUOTE_AGAIN: Final = "quote a full run again with `make readme`, or restore the file"
"""Remedy for a damaged ``quoted.json``."""

_ENDS: Final = dict.fromkeys(("mean", "low", "high", "n"), "number")
_NUMBER: Final = {**dict.fromkeys(("printed", "margin", "page"), "number"), "about": "flag", **_ENDS}
_CLAIM: Final = ("id", "row", "statement", "metric", "test", "answer", "place", "upto", "outcome")
_SETTING: Final = ("key", "profile", "profile_value", "value", "source", "used_in")


def shapes(grid: Grid, published: Published) -> dict[str, Shape]:
    """Return the shapes of the analysis tables of a paper by their names; tables of its drawings have none."""
    place = dict.fromkeys(("metric", *grid.keys), "text")
    metrics = {"metric": frozenset(published.metrics)}
    samples = Shape(
        {**place, **dict.fromkeys(("replicate", "value", "other"), "number")}, frozenset({"other"}), choices=metrics
    )
    points = Shape(place | _ENDS, choices=metrics)
    number_ids = frozenset(number.id for number in published.numbers)
    claim_ids = frozenset(claim.id for claim in published.claims)
    answers, verdicts = get_args(stats.Answer), get_args(stats.Verdict)
    return {
        "samples": samples,
        "linux_samples": samples,
        "points": points,
        "linux": points,
        "numbers": Shape(
            {**place, **dict.fromkeys(("id", "row", "section", "unit", "verdict"), "text"), **_NUMBER},
            frozenset({"page"}),
            choices={**metrics, "id": number_ids, "verdict": verdicts},
        ),
        "claims": Shape(
            {**dict.fromkeys(_CLAIM, "text"), "values": "numbers", **_ENDS},
            choices={**metrics, "id": claim_ids, "answer": answers, "outcome": answers},
        ),
        "quick": Shape(dict.fromkeys(("id", "verdict"), "text"), choices={"id": number_ids | claim_ids}),
        "row_runs": Shape(
            {**dict.fromkeys(("id", "experiment", "ids"), "text"), "runs": "number"},
            choices={"id": number_ids | claim_ids},
        ),
        "departures": Shape(dict.fromkeys(_SETTING, "text")),
        "experiments": Shape(
            {**dict.fromkeys(("experiment", "title", "spec"), "text"), "runs": "number", "replicates": "number"}
        ),
    }


def checked(path: Path, rows: pl.DataFrame, shape: Shape | None, stated: Mapping[str, str] | None) -> pl.DataFrame:
    """Return ``rows``, the analysis table in ``path``.

    Raises FolderError unless it has its ``shape`` and the types ``stated`` in the results, as far as there are some.
    """
    if shape is not None:
        return insist_on_shape(path, rows, shape)
    if stated is not None:
        insist_on_types(path, rows, stated)
    insist_on_finite(path, rows)
    return rows


def read_results(folder: Path) -> dict[str, Any]:
    """Return the ``results.json`` of the reproduction in ``folder``. Raises FolderError if it is damaged; OSError."""
    return insist(folder / RESULTS, read_json(folder / RESULTS), Results)


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


class _Tables(TypedDict):
    """Quoted rows by table."""

    points: NotRequired[list[_Point]]
    numbers: NotRequired[list[_Number]]
    claims: NotRequired[list[_Claim]]
    linux: NotRequired[list[_Point]]
    engines: NotRequired[list[_Cell]]


_TYPED: Final = frozenset({*_Number.__annotations__, *_Claim.__annotations__, *_Cell.__annotations__, "page", "about"})


class Quoted(TypedDict):
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
    insist(path, held, Quoted, QUOTE_AGAIN)
    for name, rows in held["tables"].items():
        for at, row in enumerate(rows):
            insist_on_labels(path, f"tables.{name}[{at}]", row)
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
