"""Time series that can be zoomed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from markupsafe import Markup

from ecnlab.report.scale import Scale, padded, span, written
from ecnlab.report.svg import Area, colour, stretched, strokes

ROWS: Final = 60
"""Most rows of a chart's table: enough to follow the series, few enough to read."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart.

    ``values`` share the chart's times. ``style`` selects the colour, from 0; a line that is not ``listed`` is not in
    the legend. With ``steps`` a value holds until the next one; with ``dots`` the points are not joined.
    """

    name: str
    values: Sequence[float]
    style: int = 0
    thin: bool = False
    listed: bool = True
    steps: bool = False
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Rug:
    """Events at the lower end of a chart, such as marks and drops: their ``times``, and a colour."""

    name: str
    times: Sequence[float]
    style: int = 0


@dataclass(frozen=True, slots=True)
class Chart:
    """A time series that can be zoomed and dragged.

    ``times`` are in the unit of ``x``, ``levels`` are marked values with their names; ``source`` names the figure of a paper
    that this one answers.
    """

    title: str
    caption: str
    times: Sequence[float]
    lines: Sequence[Line]
    unit: str
    levels: Sequence[tuple[float, str]] = ()
    source: str = ""
    x: str = "time, s"
    rugs: Sequence[Rug] = ()
    height: int = 240
    kind: Literal["chart"] = "chart"

    def svg(self) -> Markup:
        """The lines over time, the levels dashed, events as strokes."""
        area = self.area(span(self.times), self.extent())
        return area.svg(f"{self.title}. {self.caption}", self.marks(area), "zoom")

    def extent(self) -> tuple[float, float]:
        """Return the least and greatest value shown, 0 included."""
        values = [v for line in self.lines for v in line.values] + [value for value, _ in self.levels]
        return span(values, zero=True)

    def area(self, x: tuple[float, float], y: tuple[float, float]) -> Area:
        """The area of the given extent."""
        low, high = y
        scale = Scale(low if low == 0.0 else padded(low, high, 0.04)[0], padded(low, high, 0.06)[1])
        across = Scale(*x)
        return Area(across, scale, across.ticks(), scale.ticks(), self.x, self.height, zero=True, values="y")

    def marks(self, area: Area) -> Iterator[Markup]:
        """The drawn lines, levels and events."""
        yield stretched(
            [
                *(
                    area.dots(self.times, line.values, colour(line.style), line.name)
                    if line.dots
                    else area.curve(
                        self.times,
                        line.values,
                        f"{colour(line.style)} thin" if line.thin else colour(line.style),
                        steps=line.steps,
                        name=line.name,
                    )
                    for line in self.lines
                ),
                *(
                    strokes([area.x.place(at) for at in rug.times], colour(rug.style), rug.name, row)
                    for row, rug in enumerate(self.rugs)
                ),
            ]
        )
        yield from (area.level(value, name) for value, name in self.levels)

    def legend(self) -> list[tuple[str, str, str]]:
        """Return the listed lines and the events: name, colour, and "line" or "rug"."""
        lines = [(line.name, colour(line.style) + (" thin" if line.thin else ""), "line") for line in self.lines
                 if line.listed]  # fmt: skip
        rugs = [(f"{rug.name} ({len(rug.times):,})", colour(rug.style), "rug") for rug in self.rugs]
        return lines + rugs

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The chart's numbers, evenly thinned to at most `ROWS` rows: column names and rows."""
        step = math.ceil(len(self.times) / ROWS) or 1
        rows = [
            [f"{self.times[i]:.2f}", *(written(line.values[i]) for line in self.lines)]
            for i in range(0, len(self.times), step)
        ]
        return [self.x, *(f"{line.name}, {self.unit}" for line in self.lines)], rows


@dataclass(frozen=True, slots=True)
class Multiples:
    """Small charts on the same axes, side by side: one for each flow, queue or run."""

    title: str
    caption: str
    charts: Sequence[Chart]
    source: str = ""
    kind: Literal["multiples"] = "multiples"

    @property
    def unit(self) -> str:
        """Return the unit of the charts."""
        return self.charts[0].unit

    def drawings(self) -> list[tuple[str, Markup]]:
        """Return the title of each chart, and its drawing; all have the same extent."""
        xs, ys = zip(*((span(chart.times), chart.extent()) for chart in self.charts), strict=True)
        x, y = ((min(low for low, _ in ends), max(high for _, high in ends)) for ends in (xs, ys))
        found = []
        for chart in self.charts:
            area = chart.area(x, y)
            found.append((chart.title, area.svg(f"{self.title}: {chart.title}", chart.marks(area), "zoom")))
        return found

    def legend(self) -> list[tuple[str, str, str]]:
        """Return the entries of all charts, each name once; events without their numbers."""
        found = {line.name: (line.name, colour(line.style), "line") for chart in self.charts for line in chart.lines
                 if line.listed}  # fmt: skip
        rugs = {rug.name: (rug.name, colour(rug.style), "rug") for chart in self.charts for rug in chart.rugs}
        return [*found.values(), *rugs.values()]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The numbers of all charts, below each other: column names and rows."""
        head, _ = self.charts[0].table()
        return ["chart", *head], [[chart.title, *row] for chart in self.charts for row in chart.table()[1]]
