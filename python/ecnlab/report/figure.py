"""Small figures as SVG text: points with intervals on one or more series.

Drawn here rather than by a plotting library so that the page stays small,
takes its colours from the page's style sheet (light and dark), and its text
stays readable on a phone. Every figure carries its numbers as a table too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 440, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 44
MARKER = 4.2
SHAPES = ("circle", "square", "triangle", "diamond", "cross")


@dataclass(frozen=True, slots=True)
class Point:
    """One measured value with its interval; ``x`` in axis units."""

    x: float
    mean: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together. ``style`` picks colour and marker, from 0."""

    name: str
    points: Sequence[Point]
    style: int = 0
    line: bool = True
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis: its label, its ticks as (value, text), its scale."""

    label: str
    ticks: Sequence[tuple[float, str]] = ()
    log: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with a caption.

    ``zero`` draws the line of no difference, ``printed`` holds a paper's own points, ``ceiling`` is the largest value
    that can be.
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

    def svg(self) -> str:
        """The figure as one ``<svg>`` element that takes its colours from CSS."""
        return _Drawing(self).text()

    def number(self, value: float) -> str:
        """A value of the y axis as a reader writes it."""
        return _percent(value) if self.percent else _short(value)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The figure's numbers: column names and rows."""
        head = ["series", self.x.label, self.y.label, "95% interval", "n"]
        ticks = dict(self.x.ticks)
        rows = []
        for series in [*self.series, *self.printed]:
            for p in series.points:
                span = f"{self.number(p.low)} to {self.number(p.high)}" if math.isfinite(p.low + p.high) else "–"
                rows.append([series.name, ticks.get(p.x, _short(p.x)), self.number(p.mean), span, str(p.n or "–")])
        return head, rows


class _Drawing:
    def __init__(self, figure: Figure) -> None:
        self.figure = figure
        self.all = [*figure.series, *figure.printed]
        xs = [p.x for s in self.all for p in s.points] + [v for v, _ in figure.x.ticks]
        self.x = _scale(xs, LEFT, WIDTH - RIGHT, figure.x.log, pad=0.07)
        self.y_ticks = _nice_ticks(*self._y_range())
        self.y = _scale(self.y_ticks, HEIGHT - BOTTOM, TOP, False, pad=0.0)

    def _y_range(self) -> tuple[float, float]:
        """The means and their intervals; an interval reaches past the means at most as far as they span."""
        means = [p.mean for s in self.all for p in s.points if math.isfinite(p.mean)]
        means += [0.0] if self.figure.zero else []
        if not means:
            return 0.0, 1.0
        low, high = min(means), max(means)
        span = (high - low) or abs(high) or 1.0
        bounds = [v for s in self.all for p in s.points for v in (p.low, p.high) if not math.isnan(v)]
        return max(min([low, *bounds]), low - span), min(max([high, *bounds]), high + span, self.figure.ceiling)

    def text(self) -> str:
        label = escape(f"{self.figure.title}. {self.figure.caption}", quote=True)
        parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">']
        parts += self._axes()
        offsets = _dodge(len(self.figure.series))
        for series, offset in zip(self.figure.series, offsets, strict=True):
            parts += self._series(series, offset)
        for series in self.figure.printed:
            parts += [
                self._marker(p, 0.0, f"s{series.style} printed", "diamond", True, series.name) for p in series.points
            ]
        return "".join([*parts, "</svg>"])

    def _axes(self) -> list[str]:
        parts = []
        for tick in self.y_ticks:
            y, strong = self.y(tick), " zero" if self.figure.zero and tick == 0 else ""
            parts.append(f'<line class="grid{strong}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(
                f'<text class="tick" x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{self.figure.number(tick)}</text>'
            )
        for value, text in self.figure.x.ticks:
            parts.append(
                f'<text class="tick" x="{self.x(value):.1f}" y="{HEIGHT - BOTTOM + 17}" '
                f'text-anchor="middle">{escape(text)}</text>'
            )
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(
            f'<text class="axis" x="{middle}" y="{HEIGHT - 8}" '
            f'text-anchor="middle">{escape(self.figure.x.label)}</text>'
        )
        return parts

    def _series(self, series: Series, offset: float) -> list[str]:
        parts = []
        if series.line and len(series.points) > 1:
            path = " ".join(f"{self.x(p.x) + offset:.1f},{self.y(p.mean):.1f}" for p in series.points)
            parts.append(f'<polyline class="line s{series.style}" points="{path}"/>')
        shape = SHAPES[series.style % len(SHAPES)]
        parts += [self._marker(p, offset, f"s{series.style}", shape, series.hollow, series.name) for p in series.points]
        return parts

    def _marker(self, p: Point, offset: float, style: str, shape: str, hollow: bool, name: str) -> str:
        x, y = self.x(p.x) + offset, self.y(p.mean)
        says = f"{name}: {self.figure.number(p.mean)}"
        whisker = ""
        if not math.isnan(p.low + p.high):
            low, high = (self.y(min(max(v, self.y_ticks[0]), self.y_ticks[-1])) for v in (p.low, p.high))
            says += f" ({self.figure.number(p.low)} to {self.figure.number(p.high)}, n = {p.n})"
            stem = f"M{x:.1f} {low:.1f}V{high:.1f}"
            whisker = f'<path class="whisker" d="{stem}M{x - 3:.1f} {low:.1f}h6M{x - 3:.1f} {high:.1f}h6"/>'
        fill = " hollow" if hollow else ""
        return f'<g class="mark {style}{fill}"><title>{escape(says)}</title>{whisker}{_shape(shape, x, y)}</g>'


