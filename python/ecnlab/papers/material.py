"""What the page of a paper is made from: its analysis tables with its texts, read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab.base.errors import EcnlabError
from ecnlab.folder.names import FILES
from ecnlab.folder.tables import read_table
from ecnlab.folder.verified import read_files
from ecnlab.papers import blocks
from ecnlab.papers.grid import Grid
from ecnlab.papers.judge import FULL, QUICK, Rules
from ecnlab.papers.published import Metric, Published, read_published
from ecnlab.papers.reasons import read_reasons
from ecnlab.papers.references import Evidence
from ecnlab.papers.samples import at
from ecnlab.papers.sizes import of_full
from ecnlab.report import Finding
from ecnlab.report.page import Cell

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """The analysis tables a page is made from, as `ecnlab.papers.reproduce` writes them."""

    folder: Path
    about: Mapping[str, Any]

    def __getitem__(self, name: str) -> pl.DataFrame:
        path = self.folder / f"{name}.parquet"
        if (self.folder.parent / FILES).exists():
            path = read_files(self.folder.parent).path(f"{self.folder.name}/{path.name}")
        return read_table(path)


@dataclass(frozen=True, slots=True)
class Material:
    """All that the page of a paper is made from. A place that leaves a key out has any label there."""

    folder: Path
    published: Published
    grid: Grid
    points: pl.DataFrame
    numbers: pl.DataFrame = field(default_factory=pl.DataFrame)
    claims: pl.DataFrame = field(default_factory=pl.DataFrame)
    tables: Stored = field(default_factory=lambda: Stored(Path(), {}))
    reasons: Mapping[str, str] = field(default_factory=dict)
    full: Mapping[str, str] = field(default_factory=dict)
    """In the quick size, by id the verdicts of the full one."""

    @classmethod
    def read(cls, folder: Path, tables: Stored, grid: Grid) -> Material:
        """The analysis in ``tables`` with the texts in the paper's ``folder``. Raises EcnlabError for a text that is wrong."""
        published = read_published(folder)
        points, numbers, claims = tables["points"], tables["numbers"], tables["claims"]
        evidence = Evidence(published, grid, {"points": points, "numbers": numbers, "claims": claims})
        reasons = read_reasons(folder / "reasons.toml", evidence)
        full = {} if tables.about["full"] else of_full(folder)
        return cls(folder, published, grid, points, numbers, claims, tables, reasons, full)

    @property
    def rules(self) -> Rules:
        """How verdicts are made in this size."""
        return FULL if self.tables.about["full"] else QUICK

    def metric(self, name: str) -> Metric:
        """The metric called ``name``."""
        return self.published.metrics[name]

    def at(self, metric: str, **where: str | list[str]) -> pl.DataFrame:
        """The points of a metric at a place; of the settings that all of the paper is judged with, if it says no others."""
        return at(self.points, metric, {**self.published.where, **where})

    def point(self, metric: str, **where: str | list[str]) -> Row:
        """The one point of a metric at a place. Raises EcnlabError if there is none or another."""
        found = self.at(metric, **where)
        if found.height != 1:
            raise EcnlabError(f"{metric}: {found.height} measured points at {where}, need 1")
        return found.row(0, named=True)

    def said(self, row: Row) -> str:
        """A point with its interval, as a reader writes it."""
        return blocks.with_interval(row, self.metric(row["metric"]))

    def cell(self, metric: str, **where: str | list[str]) -> Cell:
        """The one point of a metric at a place as a cell of a table; an empty one where nothing was measured."""
        return Cell(self.said(self.point(metric, **where)) if self.at(metric, **where).height else "", True)

    def say(self, claim: str, statement: str, range_of: str = "") -> Finding:
        """A claim as one sentence of the summary; of many places with the ``range_of`` what it is about."""
        if range_of:
            found = blocks.ranged(self.claims, self.published, claim, statement, range_of)
        else:
            found = blocks.finding(self.claims, self.published, claim, statement)
        answer = self.claims.filter(pl.col("id") == claim)["answer"][0]
        return blocks.marked(found, answer, self.full.get(claim, answer))
