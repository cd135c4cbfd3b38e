"""The report of a paper as its ``report.toml`` defines it: summary and sections in their order, what is data as data.

``[page]`` has the ``title``, the result in one sentence (``answer``), the ``lede``, when a printed number counts as met (``agreement``), and ``context``: what all
points of a metric share. A ``[[finding]]`` is a sentence of the summary: a ``claim`` with its ``statement``, and of many places
with the ``range`` of what it is about; or ``own``.

A ``[section.NAME]`` has a ``title``, a ``text``, figures and tables; ``blocks`` gives their order where it is not ``figures``,
``tables``. Other names there, ``own`` findings and words in a text (``{{ seed() }}``) are functions of the paper's package; a text
may also quote measured values (`ecnlab.papers.references`). Figures and tables are drawn of the points in their ``where``.

``[axis.NAME]`` is an axis along a key of the grid: its ``label`` and the ``labels`` on it, each a number or beginning with one; or
with the ``values`` of its labels and their ``ticks``, "" for none; ``joined = false`` for labels without an order, whose points
no line joins. A figure has an ``axis``, a ``metric`` and curves: ``by`` is a key of the grid, with a curve for each of
``labels``; or ``curves`` lists them, each with a ``name``, a ``metric`` and a place (``where``). ``printed`` draws the printed points of these curves, too: of their own metric, or of another ``metric`` ``at`` one
label of the axis. ``changes`` draws printed changes, each the ``number`` of that id, ``from`` what is measured at that place.

A table lists ``metrics`` by ``keys``; or has a column for each of ``columns``, a metric or one with a ``name`` and a place
(``where``), and a row for each label of ``keys``, in the order of ``places`` if it has them; ``heads`` and ``names`` are what the
columns of keys and their labels are called here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.papers import blocks
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Made, Paper
from ecnlab.papers.published import read_toml
from ecnlab.papers.samples import at
from ecnlab.papers.template import fill, start_of
from ecnlab.report import Axis, Figure, Finding, Group, Point, Section, Series, Table
from ecnlab.report.page import Block, Cell
from ecnlab.scenario.files import read_text

FILE: Final = "report.toml"
KEYS: Final[Mapping[str, tuple[str, str]]] = {
    "page": ("title answer lede agreement", "context"),
    "finding": ("claim statement", "range"),
    "finding by code": ("own", ""),
    "axis": ("key label labels", "values ticks log joined"),
    "section": ("title text", "blocks figure table"),
    "figure": ("title axis metric", "caption label where by labels name curves printed changes zero ceiling"),
    "curve": ("name", "metric where printed style"),
    "table": ("caption keys metrics", "where folded"),
    "wide table": ("caption keys columns", "where folded places heads names"),
    "column": ("metric", "name where"),
}
"""Required and optional keys of each part."""

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of ``report.toml``, to be filled with measurements."""

    file: Path
    paper: Paper
    given: Material
    contents: Entry

    @classmethod
    def read(cls, folder: Path, paper: Paper, given: Material) -> Report:
        """From the paper's ``folder``. Raises EcnlabError for a name or key that there is not."""
        contents = read_toml(folder / FILE)
        _check(contents, paper, given)
        return cls(folder / FILE, paper, given, contents)

    @property
    def page(self) -> Entry:
        """Return title, lede and other settings of the whole page."""
        found: Entry = self.contents["page"]
        return found

    def answer(self) -> str:
        """Return the result in one sentence."""
        return self._text(self.page["answer"].strip())

    def findings(self) -> list[Finding]:
        """The summary."""
        return [
            self.paper.findings[one["own"]](self.given)
            if "own" in one
            else self.given.say(one["claim"], one["statement"], one.get("range", ""))
            for one in self.contents.get("finding", [])
        ]

    def sections(self) -> list[Section]:
        """The sections in their order; all are folded, the first on a phone only."""
        return [
            Section(
                name,
                one["title"],
                self._text(one["text"].strip()),
                list(self._blocks(one)),
                folded=True if i else "narrow",
            )
            for i, (name, one) in enumerate(self.contents.get("section", {}).items())
        ]

    def _text(self, text: str) -> str:
        words = {name: partial(word, self.given) for name, word in self.paper.words.items()}
        start = start_of(text, read_text(self.file))
        return fill(text, self.given.evidence, self.file, start=start, names=words)

    def _blocks(self, section: Entry) -> Iterator[Block]:
        for name in section.get("blocks", ("figures", "tables")):
            if name == "figures":
                yield from [Group([self._figure(one) for one in section["figure"]])] if "figure" in section else []
            elif name == "tables":
                yield from (self._table(one) for one in section.get("table", []))
            else:
                made = self.paper.blocks[name](self.given)
                yield from [made] if isinstance(made, Made) else made

    # ----------------------------------------------------------- figures

    def _figure(self, entry: Entry) -> Figure:
        axis, scale, metric = (
            self.contents["axis"][entry["axis"]],
            self._scale(entry["axis"]),
            self.given.metric(entry["metric"]),
        )
        ticks = axis.get("ticks") or [f"{value:g}" for value in scale.values()]
        curves, printed = [], []
        for i, curve in enumerate(self._curves(entry)):
            name, style = curve["name"], curve.get("style", i)
            points = self.given.at(curve["metric"], **curve["where"])
            curves.append(blocks.series(points, axis["key"], scale, name, style))
            printed += self._printed(curve, axis["key"], scale, style)
        return blocks.figure(
            entry["title"],
            entry.get("caption", metric.definition),
            Axis(
                axis["label"],
                [(value, text) for value, text in zip(scale.values(), ticks, strict=True) if text],
                log=axis.get("log", False),
            ),
            metric,
            curves,
            [*printed, *self._changes(entry, axis["key"], scale)],
            zero=entry.get("zero", True),
            label=entry.get("label", ""),
            ceiling=entry.get("ceiling", math.inf),
            joined=axis.get("joined", True),
        )

    def _scale(self, axis: str) -> dict[str, float]:
        """Where the labels of an axis lie on it."""
        entry = self.contents["axis"][axis]
        values = entry.get("values") or [float(label.split()[0].rstrip("%")) for label in entry["labels"]]
        return dict(zip(entry["labels"], values, strict=True))

    def _curves(self, entry: Entry) -> Iterator[dict[str, Any]]:
        """Return each curve with its name, metric and place, and the printed points to be drawn."""
        where, common = entry.get("where", {}), {"metric": entry["metric"], "printed": entry.get("printed", False)}
        for label in entry.get("labels", []):
            name = entry.get("name", "{}").format(self.given.grid.named(label))
            yield {**common, "name": name, "where": {**where, entry["by"]: label}}
        for curve in entry.get("curves", []):
            yield {**common, **curve, "where": {**where, **curve.get("where", {})}}

    def _printed(self, curve: Entry, key: str, scale: Mapping[str, float], style: int) -> list[Series]:
        name, drawn = f"printed, {curve['name']}", curve["printed"]
        if not isinstance(drawn, Mapping):
            here = at(self.given.numbers, curve["metric"], curve["where"])
            return blocks.printed(here, key, scale, name, style) if drawn else []
        there = at(self.given.numbers, drawn["metric"], curve["where"])
        return [Series(name, [Point(scale[drawn["at"]], value) for value in there["printed"]], style)]

    def _changes(self, entry: Entry, key: str, scale: Mapping[str, float]) -> Iterator[Series]:
        for change in entry.get("changes", []):
            base, by = change["from"], self.given.published.number(change["number"]).value
            measured = self.given.point(entry["metric"], **{**entry.get("where", {}), **base})["mean"]
            name = f"printed: {100 * by:+.3g}% from {self.given.grid.named(base[entry['by']])}"
            yield Series(name, [Point(scale[base[key]], measured * (1.0 + by))])

    # ----------------------------------------------------------- tables

    def _table(self, entry: Entry) -> Table:
        if "columns" in entry:
            return self._wide(entry)
        points = at(self.given.points, entry["metrics"], {**self.given.published.where, **entry.get("where", {})})
        return blocks.table_of(
            points,
            self.given.published,
            entry["caption"],
            entry["keys"],
            self.given.grid,
            folded=entry.get("folded", True),
        )

    def _wide(self, entry: Entry) -> Table:
        """Return one row per place and one column per metric."""
        where, keys, names = entry.get("where", {}), entry["keys"], entry.get("names", {})
        columns = [{"metric": one} if isinstance(one, str) else one for one in entry["columns"]]
        titles = [column.get("name", self.given.metric(column["metric"]).name) for column in columns]
        rows = [
            [
                *(Cell(names.get(label, self.given.grid.named(label))) for label in place),
                *(self._cell(column, {**where, **dict(zip(keys, place, strict=True))}) for column in columns),
            ]
            for place in self._places(entry, columns)
        ]
        heads = [entry.get("heads", {}).get(key, key) for key in keys]
        return Table(entry["caption"], [*heads, *titles], rows, folded=entry.get("folded", False))

    def _cell(self, column: Entry, place: Entry) -> Cell:
        return self.given.cell(column["metric"], **{**place, **column.get("where", {})})

    def _places(self, entry: Entry, columns: Sequence[Entry]) -> Iterator[tuple[str, ...]]:
        """Return the labels of each row: those of ``places``, or those measured for the first column."""
        for place in entry.get("places", []):
            labels = [place[key] for key in entry["keys"]]
            yield from product(*(label if isinstance(label, list) else [label] for label in labels))
        if "places" not in entry:
            first = self.given.at(columns[0]["metric"], **entry.get("where", {}), **columns[0].get("where", {}))
            yield from first.select(entry["keys"]).unique(maintain_order=True).iter_rows()


