"""Evidence: the data that the texts of a paper quote."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import polars as pl

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.grid import Grid
from ecnlab.papers.published import Metric, Published, Where
from ecnlab.papers.samples import at

NEAR: Final = 0.4
"""Similarity, from 0 to 1, of a wrong name and the one that its error proposes."""

Row = Mapping[str, Any]

T = TypeVar("T")


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


def known(kind: str, name: str, there: Mapping[str, T]) -> T:
    """Return what is called ``name``. Raises EcnlabError with the nearest name if there is none."""
    if name in there:
        return there[name]
    raise unknown(kind, name, there)


def unknown(kind: str, name: str, there: Iterable[str]) -> EcnlabError:
    """Return the error that nothing is called ``name``, with the nearest of the names that are ``there``."""
    near = difflib.get_close_matches(name, [one for one in there if one], n=1, cutoff=NEAR)
    remedy = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(there)}"
    return EcnlabError(f"no {kind} is called {name!r}; {remedy}")
