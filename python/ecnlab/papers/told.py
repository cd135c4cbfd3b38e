"""The report of a paper as its ``report.toml`` tells it: summary and sections in their order, what is data as data.

``[page]`` has the ``title``, the result in one sentence (``answer``), the ``lede``, when a printed number counts as met (``agreement``), and ``context``: what all
points of a metric share. A ``[[finding]]`` is a sentence of the summary: a ``claim`` with its ``statement``, and of many places
with the ``range`` of what it is about; or ``own``.

A ``[section.NAME]`` has a ``title``, a ``text``, figures and tables; ``blocks`` gives their order where it is not ``figures``,
``tables``. Other names there, ``own`` findings and ``{words}`` in a text are functions of the paper's package; a text may also
quote measured values (`ecnlab.papers.references`). Figures and tables are drawn of the points ``where`` they say.

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
from itertools import product
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.papers import blocks
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Made, Paper
from ecnlab.papers.published import read_toml
from ecnlab.papers.references import Evidence, fill
from ecnlab.papers.samples import at
from ecnlab.report import Axis, Figure, Finding, Group, Point, Section, Series, Table
from ecnlab.report.page import Block, Cell

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

Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """The contents of ``report.toml``, to be filled with measurements."""

    paper: Paper
    given: Material
    told: Told

    @classmethod
    def read(cls, folder: Path, paper: Paper, given: Material) -> Report:
        """From the paper's ``folder``. Raises EcnlabError for a name or key that there is not."""
        told = read_toml(folder / FILE)
        _check(told, paper, given)
        return cls(paper, given, told)

    @property
    def page(self) -> Told:
        """Return title, lede and other settings of the whole page."""
        found: Told = self.told["page"]
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
            for one in self.told.get("finding", [])
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
            for i, (name, one) in enumerate(self.told.get("section", {}).items())
        ]

    def _text(self, text: str) -> str:
        given = self.given
        tables = {"points": given.points, "numbers": given.numbers, "claims": given.claims}
        words = {name: lambda _part, say=say: say(given) for name, say in self.paper.words.items()}
        return fill(text, Evidence(given.published, given.grid, tables), words)

    def _blocks(self, section: Told) -> Iterator[Block]:
        for name in section.get("blocks", ("figures", "tables")):
            if name == "figures":
                yield from [Group([self._figure(one) for one in section["figure"]])] if "figure" in section else []
            elif name == "tables":
                yield from (self._table(one) for one in section.get("table", []))
            else:
                made = self.paper.blocks[name](self.given)
                yield from [made] if isinstance(made, Made) else made

    # ----------------------------------------------------------- figures

    def _figure(self, told: Told) -> Figure:
        axis, scale, metric = (
            self.told["axis"][told["axis"]],
            self._scale(told["axis"]),
            self.given.metric(told["metric"]),
        )
        ticks = axis.get("ticks") or [f"{value:g}" for value in scale.values()]
        curves, printed = [], []
        for i, curve in enumerate(self._curves(told)):
            name, style = curve["name"], curve.get("style", i)
            points = self.given.at(curve["metric"], **curve["where"])
            curves.append(blocks.series(points, axis["key"], scale, name, style))
            printed += self._printed(curve, axis["key"], scale, style)
        return blocks.figure(
            told["title"],
            told.get("caption", metric.definition),
            Axis(
                axis["label"],
                [(value, text) for value, text in zip(scale.values(), ticks, strict=True) if text],
                log=axis.get("log", False),
            ),
            metric,
            curves,
            [*printed, *self._changes(told, axis["key"], scale)],
            zero=told.get("zero", True),
            label=told.get("label", ""),
            ceiling=told.get("ceiling", math.inf),
            joined=axis.get("joined", True),
        )

    def _scale(self, axis: str) -> dict[str, float]:
        """Where the labels of an axis lie on it."""
        told = self.told["axis"][axis]
        values = told.get("values") or [float(label.split()[0].rstrip("%")) for label in told["labels"]]
        return dict(zip(told["labels"], values, strict=True))

    def _curves(self, told: Told) -> Iterator[dict[str, Any]]:
        """Return each curve with its name, metric and place, and the printed points to be drawn."""
        where, common = told.get("where", {}), {"metric": told["metric"], "printed": told.get("printed", False)}
        for label in told.get("labels", []):
            name = told.get("name", "{}").format(self.given.grid.named(label))
            yield {**common, "name": name, "where": {**where, told["by"]: label}}
        for curve in told.get("curves", []):
            yield {**common, **curve, "where": {**where, **curve.get("where", {})}}

    def _printed(self, curve: Told, key: str, scale: Mapping[str, float], style: int) -> list[Series]:
        name, asked = f"printed, {curve['name']}", curve["printed"]
        if not isinstance(asked, Mapping):
            here = at(self.given.numbers, curve["metric"], curve["where"])
            return blocks.printed(here, key, scale, name, style) if asked else []
        there = at(self.given.numbers, asked["metric"], curve["where"])
        return [Series(name, [Point(scale[asked["at"]], value) for value in there["printed"]], style)]

    def _changes(self, told: Told, key: str, scale: Mapping[str, float]) -> Iterator[Series]:
        for change in told.get("changes", []):
            base, by = change["from"], self.given.published.number(change["number"]).value
            measured = self.given.point(told["metric"], **{**told.get("where", {}), **base})["mean"]
            name = f"printed: {100 * by:+.3g}% from {self.given.grid.named(base[told['by']])}"
            yield Series(name, [Point(scale[base[key]], measured * (1.0 + by))])

    # ----------------------------------------------------------- tables

    def _table(self, told: Told) -> Table:
        if "columns" in told:
            return self._wide(told)
        points = at(self.given.points, told["metrics"], {**self.given.published.where, **told.get("where", {})})
        return blocks.table_of(
            points,
            self.given.published,
            told["caption"],
            told["keys"],
            self.given.grid,
            folded=told.get("folded", True),
        )

    def _wide(self, entry: Told) -> Table:
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

    def _cell(self, column: Told, place: Told) -> Cell:
        return self.given.cell(column["metric"], **{**place, **column.get("where", {})})

    def _places(self, told: Told, columns: Sequence[Told]) -> Iterator[tuple[str, ...]]:
        """Return the labels of each row: those of ``places``, or those measured for the first column."""
        for place in told.get("places", []):
            labels = [place[key] for key in told["keys"]]
            yield from product(*(label if isinstance(label, list) else [label] for label in labels))
        if "places" not in told:
            first = self.given.at(columns[0]["metric"], **told.get("where", {}), **columns[0].get("where", {}))
            yield from first.select(told["keys"]).unique(maintain_order=True).iter_rows()


