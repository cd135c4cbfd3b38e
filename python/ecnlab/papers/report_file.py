"""The report of a paper, drawn as ``report.toml`` (`ecnlab.papers.tables.ReportFile`) defines it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import unknown
from ecnlab.papers import blocks, tables
from ecnlab.papers.judge import at
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Made, Paper
from ecnlab.papers.references import fill, start_of
from ecnlab.papers.tables import Column, Curve, PrintedAt, ReportFile
from ecnlab.report import Axis, Figure, Finding, Group, Point, Section, Series, Table
from ecnlab.report.page import Block, Cell
from ecnlab.scenario.data_files import read_file
from ecnlab.scenario.files import read_text

FILE: Final = "report.toml"


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of ``report.toml``, to be filled with measurements."""

    file: Path
    paper: Paper
    given: Material
    contents: ReportFile

    @classmethod
    def read(cls, folder: Path, paper: Paper, given: Material) -> Report:
        """From the paper's ``folder``. Raises EcnlabError for a name or key that there is not."""
        file = folder / FILE
        contents = read_file(file, ReportFile)
        for place, kind, name, there in _names(contents, paper, given):
            if name not in there:
                raise EcnlabError(f"{file}: {place}: {unknown(kind, name, there)}")
        return cls(file, paper, given, contents)

    def answer(self) -> str:
        """Return the result in one sentence."""
        return self._text(self.contents.page.answer.strip())

    def findings(self) -> list[Finding]:
        """The summary."""
        return [
            self.paper.findings[one.own](self.given)
            if one.own
            else self.given.finding(one.claim, one.statement, one.range)
            for one in self.contents.finding
        ]

    def sections(self) -> list[Section]:
        """The sections in their order; all are folded, the first on a phone only."""
        return [
            Section(
                name,
                one.title,
                self._text(one.text.strip()),
                list(self._blocks(one)),
                folded=True if i else "narrow",
            )
            for i, (name, one) in enumerate(self.contents.section.items())
        ]

    def _text(self, text: str) -> str:
        words = {name: partial(word, self.given) for name, word in self.paper.words.items()}
        start = start_of(text, read_text(self.file))
        return fill(text, self.given.evidence, self.file, start=start, names=words)

    def _blocks(self, section: tables.Section) -> Iterator[Block]:
        for name in section.blocks:
            if name == "figures":
                yield from [Group([self._figure(one) for one in section.figure])] if section.figure else []
            elif name == "tables":
                yield from (self._table(one) for one in section.table)
            else:
                made = self.paper.blocks[name](self.given)
                yield from [made] if isinstance(made, Made) else made

    # ----------------------------------------------------------- figures

    def _figure(self, entry: tables.Figure) -> Figure:
        axis, metric = self.contents.axis[entry.axis], self.given.metric(entry.metric)
        scale = _scale(axis)
        ticks = axis.ticks or [f"{value:g}" for value in scale.values()]
        curves, printed = [], []
        for i, curve in enumerate(self._curves(entry)):
            style = i if curve.style is None else curve.style
            points = self.given.at(curve.metric, **curve.where)
            curves.append(blocks.series(points, axis.key, scale, curve.name, style))
            printed += self._printed(curve, axis.key, scale, style)
        return blocks.figure(
            entry.title,
            metric.definition if entry.caption is None else entry.caption,
            Axis(
                axis.label,
                [(value, text) for value, text in zip(scale.values(), ticks, strict=True) if text],
                log=axis.log,
            ),
            metric,
            curves,
            [*printed, *self._changes(entry, axis.key, scale)],
            zero=entry.zero,
            label=entry.label,
            ceiling=math.inf if entry.ceiling is None else entry.ceiling,
            joined=axis.joined,
        )

    def _curves(self, entry: tables.Figure) -> Iterator[Curve]:
        """Yield each curve with its name, metric and place, and the printed points to be drawn."""
        for label in entry.labels:
            name = entry.name.format(self.given.grid.named(label))
            yield Curve(name, entry.metric, {**entry.where, entry.by: label}, entry.printed)
        for curve in entry.curves:
            printed = entry.printed if curve.printed is None else curve.printed
            metric, where = curve.metric or entry.metric, {**entry.where, **curve.where}
            yield Curve(curve.name, metric, where, printed, curve.style)

    def _printed(self, curve: Curve, key: str, scale: Mapping[str, float], style: int) -> list[Series]:
        name, drawn = f"printed, {curve.name}", curve.printed
        if not isinstance(drawn, PrintedAt):
            here = at(self.given.numbers, curve.metric, curve.where)
            return blocks.printed(here, key, scale, name, style) if drawn else []
        there = at(self.given.numbers, drawn.metric, curve.where)
        return [Series(name, [Point(scale[drawn.at], value) for value in there["printed"]], style)]

    def _changes(self, entry: tables.Figure, key: str, scale: Mapping[str, float]) -> Iterator[Series]:
        for change in entry.changes:
            base, by = change.start, self.given.published.number(change.number).value
            measured = self.given.point(entry.metric, **{**entry.where, **base})["mean"]
            name = f"printed: {100 * by:+.3g}% from {self.given.grid.named(base[entry.by])}"
            yield Series(name, [Point(scale[base[key]], measured * (1.0 + by))])

    # ----------------------------------------------------------- tables

    def _table(self, entry: tables.Table) -> Table:
        if entry.columns:
            return self._wide(entry)
        points = at(self.given.points, entry.metrics, {**self.given.published.where, **entry.where})
        folded = entry.folded is not False
        return blocks.table_of(points, self.given.published, entry.caption, entry.keys, self.given.grid, folded)

    def _wide(self, entry: tables.Table) -> Table:
        """Return one row per place and one column per metric."""
        columns = _columns(entry)
        titles = [column.name or self.given.metric(column.metric).name for column in columns]
        heads = [entry.heads.get(key, key) for key in entry.keys]
        rows = []
        for place in self._places(entry, columns[0]):
            where = {**entry.where, **dict(zip(entry.keys, place, strict=True))}
            labels = [Cell(entry.names.get(label, self.given.grid.named(label))) for label in place]
            rows.append([*labels, *(self.given.cell(one.metric, **{**where, **one.where}) for one in columns)])
        return Table(entry.caption, [*heads, *titles], rows, folded=entry.folded or False)

    def _places(self, entry: tables.Table, first: Column) -> Iterator[tuple[str, ...]]:
        """Return the labels of each row: those of ``places``, or those measured for the ``first`` column."""
        for place in entry.places:
            labels = [place[key] for key in entry.keys]
            yield from product(*(label if isinstance(label, list) else [label] for label in labels))
        if not entry.places:
            points = self.given.at(first.metric, **entry.where, **first.where)
            yield from points.select(entry.keys).unique(maintain_order=True).iter_rows()


