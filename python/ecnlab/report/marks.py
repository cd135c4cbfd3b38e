"""Marks of verdicts on two logarithmic axes: where in a plane of parameters a condition holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from ecnlab.report.forest import MARKERS
from ecnlab.report.scale import Scale
from ecnlab.report.strips import VERDICTS
from ecnlab.report.svg import Area
from ecnlab.report.tone import Tone


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with its ``tone``; ``label`` appears under the pointer, ``cells`` are its row in the table of numbers."""

    x: float
    y: float
    tone: Tone
    label: str
    cells: Sequence[str]


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks on logarithmic axes with the given ends, which are positive. ``x`` and ``unit`` are labels with units."""

    title: str
    caption: str
    marks: Sequence[Mark]
    x: str
    unit: str
    across: tuple[float, float]
    up: tuple[float, float]
    columns: Sequence[str]
    source: str = ""
    kind: Literal["chart"] = "chart"

    def svg(self) -> Markup:
        """Return the drawing."""
        x, y = (Scale(low / 1.15, high * 1.15, log=True) for low, high in (self.across, self.up))
        area = Area(x, y, x.ticks(), y.ticks(), self.x, 240)
        return area.svg(f"{self.title}. {self.caption}", self._marks(area))

    def legend(self) -> list[tuple[str, str, str]]:
        """Return name, colour and marker of each verdict."""
        return [(name, f"verdict {tone}", MARKERS[tone]) for name, tone in self._verdicts()]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the marks: column names and rows."""
        return list(self.columns), [list(one.cells) for one in self.marks]

    def _verdicts(self) -> list[tuple[str, Tone]]:
        there = {one.tone for one in self.marks}
        named: dict[Tone, str] = {tone: name for name, tone in VERDICTS} | {"open": "not defined"}
        return [(named[tone], tone) for _name, tone in VERDICTS if tone in there or tone != "open"]

    def _marks(self, area: Area) -> Iterator[Markup]:
        for one in self.marks:
            yield area.marker(one.x, one.y, MARKERS[one.tone], f"verdict {one.tone}", one.label)