def _check(told: Told, paper: Paper, given: Material) -> None:
    """Raise EcnlabError for the first unknown name or key in ``told``."""
    _keys("page", told.get("page", {}), "page")
    metrics = given.published.metrics
    for finding in told.get("finding", []):
        _keys("finding", finding, "finding by code" if "own" in finding else "finding")
        _known("finding", "finding", [finding["own"]] if "own" in finding else [], paper.findings)
        _known("finding", "claim", [finding["claim"]] if "claim" in finding else [], given.published.ids())
    for name, axis in told.get("axis", {}).items():
        _keys(name, axis, "axis")
    for name, section in told.get("section", {}).items():
        _keys(name, section, "section")
        _known(name, "block", section.get("blocks", []), {**paper.blocks, "figures": None, "tables": None})
        for figure in section.get("figure", []):
            _keys(name, figure, "figure")
            _known(name, "axis", [figure["axis"]], told["axis"])
            _parts(name, "curve", figure.get("curves", []), metrics)
            _known(name, "number", [change["number"] for change in figure.get("changes", [])], given.published.ids())
            _known(name, "metric", [figure["metric"]], metrics)
        for table in section.get("table", []):
            _keys(name, table, "wide table" if "columns" in table else "table")
            columns = table.get("columns", [])
            _parts(name, "column", [column for column in columns if not isinstance(column, str)], metrics)
            _known(name, "metric", [*table.get("metrics", []), *(c for c in columns if isinstance(c, str))], metrics)


def _parts(section: str, kind: str, parts: Sequence[Told], metrics: Mapping[str, Any]) -> None:
    for part in parts:
        _keys(section, part, kind)
        _known(section, "metric", [part["metric"]] if "metric" in part else [], metrics)


def _keys(section: str, told: Told, kind: str) -> None:
    needed, others = (names.split() for names in KEYS[kind])
    _known(section, f"key of a {kind}", told, [*needed, *others])
    if missing := [name for name in needed if name not in told]:
        raise EcnlabError(f"{FILE}: {section}: a {kind} needs {missing[0]!r}")


def _known(section: str, kind: str, names: Iterable[str], there: Collection[str]) -> None:
    for name in names:
        if name not in there:
            raise EcnlabError(f"{FILE}: {section}: no {kind} is called {name!r}; there are {', '.join(there)}")
