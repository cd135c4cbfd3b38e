"""Figures: points with intervals on one or more series.

Every figure carries its numbers as a table too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from ecnlab.report.plot import plot, with_levels

SYMBOLS: Final = ("circle", "square", "triangle-up", "diamond", "x")
"""Markers of the styles, so that series are distinguished not only by colour."""

PRINTED: Final = "diamond-open"
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
        """Return the position of ``value`` in Plotly's units of a range: its logarithm on a log axis."""
        return math.log10(value) if self.log else value

    def value(self, place: float) -> float:
        """Return the value at a position."""
        return 10.0**place if self.log else place


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with a caption.

    ``zero`` draws the line of no difference, ``printed`` holds a paper's own points, ``levels`` a paper's own values
    that are constant along the axis, drawn as lines with their names; ``ceiling`` is the maximum possible value.
    ``source`` names the figure of a paper that this one reproduces ("Figure 16").
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

    def plot(self) -> go.Figure:
        """The figure: measured series with intervals and lines, a paper's own points hollow."""
        first, last = self._x_range()
        low, high = self._y_range()
        middle = (len(self.series) - 1) / 2
        traces = [
            self._trace(series, (i - middle) * DODGE * (last - first), high - low, SYMBOLS[series.style % len(SYMBOLS)])
            for i, series in enumerate(self.series)
        ]
        traces += [self._trace(series, 0.0, high - low, PRINTED) for series in self.printed]
        x: dict[str, Any] = {"title": {"text": self.x.label}, "range": [first, last], "fixedrange": True}
        if self.x.ticks:
            x |= {"tickvals": [value for value, _ in self.x.ticks], "ticktext": [text for _, text in self.x.ticks]}
        y = {"range": [low, high], "zeroline": self.zero, "tickformat": "~%" if self.percent else "~g"}
        kind = {"type": "log" if self.x.log else "linear"}
        return with_levels(plot(traces, x | kind, y, hovermode="closest", dragmode=False), self.levels)

    def _trace(self, series: Series, shift: float, span: float, symbol: str) -> go.Scatter:
        """One series. An interval without an end is drawn as long as the axis, which cuts it."""
        points, hollow = series.points, symbol == PRINTED
        intervals = {
            "symmetric": False,
            "array": [min(p.high - p.mean, span) if p.has_interval else None for p in points],
            "arrayminus": [min(p.mean - p.low, span) if p.has_interval else None for p in points],
            "thickness": 1.3,
            "width": 3,
        }
        return go.Scatter(
            name=series.name,
            meta=series.style,
            x=[self.x.value(self.x.place(p.x) + shift) for p in points],
            y=[p.mean for p in points],
            error_y=intervals if any(p.has_interval for p in points) else None,
            mode="markers" if hollow else "lines+markers",
            marker={"symbol": symbol, "size": 10 if hollow else 9, "line": {"width": 2 if hollow else 0}},
            line={"width": 1.6},
            text=[self._says(series.name, p) for p in points],
            hovertemplate="%{text}<extra></extra>",
        )

    def _says(self, name: str, p: Point) -> str:
        says = f"{name}: {self.number(p.mean)}"
        return f"{says} ({self._interval(p)}, n = {p.n})" if p.has_interval else says

    def _interval(self, p: Point) -> str:
        return f"{self.number(p.low)} to {self.number(p.high)}"

    def _all(self) -> list[Point]:
        return [p for series in (*self.series, *self.printed) for p in series.points]

    def _x_range(self) -> tuple[float, float]:
        places = [self.x.place(x) for x in [*(p.x for p in self._all()), *(value for value, _ in self.x.ticks)]]
        return _padded(min(places), max(places), 0.07)

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
        return _padded(least, min(max([high, *bounds]), high + span, self.ceiling), 0.04)

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


def _padded(low: float, high: float, share: float) -> tuple[float, float]:
    pad = share * ((high - low) or 1.0)
    return low - pad, high + pad


def _percent(value: float) -> str:
    if not math.isfinite(value):
        return "unbounded"
    digits = 1 if 0 < abs(value) < 0.0995 and abs(value * 100 - round(value * 100)) > 1e-9 else 0
    return f"{value * 100:.{digits}f}%".replace("-", "−")


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
