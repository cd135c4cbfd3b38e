"""Figures: points with intervals on one or more series.

Every figure carries its numbers as a table too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from ecnlab.report.scale import Scale, padded
from ecnlab.report.svg import HOLLOW, MARKERS, Area, colour, stretched

DODGE: Final = 0.018
"""Horizontal offset between series as a fraction of the axis, so that intervals at one position do not hide each other.
"""


@dataclass(frozen=True, slots=True)
class Point:
    """One measured value with its interval; ``x`` in axis units."""

    x: float
    mean: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0

    @property
    def has_interval(self) -> bool:
        """Return whether both ends are known; either may be infinite."""
        return not math.isnan(self.low + self.high)


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together. ``style`` picks colour and marker, from 0."""

    name: str
    points: Sequence[Point]
    style: int = 0


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its label, its ticks as (value, text), its scale."""

    label: str
    ticks: Sequence[tuple[float, str]] = ()
    log: bool = False

    def place(self, value: float) -> float:
        """Return the position of ``value`` where distances are even: its logarithm on a log axis."""
        return math.log10(value) if self.log else value

    def value(self, place: float) -> float:
        """Return the value at a position."""
        return 10.0**place if self.log else place


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with a caption.

    ``zero`` draws the line of no difference, ``printed`` holds a paper's own points, ``levels`` a paper's own values
    that are constant along the axis, drawn as lines with their names; ``ceiling`` is the maximum possible value.
    ``source`` names the figure of a paper that this one reproduces ("Figure 16"). Points are not ``joined`` where the axis
    has no order.
    """

    title: str
    caption: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    printed: Sequence[Series] = ()
    zero: bool = True
    percent: bool = False
    ceiling: float = math.inf
    levels: Sequence[tuple[float, str]] = ()
    source: str = ""
    joined: bool = True

    @property
    def unit(self) -> str:
        """Return the label of the y axis."""
        return self.y.label

    def svg(self) -> Markup:
        """The figure: measured series with intervals and lines, a paper's own points hollow."""
        return self.area().svg(f"{self.title}. {self.caption}", self._marks())

    def area(self) -> Area:
        """Return the axes."""
        x, y = Scale(*self._x_range(), self.x.log), Scale(*self._y_range())
        ticks = y.ticks()
        texts = [(v, _percent(v)) for v, _ in ticks] if self.percent else ticks
        return Area(x, y, self.x.ticks or x.ticks(), texts, self.x.label, zero=self.zero, values="y")

    def legend(self) -> list[tuple[str, str, str]]:
        """Return the series: name, colour, and the marker."""
        measured = [(one.name, colour(one.style), MARKERS[one.style % len(MARKERS)]) for one in self.series]
        return measured + [(one.name, colour(one.style), HOLLOW) for one in self.printed]

    def _marks(self) -> Iterator[Markup]:
        area, middle = self.area(), (len(self.series) - 1) / 2
        shifts = [(i - middle) * DODGE for i in range(len(self.series))]
        if self.joined:
            yield stretched(
                area.curve([p.x for p in one.points], [p.mean for p in one.points], colour(one.style), shift=shift)
                for one, shift in zip(self.series, shifts, strict=True)
            )
        for one, shift in zip(self.series, shifts, strict=True):
            marker = MARKERS[one.style % len(MARKERS)]
            yield from self._points(area, one, marker, shift)
        for one in self.printed:
            yield from self._points(area, one, HOLLOW, 0.0)
        yield from (area.level(value, name) for value, name in self.levels)

    def _points(self, area: Area, one: Series, marker: str, shift: float) -> Iterator[Markup]:
        """One series. An interval without an end is drawn to the edge of the area."""
        kind = colour(one.style)
        for p in one.points:
            if p.has_interval:
                yield area.interval(p.x, p.low, p.high, kind, shift)
            if math.isfinite(p.mean):
                yield area.marker(p.x, p.mean, marker, kind, self._label(one.name, p), shift)

    def _label(self, name: str, p: Point) -> str:
        label = f"{name}: {self.number(p.mean)}"
        return f"{label} ({self._interval(p)}, n = {p.n})" if p.has_interval else label

    def _interval(self, p: Point) -> str:
        return f"{self.number(p.low)} to {self.number(p.high)}"

    def _all(self) -> list[Point]:
        return [p for series in (*self.series, *self.printed) for p in series.points]

    def _x_range(self) -> tuple[float, float]:
        places = [self.x.place(x) for x in [*(p.x for p in self._all()), *(value for value, _ in self.x.ticks)]]
        low, high = padded(min(places), max(places), 0.07) if places else (0.0, 1.0)
        return self.x.value(low), self.x.value(high)

    def _y_range(self) -> tuple[float, float]:
        """The means and their intervals; an interval reaches past the means at most as far as they span."""
        means = [p.mean for p in self._all() if math.isfinite(p.mean)]
        means += [value for value, _ in self.levels]
        means += [0.0] if self.zero else []
        if not means:
            return 0.0, 1.0
        low, high = min(means), max(means)
        span = (high - low) or abs(high) or 1.0
        bounds = [v for p in self._all() if p.has_interval for v in (p.low, p.high)]
        least = max(min([low, *bounds]), low - span)
        return padded(least, min(max([high, *bounds]), high + span, self.ceiling), 0.04)

    def number(self, value: float) -> str:
        """A value of the y axis as a reader writes it."""
        return _percent(value) if self.percent else _short(value)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The figure's numbers: column names and rows."""
        head = ["series", self.x.label, self.y.label, "95% interval", "n"]
        ticks = dict(self.x.ticks)
        rows = [
            [
                series.name,
                ticks.get(p.x, _short(p.x)),
                self.number(p.mean),
                self._interval(p) if math.isfinite(p.low + p.high) else "–",
                str(p.n or "–"),
            ]
            for series in (*self.series, *self.printed)
            for p in series.points
        ]
        return head, rows + [[name, "all", self.number(value), "–", "–"] for value, name in self.levels]


def _percent(value: float) -> str:
    if not math.isfinite(value):
        return "unbounded"
    digits = 1 if 0 < abs(value) < 0.0995 and abs(value * 100 - round(value * 100)) > 1e-9 else 0
    return f"{value * 100:.{digits}f}%".replace("-", "−")


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
