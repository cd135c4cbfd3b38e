"""A paper's analysis tables, in memory or in the folder of a reproduction, where they are checked when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, get_args

import polars as pl

from ecnlab.base import stats
from ecnlab.folder.names import FILES, RESULTS
from ecnlab.folder.sealed_json import read_json
from ecnlab.folder.shapes import Results, insist
from ecnlab.folder.table_shapes import Shape, insist_on_finite, insist_on_shape, insist_on_types
from ecnlab.folder.tables import read_table
from ecnlab.folder.verified import read_files
from ecnlab.papers.judge import Grid
from ecnlab.papers.published import Published
from ecnlab.papers.readings import COLUMNS, NOT_RUN, TABLE


class Analysis(Protocol):
    """The analysis tables of a reproduction by name."""

    @property
    def about(self) -> Mapping[str, Any]:
        """The facts about the reproduction, as in ``results.json``."""
        ...

    def __contains__(self, name: str) -> bool: ...

    def __getitem__(self, name: str) -> pl.DataFrame: ...


class Computed(dict[str, pl.DataFrame]):
    """An analysis in memory."""

    def __init__(self, tables: Mapping[str, pl.DataFrame], about: Mapping[str, Any]) -> None:
        super().__init__(tables)
        self.about = about


@dataclass(frozen=True, slots=True)
class Stored:
    """An analysis in a folder, as `ecnlab.papers.reproduce` writes it; a table is read when it is used."""

    folder: Path
    about: Mapping[str, Any]
    shapes: Mapping[str, Shape] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return (self.folder / f"{name}.parquet").exists()

    def __getitem__(self, name: str) -> pl.DataFrame:
        path = self.folder / f"{name}.parquet"
        if (self.folder.parent / FILES).exists():
            path = read_files(self.folder.parent).path(f"{self.folder.name}/{path.name}")
        return checked(path, read_table(path), self.shapes.get(name), self.about.get("tables", {}).get(name))


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
            complete="id",
        ),
        TABLE: Shape(
            {name: "text" if kind == pl.String else "number" for name, kind in COLUMNS.items()},
            frozenset(_ENDS),
            choices={"id": number_ids | claim_ids, "outcome": (*answers, *verdicts, NOT_RUN)},
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