def _scale(axis: tables.Axis) -> dict[str, float]:
    """Return the position of each label of an axis."""
    values = axis.values or [float(label.split()[0].rstrip("%")) for label in axis.labels]
    return dict(zip(axis.labels, values, strict=True))


def _columns(entry: tables.Table) -> list[Column]:
    return [Column(one) if isinstance(one, str) else one for one in entry.columns]


def _names(report: ReportFile, paper: Paper, given: Material) -> Iterator[tuple[str, str, str, Collection[str]]]:
    """Yield each name that must exist elsewhere: its place in the file, its kind, the name, and the names that there are."""
    metrics, ids = given.published.metrics, given.published.ids()
    for i, finding in enumerate(report.finding):
        place = f"finding[{i}]"
        yield (place, "finding", finding.own, paper.findings) if finding.own else (place, "claim", finding.claim, ids)
    yield from ((place, "key of the grid", key, paper.grid.keys) for place, key in _keys(report))
    for key, section in report.section.items():
        blocks_there = [*paper.blocks, "figures", "tables"]
        yield from ((f"section.{key}", "block", block, blocks_there) for block in section.blocks)
        for i, figure in enumerate(section.figure):
            place = f"section.{key}.figure[{i}]"
            yield place, "axis", figure.axis, report.axis
            yield from ((place, "number", change.number, ids) for change in figure.changes)
            for metric in (figure.metric, *(curve.metric for curve in figure.curves if curve.metric)):
                yield place, "metric", metric, metrics
        for i, table in enumerate(section.table):
            for metric in (*table.metrics, *(column.metric for column in _columns(table))):
                yield f"section.{key}.table[{i}]", "metric", metric, metrics


def _keys(report: ReportFile) -> Iterator[tuple[str, str]]:
    """Yield each key of the grid that the file names, with its place in the file."""
    yield from ((f"axis.{name}", axis.key) for name, axis in report.axis.items())
    for name, section in report.section.items():
        for i, figure in enumerate(section.figure):
            places = (figure.where, *(curve.where for curve in figure.curves), *(one.start for one in figure.changes))
            by = [figure.by] if figure.by else []
            yield from ((f"section.{name}.figure[{i}]", key) for key in (*by, *chain.from_iterable(places)))
        for i, table in enumerate(section.table):
            places = (table.where, *table.places, *(column.where for column in _columns(table)))
            yield from ((f"section.{name}.table[{i}]", key) for key in (*table.keys, *chain.from_iterable(places)))
