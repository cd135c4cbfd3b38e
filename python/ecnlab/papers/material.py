"""Inputs of a paper's page: its analysis tables and its texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab.base.errors import EcnlabError
from ecnlab.papers import blocks
from ecnlab.papers.analysis import Analysis, Computed
from ecnlab.papers.judge import FULL, LOOKED, QUICK, Grid, Rules, at
from ecnlab.papers.published import Metric, Published, read_published
from ecnlab.papers.quoted import Evidence, quoted_verdicts
from ecnlab.papers.readings import TABLE as READINGS
from ecnlab.papers.references import Quoted, References, fill, start_of, with_interval
from ecnlab.papers.tables import Fact, ReasonsFile
from ecnlab.report import Finding
from ecnlab.report.page import Cell
from ecnlab.scenario.data_files import read_file
from ecnlab.scenario.files import read_text

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Material:
    """All inputs of a paper's page. A place without a key matches any label of it."""

    folder: Path
    published: Published
    grid: Grid
    points: pl.DataFrame
    numbers: pl.DataFrame = field(default_factory=pl.DataFrame)
    claims: pl.DataFrame = field(default_factory=pl.DataFrame)
    tables: Analysis = field(default_factory=lambda: Computed({}, {}))
    reasons: Mapping[str, str] = field(default_factory=dict)
    full: Mapping[str, str] = field(default_factory=dict)
    """In the quick size, by id the verdicts of the full one."""

    @classmethod
    def read(cls, folder: Path, tables: Analysis, grid: Grid) -> Material:
        """The analysis in ``tables`` with the texts in the paper's ``folder``. Raises EcnlabError for a text that is wrong."""
        published = read_published(folder)
        points, numbers, claims = tables["points"], tables["numbers"], tables["claims"]
        full = {} if tables.about["full"] else quoted_verdicts(folder)
        bare = cls(folder, published, grid, points, numbers, claims, tables, full=full)
        return replace(bare, reasons=read_reasons(folder / "reasons.toml", bare.evidence))

    @property
    def evidence(self) -> Evidence:
        """The data for the references of the paper's texts."""
        tables = {"points": self.points, "numbers": self.numbers, "claims": self.claims}
        if READINGS in self.tables:
            tables[READINGS] = self.tables[READINGS]
        return Evidence.of(self.published, self.grid, tables)

    @property
    def rules(self) -> Rules:
        """How verdicts are made in this size."""
        of_quick = LOOKED if self.tables.about.get("looked") else QUICK
        return FULL if self.tables.about["full"] else of_quick

    def metric(self, name: str) -> Metric:
        """The metric called ``name``."""
        return self.published.metrics[name]

    def at(self, metric: str, **where: str | list[str]) -> pl.DataFrame:
        """Return the points of a metric at a place; with the settings used for verdicts unless the place gives others."""
        return at(self.points, metric, {**self.published.where, **where})

    def point(self, metric: str, **where: str | list[str]) -> Row:
        """Return the single point of a metric at a place. Raises EcnlabError if there is none or several."""
        found = self.at(metric, **where)
        if found.height != 1:
            raise EcnlabError(f"{metric}: {found.height} measured points at {where}, need 1")
        return found.row(0, named=True)

    def with_interval(self, row: Row) -> str:
        """A point with its interval, as a reader writes it."""
        return with_interval(row, self.metric(row["metric"]))

    def cell(self, metric: str, **where: str | list[str]) -> Cell:
        """Return the single point of a metric at a place as a table cell; empty if nothing was measured."""
        return Cell(self.with_interval(self.point(metric, **where)) if self.at(metric, **where).height else "", True)

    def finding(self, claim: str, statement: str, range_of: str = "") -> Finding:
        """Return a claim as one sentence of the summary; for many places with the ``range_of`` its quantity."""
        if range_of:
            found = blocks.ranged(self.claims, self.published, claim, statement, range_of)
        else:
            found = blocks.finding(self.claims, self.published, self.grid, claim, statement)
        answer = self.claims.filter(pl.col("id") == claim)["answer"][0]
        return blocks.marked(found, answer, self.full.get(claim, answer))


def read_reasons(path: Path, evidence: Evidence) -> dict[str, str]:
    """Return the reason of each printed number or claim that has one, with its facts and references filled in.

    ``reasons.toml`` has no measured number: the points of the runs at hand are filled in.

    Raises EcnlabError naming a reason without a printed entry, or a fact that was not measured.
    """
    printed = evidence.published.ids()
    source = read_text(path)
    reasons: dict[str, str] = {}
    for entry in read_file(path, ReasonsFile).reason:
        if absent := set(entry.ids) - set(printed):
            raise EcnlabError(f"{path}: a reason for {min(absent)!r}, which is not in published.toml")
        facts = {name: _quoted(path, name, fact, evidence) for name, fact in entry.facts.items()}
        text = entry.text.strip()
        filled = fill(text, evidence, path, start=start_of(text, source), names=facts)
        for name in entry.ids:
            reasons[name] = f"{reasons[name]} {filled}" if name in reasons else filled
    return reasons


def _quoted(path: Path, name: str, fact: Fact, evidence: Evidence) -> Quoted:
    """Return the point that a fact names."""
    try:
        return References(evidence, path.parent).point(fact.metric, fact.pick, fact.to, **fact.where)
    except EcnlabError as error:
        raise EcnlabError(f"{path}: fact {name!r}: {error}") from error
