"""Points in a plane with their outlines: goodput over delay, a cloud for each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from markupsafe import Markup

from ecnlab.report.scale import Scale, padded, span, written
from ecnlab.report.svg import MARKERS, Area, colour, stretched

ROWS: Final = 200
"""Most rows of the table of numbers."""

LOG_PAD: Final = 1.3
"""Factor of the space next to the points on a logarithmic axis."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points (x, y) of a group, their median, and a closed outline; none with too few points."""

    name: str
    points: Sequence[tuple[float, float]]
    median: tuple[float, float]
    outline: Sequence[tuple[float, float]] = ()
    style: int = 0


@dataclass(frozen=True, slots=True)
class Scatter:
    """Clouds on common axes: a dot for each point, a marker at the medians. ``x`` and ``unit`` are labels with units.

    With ``log`` the x axis is logarithmic, and values of x are positive.
    """

    title: str
    caption: str
    clouds: Sequence[Cloud]
    x: str
    unit: str
    source: str = ""
    log: bool = False
    kind: Literal["chart"] = "chart"

    def svg(self) -> Markup:
        """Return the drawing."""
        area = self.area()
        return area.svg(f"{self.title}. {self.caption}", self._marks(area))

    def area(self) -> Area:
        """Return the axes: from 0 unless the points are far from it."""
        ends = [(*one.points, *one.outline, one.median) for one in self.clouds]
        xs, ys = ([point[i] for points in ends for point in points] for i in (0, 1))
        across = Scale(min(xs) / LOG_PAD, max(xs) * LOG_PAD, log=True) if self.log else Scale(*_reach(xs))
        up = Scale(*_reach(ys))
        return Area(across, up, across.ticks(), up.ticks(), self.x, 300, values="xy")

    def legend(self) -> list[tuple[str, str, str]]:
        """Return name, colour and marker of each cloud."""
        return [(one.name, colour(one.style), MARKERS[one.style % len(MARKERS)]) for one in self.clouds]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The points of each cloud: column names and rows."""
        rows = [[one.name, written(x), written(y)] for one in self.clouds for x, y in one.points]
        return ["group", self.x, self.unit], rows[:ROWS]

    def _marks(self, area: Area) -> Iterator[Markup]:
        yield stretched(
            [
                *(area.outline(one.outline, f"{colour(one.style)} filled") for one in self.clouds if one.outline),
                *(area.dots(*_columns(one.points), f"{colour(one.style)} large") for one in self.clouds if one.points),
            ]
        )
        for one in self.clouds:
            label = f"{one.name}: median {written(one.median[0])}, {written(one.median[1])}"
            yield area.marker(*one.median, MARKERS[one.style % len(MARKERS)], colour(one.style), label)


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _reach(values: Sequence[float]) -> tuple[float, float]:
    low, high = span(values)
    low, high = padded(low, high, 0.08)
    return (0.0, high) if low < 0.5 * high else (low, high)
