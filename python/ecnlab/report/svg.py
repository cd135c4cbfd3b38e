"""Inline SVG of plots.

The drawing of a plot has the size of its area; axes' texts are outside it. Places are percentages, and curves are in nested
drawings that are stretched to the area: a plot fits any width, and its texts keep their size. Colours are those of the
page's style sheet, by classes: ``c0`` to ``c5`` are the colours of series.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from ecnlab.report.scale import Scale, cut_end

UNITS: Final = 10_000
"""Width and height of an area in the units of its curves."""

BINS: Final = 600
"""Most intervals of time whose extremes a curve shows: a screen has not many more pixels."""

COLOURS: Final = 6
"""Number of colours of series in the style sheet."""

RUG: Final = 0.035
"""Height of a row of events, as a share of the area."""

STROKES: Final = 300
"""Most events that are drawn as single strokes."""

SHADES: Final = 200
LEVELS: Final = 5
"""Intervals, and shades, of more events."""

MARKERS: Final = ("m0", "m1", "m2", "m3", "m4", "m5")
"""Markers of series, which are thus distinguished not only by colour: drawings of the page, in `DEFINITIONS`."""

HOLLOW: Final = "mh"
"""The marker of a paper's own points."""

SHAPES: Final = {
    "m0": '<circle r="4.5"/>',
    "m1": '<rect x="-4" y="-4" width="8" height="8"/>',
    "m2": '<path d="M0-5.5L5 4H-5Z"/>',
    "m3": '<path d="M0-6L6 0 0 6-6 0Z"/>',
    "m4": '<path d="M-4-4L4 4M-4 4L4-4" class="stroked"/>',
    "m5": '<path d="M0-5.5V5.5M-5.5 0H5.5" class="stroked"/>',
    "mo": '<circle r="4" class="stroked"/>',
    "mh": '<path d="M0-6L6 0 0 6-6 0Z" class="stroked"/>',
    "mc": '<path d="M-4 0H4" class="thin"/>',
    "mz": '<path d="M-5-2L5-6M-5-6L5-10" class="stroked"/>',
}

DEFINITIONS: Final = Markup(
    '<svg class="markers" width="0" height="0" aria-hidden="true"><defs>{}</defs></svg>'
).format(Markup("").join(Markup('<g id="{}">{}</g>').format(name, Markup(shape)) for name, shape in SHAPES.items()))
"""The markers, which a page defines once."""

LINE: Final = 16
"""Height of a line of the texts below an area, in pixels."""


def colour(style: int) -> str:
    """Return the class of the colour of ``style``; dashed when the colours are used up."""
    return f"c{style % COLOURS}" + (" dashed" if style >= COLOURS else "")


def percent(share: float) -> str:
    """Return a place as a percentage of the area."""
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


ROWS: Final = 3
"""Most rows of the texts of an x axis."""

PHONE: Final = 36
"""Letters that fit below a plot on a phone."""

LABEL: Final = 48
"""Most letters of the label of an axis; a tick has half."""