def _check(entry: Entry, paper: Paper, given: Material) -> None:
    """Raise EcnlabError for the first unknown name or key in ``entry``."""
    _keys("page", entry.get("page", {}), "page")
    metrics = given.published.metrics
    for finding in entry.get("finding", []):
        _keys("finding", finding, "finding by code" if "own" in finding else "finding")
        _known("finding", "finding", [finding["own"]] if "own" in finding else [], paper.findings)
        _known("finding", "claim", [finding["claim"]] if "claim" in finding else [], given.published.ids())
    for name, axis in entry.get("axis", {}).items():
        _keys(name, axis, "axis")
    for name, section in entry.get("section", {}).items():
        _keys(name, section, "section")
        _known(name, "block", section.get("blocks", []), {**paper.blocks, "figures": None, "tables": None})
        for figure in section.get("figure", []):
            _keys(name, figure, "figure")
            _known(name, "axis", [figure["axis"]], entry["axis"])
            _parts(name, "curve", figure.get("curves", []), metrics)
            _known(name, "number", [change["number"] for change in figure.get("changes", [])], given.published.ids())
            _known(name, "metric", [figure["metric"]], metrics)
        for table in section.get("table", []):
            _keys(name, table, "wide table" if "columns" in table else "table")
            columns = table.get("columns", [])
            _parts(name, "column", [column for column in columns if not isinstance(column, str)], metrics)
            _known(name, "metric", [*table.get("metrics", []), *(c for c in columns if isinstance(c, str))], metrics)


def _parts(section: str, kind: str, parts: Sequence[Entry], metrics: Mapping[str, Any]) -> None:
    for part in parts:
        _keys(section, part, kind)
        _known(section, "metric", [part["metric"]] if "metric" in part else [], metrics)


def _keys(section: str, entry: Entry, kind: str) -> None:
    needed, others = (names.split() for names in KEYS[kind])
    _known(section, f"key of a {kind}", entry, [*needed, *others])
    if missing := [name for name in needed if name not in entry]:
        raise EcnlabError(f"{FILE}: {section}: a {kind} needs {missing[0]!r}")


def _known(section: str, kind: str, names: Iterable[str], there: Collection[str]) -> None:
    for name in names:
        if name not in there:
            raise EcnlabError(f"{FILE}: {section}: no {kind} is called {name!r}; there are {', '.join(there)}")
