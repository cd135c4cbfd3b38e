"""Evidence: the data that the texts of a paper quote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import known
from ecnlab.papers.grid import Grid
from ecnlab.papers.published import Published
from ecnlab.papers.samples import at
from ecnlab.papers.tables import Metric, Where

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
