"""Sections of a report as a paper's ``sections.toml`` tells them: texts, figures and tables that are nothing but data.

A section has a ``title``, a ``text``, figures and tables. ``[axis.NAME]`` is an axis along a key of the grid: its ``label`` and the
``labels`` on it, each a number or beginning with one. A figure has an ``axis``, a ``metric`` and curves: ``by`` is a key of
the grid, with a curve for each of ``labels``; or ``curves`` lists them, each with a ``name``, a ``metric`` and a place
(``where``). ``printed`` draws the printed points of these curves, too. An axis may give the ``values`` of its labels and their
``ticks``, "" for none. A table lists ``metrics`` by ``keys``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab.errors import EcnlabError
from ecnlab.papers import blocks
from ecnlab.papers.grid import Grid
from ecnlab.papers.published import Published, read_toml
from ecnlab.papers.samples import at
from ecnlab.report import Axis, Figure, Group, Section, Series, Table

Marks = Mapping[str, Sequence[Series]]
"""Points of the paper by the metric of the figure that they are drawn in."""


@dataclass(frozen=True, slots=True)
class Told:
    """The sections of a paper, to be filled with what was measured."""

    grid: Grid
    published: Published
    numbers: pl.DataFrame
    given: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path, grid: Grid, published: Published, numbers: pl.DataFrame) -> Told:
        """From the paper's ``folder``. Raises EcnlabError for an axis or a metric that there is not."""
        given = read_toml(folder / "sections.toml")
        for section, told in given["section"].items():
            for figure in told.get("figure", []):
                _known(section, "axis", [figure["axis"]], given["axis"])
                _known(section, "metric", [figure["metric"]], published.metrics)
                _known(
                    section,
                    "metric",
                    [x["metric"] for x in figure.get("curves", []) if "metric" in x],
                    published.metrics,
                )
            for table in told.get("table", []):
                _known(section, "metric", table["metrics"], published.metrics)
        return cls(grid, published, numbers, given)

    def section(
        self, name: str, points: pl.DataFrame, marks: Marks | None = None, tables: Sequence[Table] = ()
    ) -> Section:
        """The section called ``name``, with ``marks`` in its figures and ``tables`` in front of its own."""
        told = self.given["section"][name]
        figures = [self._figure(points, one, (marks or {}).get(one["metric"], ())) for one in told.get("figure", [])]
        own = [self._table(points, one) for one in told.get("table", [])]
        return Section(
            name, told["title"], told["text"].strip(), [*([Group(figures)] if figures else []), *tables, *own]
        )

    def scale(self, axis: str) -> dict[str, float]:
        """Where the labels of an axis lie on it."""
        told = self.given["axis"][axis]
        values = told.get("values") or [float(label.split()[0].rstrip("%")) for label in told["labels"]]
        return dict(zip(told["labels"], values, strict=True))

    def _figure(self, points: pl.DataFrame, told: Mapping[str, Any], marks: Sequence[Series]) -> Figure:
        axis, scale = self.given["axis"][told["axis"]], self.scale(told["axis"])
        ticks = axis.get("ticks") or [f"{value:g}" for value in scale.values()]
        curves, printed = [], list(marks)
        for i, curve in enumerate(self._curves(told)):
            name, metric, where, style = curve["name"], curve["metric"], curve["where"], curve.get("style", i)
            curves.append(blocks.series(at(points, metric, where), axis["key"], scale, name, style))
            if curve["printed"]:
                here = at(self.numbers, metric, where)
                printed += blocks.printed(here, axis["key"], scale, f"printed, {name}", style)
        return blocks.figure(
            told["title"],
            told["caption"],
            Axis(
                axis["label"],
                [(value, text) for value, text in zip(scale.values(), ticks, strict=True) if text],
                log=axis.get("log", False),
            ),
            self.published.metrics[told["metric"]],
            curves,
            printed,
            zero=told.get("zero", True),
            label=told.get("label", ""),
            ceiling=told.get("ceiling", math.inf),
        )

    def _curves(self, told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Each curve with its name, metric and place, and whether its printed points are drawn."""
        where, common = told.get("where", {}), {"metric": told["metric"], "printed": told.get("printed", False)}
        for label in told.get("labels", []):
            name = told.get("name", "{}").format(self.grid.named(label))
            yield {**common, "name": name, "where": {**where, told["by"]: label}}
        for curve in told.get("curves", []):
            yield {**common, **curve, "where": {**where, **curve.get("where", {})}}

    def _table(self, points: pl.DataFrame, told: Mapping[str, Any]) -> Table:
        wanted = points.filter(pl.col("metric").is_in(told["metrics"]))
        return blocks.table_of(
            wanted, self.published, told["caption"], told["keys"], self.grid, folded=told.get("folded", True)
        )


def _known(section: str, kind: str, names: Sequence[str], there: Mapping[str, Any]) -> None:
    for name in names:
        if name not in there:
            raise EcnlabError(f"sections.toml: {section}: no {kind} is called {name!r}; there are {', '.join(there)}")