def swatch(style: str, shape: str, hollow: bool = False) -> str:
    """A legend key: the marker alone."""
    mark = f'<g class="mark {style}{" hollow" if hollow else ""}">{_shape(shape, 7, 7)}</g>'
    return f'<svg class="key" viewBox="0 0 14 14" aria-hidden="true">{mark}</svg>'


def legend(figure: Figure) -> list[tuple[str, str]]:
    """Keys and names of a figure's series, the printed points last."""
    keys = [(swatch(f"s{s.style}", SHAPES[s.style % len(SHAPES)], s.hollow), s.name) for s in figure.series]
    return keys + [(swatch(f"s{s.style} printed", "diamond", True), s.name) for s in figure.printed]


def _shape(shape: str, x: float, y: float) -> str:
    r = MARKER
    match shape:
        case "circle":
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>'
        case "square":
            side = 2 * r - 0.8
            return f'<rect x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side}" height="{side}"/>'
        case "triangle":
            return f'<path d="M{x:.1f} {y - r - 0.6:.1f}l{r + 0.8} {2 * r}h{-2 * (r + 0.8)}z"/>'
        case "diamond":
            d = r + 1.4
            return f'<path d="M{x:.1f} {y - d:.1f}l{d} {d}l{-d} {d}l{-d} {-d}z"/>'
        case _:
            rising = f"M{x - r:.1f} {y + r:.1f}l{2 * r} {-2 * r}"
            return f'<path class="stroke" d="M{x - r:.1f} {y - r:.1f}l{2 * r} {2 * r}{rising}"/>'


def _scale(values: Sequence[float], start: float, end: float, log: bool, pad: float) -> Callable[[float], float]:
    inner: Callable[[float], float] = math.log10 if log else float
    low, high = inner(min(values)), inner(max(values))
    width = (high - low) or 1.0
    low, width = low - pad * width, width * (1 + 2 * pad)
    return lambda v: start + (inner(v) - low) / width * (end - start)


def _nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round tick values that enclose the range (Heckbert, Graphics Gems 1990)."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(m for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _dodge(count: int) -> list[float]:
    """Small sideways shifts, so that intervals at one x do not hide each other."""
    return [(i - (count - 1) / 2) * 7.0 for i in range(count)]


def _percent(value: float) -> str:
    if not math.isfinite(value):
        return "unbounded"
    digits = 1 if 0 < abs(value) < 0.0995 and abs(value * 100 - round(value * 100)) > 1e-9 else 0
    return f"{value * 100:.{digits}f}%".replace("-", "−")


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