def shortened(text: str, most: int) -> str | Markup:
    """Return ``text`` with at most ``most`` letters; a longer one has an ellipsis in the middle, and its whole text as title."""
    if len(text) <= most:
        return text
    head = (most - 1) // 2 + (most - 1) % 2
    return Markup("{}…{}<title>{}</title>").format(text[:head], text[len(text) - (most - 1) // 2 :], text)


@dataclass(frozen=True, slots=True)
class Area:
    """The area of a plot: its two axes with their ticks, and its height in pixels."""

    x: Scale
    y: Scale
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    x_label: str = ""
    height: int = 260
    zero: bool = False
    """Whether a line marks the value 0."""
    values: str = ""
    """The axes of measured values, "y" or "xy": they have a mark where they do not start at 0."""

    def svg(self, label: str, marks: Iterable[Markup], kind: str = "", *, links: bool = False) -> Markup:
        """Return the drawing, with ``label`` for screen readers. ``kind`` is its class.

        With ``links`` it is a group, because screen readers hide the contents of an image.
        """
        below = LINE * (self._rows() + (1 if self.x_label else 0)) + 8
        return Markup(
            '<svg class="plot {}" role="{}" aria-label="{}" style="height: {}px; margin-bottom: {}px" '
            'data-x="{:.12g} {:.12g}{}" data-y="{:.12g} {:.12g}{}" data-label="{}">{}{}</svg>'
        ).format(
            kind, "group" if links else "img", label, self.height, below,
            self.x.low, self.x.high, " log" if self.x.log else "",
            self.y.low, self.y.high, " log" if self.y.log else "", self.x_label,
            Markup("").join(self._axes()), Markup("").join(marks),
        )  # fmt: skip

    def _axes(self) -> Iterator[Markup]:
        for value, text in self.y_ticks:
            at = percent(1 - self.y.place(value))
            yield Markup('<line class="grid" x1="0" x2="100%" y1="{0}" y2="{0}"/>').format(at)
            yield Markup('<text class="y" x="0" dx="-8" y="{}" dy=".32em">{}</text>').format(at, text)
        if self.zero and self.y.low < 0 < self.y.high:
            at = percent(1 - self.y.place(0.0))
            yield Markup('<line class="zero" x1="0" x2="100%" y1="{0}" y2="{0}"/>').format(at)
        yield Markup('<line class="axis" x1="0" x2="100%" y1="100%" y2="100%"/>')
        yield from self._cuts()
        rows = self._rows()
        yield Markup('<g class="ticks">')
        for i, (value, text) in enumerate(self.x_ticks):
            at, low = percent(self.x.place(value)), LINE * (1 + i % rows)
            yield Markup('<text class="x" x="{}" y="100%" dy="{}">{}</text>').format(at, low, self._short(text))
        yield Markup("</g>")
        if self.x_label:
            low, text = LINE * (rows + 1) + 2, shortened(self.x_label, LABEL)
            yield Markup('<text class="title" x="100%" y="100%" dy="{}">{}</text>').format(low, text)

    def _cuts(self) -> Iterator[Markup]:
        """Yield two strokes across each axis of values without 0, at the end towards 0."""
        for name, scale in (("x", self.x), ("y", self.y)):
            end = cut_end(scale.low, scale.high, log=scale.log) if name in self.values else None
            if end is None:
                continue
            at = scale.place(end)
            place = (percent(at), "100%") if name == "x" else ("0%", percent(1 - at))
            # A mark stands above its place: at the upper end of the y axis, and on the x axis, it is moved onto the axis.
            down = 12 if name == "y" and at == 1.0 else 6 if name == "x" else 0
            aside = (6 if at == 0.0 else -6) if name == "x" else 0
            yield Markup(
                '<g class="cut" transform="translate({} {})"><title>the axis does not contain 0</title>'
                '<use href="#mz" x="{}" y="{}"/></g>'
            ).format(aside, down, *place)

    def _short(self, text: str) -> str | Markup:
        """Return the text of a tick, short enough for its neighbours in `ROWS` rows."""
        return shortened(text, max(8, min(LABEL // 2, ROWS * PHONE // max(len(self.x_ticks), 1) - 1)))

    def _rows(self) -> int:
        """Return in how many rows the texts of the x axis stand: neighbours must not overlap on a phone."""
        letters = sum(len(text) + 1 for _, text in self.x_ticks)
        return min(ROWS, math.ceil(letters / PHONE)) or 1

    # ------------------------------------------------------------ marks

    def curve(
        self,
        xs: Sequence[float],
        ys: Sequence[float],
        kind: str,
        *,
        steps: bool = False,
        name: str = "",
        shift: float = 0.0,
    ) -> Markup:
        """Return a curve through the points; values that are not finite are gaps. ``kind`` is its class.

        It is moved to the right by ``shift`` of the width.
        """
        points = [(self.x.place(x) + shift, self.y.place(y)) for x, y in thinned(xs, ys)]
        return Markup('<path class="{}" data-name="{}" d="{}"/>').format(kind, name, path(points, steps=steps))

    def dots(self, xs: Sequence[float], ys: Sequence[float], kind: str, name: str = "") -> Markup:
        """Return a dot for each point."""
        placed = {
            (round(self.x.place(x) * UNITS), round((1 - self.y.place(y)) * UNITS))
            for x, y in zip(xs, ys, strict=True)
            if math.isfinite(y)
        }
        drawn = "".join(f"M{x} {y}h0" for x, y in sorted(placed))
        return Markup('<path class="{} dots" data-name="{}" d="{}"/>').format(kind, name, drawn)

    def outline(self, points: Sequence[tuple[float, float]], kind: str) -> Markup:
        """Return a closed curve."""
        placed = [(self.x.place(x), self.y.place(y)) for x, y in points]
        return Markup('<path class="{}" d="{}Z"/>').format(kind, path(placed))

    def marker(self, x: float, y: float, name: str, kind: str, title: str = "", shift: float = 0.0) -> Markup:
        """Return the marker ``name`` at a point, moved by ``shift`` of the width; ``title`` appears under the pointer."""
        at = percent(self.x.place(x) + shift), percent(1 - self.y.place(y))
        tooltip = Markup("<title>{}</title>").format(title) if title else ""
        return Markup('<use class="{}" href="#{}" x="{}" y="{}">{}</use>').format(kind, name, *at, tooltip)

    def interval(self, x: float, low: float, high: float, kind: str, shift: float = 0.0) -> Markup:
        """Return an upright interval with caps. One that leaves the area is cut, and has no cap there."""
        at = percent(self.x.place(x) + shift)
        ends = [self._within(low), self._within(high)]
        bar = Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(
            kind, at, at, *(percent(1 - end) for end in ends)
        )
        caps = [
            Markup('<use class="{}" href="#mc" x="{}" y="{}"/>').format(kind, at, percent(1 - end))
            for end in ends
            if 0.0 < end < 1.0
        ]
        return bar + Markup("").join(caps)

    def level(self, value: float, text: str) -> Markup:
        """Return a dashed line across the area with its name."""
        at = percent(1 - self.y.place(value))
        return Markup(
            '<line class="level" x1="0" x2="100%" y1="{0}" y2="{0}"/><text class="level" x="100%" y="{0}" dy="-4">{1}</text>'
        ).format(at, text)

    def _within(self, value: float) -> float:
        if not math.isfinite(value):
            return 1.0 if value > 0 else 0.0
        return min(max(self.y.place(value), 0.0), 1.0)


def stretched(curves: Iterable[Markup]) -> Markup:
    """Return curves in a drawing that fills the area."""
    start = '<svg class="area" width="100%" height="100%" viewBox="0 0 {0} {0}" preserveAspectRatio="none">{1}</svg>'
    return Markup(start).format(UNITS, Markup("").join(curves))


def strokes(places: Iterable[float], kind: str, name: str, row: int = 0) -> Markup:
    """Return a rug: a stroke at the lower end of the area for each of ``places`` (0 to 1), above ``row`` others.

    More than `STROKES` cannot be distinguished: then each of `SHADES` intervals is shaded by the number in it.
    """
    found = [round(at * UNITS) for at in places if 0.0 <= at <= 1.0]
    high, y = round(0.03 * UNITS), round(UNITS * (1 - RUG * row))
    if len(found) > STROKES:
        return _shaded(found, y, high, kind, name)
    drawn = "".join(f"M{at} {y}V{y - high}" for at in sorted(set(found)))
    return Markup('<path class="rug {}" data-rug="{}" d="{}"/>').format(kind, name, drawn)


def _shaded(places: Sequence[int], y: int, high: int, kind: str, name: str) -> Markup:
    width = UNITS // SHADES
    counts = Counter(min(at // width, SHADES - 1) for at in places)
    most = max(counts.values())
    drawn: dict[int, str] = {}
    for number, count in sorted(counts.items()):
        level = math.ceil(LEVELS * count / most)
        drawn[level] = drawn.get(level, "") + f"M{number * width} {y}h{width}v-{high}h-{width}z"
    return Markup("").join(
        Markup('<path class="shade {}" data-rug="{}" fill-opacity="{:g}" d="{}"/>').format(
            kind, name, level / LEVELS, path_
        )
        for level, path_ in sorted(drawn.items())
    )


def path(points: Sequence[tuple[float, float]], *, steps: bool = False) -> str:
    """Return the path of a curve through ``points`` in shares of the area. A point that is not finite is a gap."""
    parts: list[str] = []
    drawing = False
    for x, y in points:
        if not math.isfinite(y):
            drawing = False
            continue
        at, up = round(x * UNITS), round((1 - y) * UNITS)
        if not drawing:
            parts.append(f"M{at} {up}")
        elif steps:
            parts.append(f"H{at}V{up}")
        else:
            parts.append(f"L{at} {up}")
        drawing = True
    return "".join(parts)


def thinned(xs: Sequence[float], ys: Sequence[float]) -> list[tuple[float, float]]:
    """Return the points; of many, the first, least, greatest and last of each of `BINS` equal numbers of them."""
    points = list(zip(xs, ys, strict=True))
    if len(points) <= 4 * BINS:
        return points
    size = math.ceil(len(points) / BINS)
    return [point for start in range(0, len(points), size) for point in _extremes(points[start : start + size])]


def _extremes(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    finite = [i for i, (_, y) in enumerate(points) if math.isfinite(y)]
    if not finite:
        return [points[0]]
    least, most = (chosen(finite, key=lambda i: points[i][1]) for chosen in (min, max))
    return [points[i] for i in sorted({0, least, most, len(points) - 1})]
