"""Evidence: the data that the texts of a paper quote."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import known
from ecnlab.papers import engine_rows
from ecnlab.papers.judge import MEANS, Grid, at
from ecnlab.papers.published import Metric, Published, Where

JUDGEMENTS: Final = ("numbers", "claims")
"""Tables of verdicts."""

NO_FACTS: Final[Mapping[str, Any]] = {}

Row = Mapping[str, Any]


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
    blank = dict.fromkeys(grid.keys, "")
    if name == engine_rows.CELLS:
        return pl.DataFrame([blank | row for row in whole], schema=engine_rows.schema(grid))
    schema: dict[str, type[pl.DataType]] = {"metric": pl.String, **dict.fromkeys(grid.keys, pl.String)}
    return pl.DataFrame([blank | row for row in whole], schema=schema | MEANS)


def _unbounded(key: str, value: Any) -> Any:
    if value is None and key in ("low", "high"):
        return -math.inf if key == "low" else math.inf
    return value
