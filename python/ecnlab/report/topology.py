"""Drawings of networks: a vertical line of nodes, with other nodes on either side, and a text for every link.

The line runs downwards, so that a chain of seven switches fits a phone as well as a wide screen. The drawing has no
colours: the style sheet sets those of the page, light or dark.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import Final, Literal

from markupsafe import Markup

REACH: Final = 86
"""From the line of nodes, which is at 0, to the boxes at either side."""

MIN_EXTENT: Final = (-150.0, 200.0)
"""Minimum extent of a drawing: the texts of the line's links are to the right of it."""

NODE: Final = 24
LINE: Final = 14
"""Height of a node, and of a line of words."""

SIDE_ROW: Final = 46
LETTER: Final = 6.4
"""Height of a row of nodes at a side; width of a letter, about."""

LONGEST: Final = 30
"""Maximum letters of a line of text."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A link between two nodes and its properties: a short text for the drawing, cells for the table."""

    name: str
    a: str
    b: str
    words: Sequence[str]
    cells: Sequence[str]
    narrow: bool = False


@dataclass(frozen=True, slots=True)
class Topology:
    """A network. ``columns`` name the cells of its wires; ``wires`` are in the order in which traffic meets them."""

    title: str
    caption: str
    wires: Sequence[Wire]
    columns: Sequence[str]
    kind: Literal["topology"] = "topology"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The links: column names and rows."""
        rows = [[wire.name, f"{wire.a} to {wire.b}", *wire.cells] for wire in self.wires]
        return ["link", "between", *self.columns], rows

    @property
    def full_caption(self) -> str:
        """Return the caption, including links not in the drawing: those more than one link away from its line."""
        line = set(_longest_path(self.wires))
        missing = dict.fromkeys(wire.name for wire in self.wires if not {wire.a, wire.b} & line)
        return f"{self.caption} Not drawn: {', '.join(missing)}." if missing else self.caption

    def svg(self) -> Markup:
        """Return the drawing: the longest path from top to bottom, with other nodes on either side."""
        line = _longest_path(self.wires)
        drawing = _Drawing(self.wires, line)
        marks, height = drawing.draw()
        left, right = drawing.reach
        start = Markup('<svg class="net" viewBox="{:g} 0 {:g} {:g}" role="img" aria-label="{}">')
        return start.format(left, right - left, height, self.title) + Markup("").join(marks) + Markup("</svg>")


class _Drawing:
    """The places of nodes, found from above downwards."""

    def __init__(self, wires: Sequence[Wire], line: Sequence[str]) -> None:
        self.wires, self.line = wires, line
        self.between = {frozenset((w.a, w.b)): w for w in wires}
        self.reach = MIN_EXTENT
        """Extent to the left and to the right."""

    def draw(self) -> tuple[list[Markup], int]:
        wires: list[Markup] = []
        nodes: list[Markup] = []
        y = 6.0
        for above, node in zip([None, *self.line], self.line, strict=False):
            if above is not None:
                wire = self.between[frozenset((above, node))]
                lines = [part for words in wire.words for part in _wrapped(words)]
                beside = LINE if self._sides(above)[1] else 0.0  # space for the link text on the right
                gap = max(34.0, LINE * (len(lines) + 1) + 12.0) + beside
                wires += [_stroke(0, y, 0, y + gap, wire), *_words(wire, lines, y + beside, y + gap)]
                y += gap
            sides = self._sides(node)
            rows = max((len(side) for side in sides), default=1) or 1
            middle = y + NODE / 2
            for sign, side in zip((-1, 1), sides, strict=True):
                for row, (name, wire) in enumerate(side):
                    wires += _across(wire, sign, middle, middle + row * SIDE_ROW, _half(node))
                    nodes.append(self._node(name, sign * (REACH + _half(name)), middle + row * SIDE_ROW))
            nodes.append(self._node(node, 0, middle))
            y += NODE + (rows - 1) * SIDE_ROW
            if rows > 1 and node != self.line[-1]:
                wires.append(_stroke(0, middle, 0, y))
        return wires + nodes, round(y + 20)

    def _node(self, name: str, x: float, y: float) -> Markup:
        half = _half(name)
        self.reach = min(self.reach[0], x - half - 2), max(self.reach[1], x + half + 2)
        box = Markup('<rect x="{:g}" y="{:g}" width="{:g}" height="{:g}" rx="6"/>')
        return box.format(x - half, y - NODE / 2, 2 * half, NODE) + _text(x, y + 4, name, "middle", "node")

    def _sides(self, node: str) -> tuple[list[tuple[str, Wire]], list[tuple[str, Wire]]]:
        """Return the neighbours of a node of the line: senders towards it on the left, receivers on the right."""
        left = [(w.a, w) for w in self.wires if w.b == node and w.a not in self.line]
        right = [(w.b, w) for w in self.wires if w.a == node and w.b not in self.line]
        return left, right


def _longest_path(wires: Sequence[Wire]) -> list[str]:
    """The longest of the shortest paths between two nodes, the first that there is of its length, in the wires' direction."""
    near = _neighbours(wires)
    best = max((path for start in near for path in _paths(near, start)), key=len)
    heads = {(wire.a, wire.b) for wire in wires}
    along = sum(step in heads for step in pairwise(best))
    return best if 2 * along >= len(best) - 1 else best[::-1]


def _neighbours(wires: Sequence[Wire]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for wire in wires:
        found.setdefault(wire.a, []).append(wire.b)
        found.setdefault(wire.b, []).append(wire.a)
    return found


def _paths(near: Mapping[str, Sequence[str]], start: str) -> Iterator[list[str]]:
    """The shortest path from ``start`` to each node."""
    paths = {start: [start]}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        yield paths[node]
        for other in near[node]:
            if other not in paths:
                paths[other] = [*paths[node], other]
                waiting.append(other)


def _words(wire: Wire, lines: Sequence[str], y0: float, y1: float) -> list[Markup]:
    """Return the text of a link of the line, to the right of it."""
    first = (y0 + y1) / 2 - LINE * len(lines) / 2 + 4
    texts = enumerate((wire.name, *lines))
    return [_text(12, first + LINE * i, words, "start", "" if i else "name") for i, words in texts]


def _across(wire: Wire, sign: int, y0: float, y1: float, half: float) -> list[Markup]:
    """A link to a side, with its first words at it: rate and delay. One of another row leaves the first row's link."""
    inner, outer = sign * (half if y0 == y1 else 38), sign * REACH
    words = enumerate(wire.words[0].split(", ") if wire.words else [])
    texts = [_text((inner + outer) / 2, y1 + (12 if i else -4), word, "middle", "small") for i, word in words]
    knee = [] if y0 == y1 else [_stroke(inner, y0, inner, y1)]
    return [*knee, _stroke(inner, y1, outer, y1, wire), *texts]


def _half(name: str) -> float:
    """Half the width of a node's box."""
    return max(22.0, LETTER * len(name) / 2 + 7)


def _stroke(x0: float, y0: float, x1: float, y1: float, wire: Wire | None = None) -> Markup:
    kind = "narrow" if wire and wire.narrow else ""
    return Markup('<line class="{}" x1="{:g}" y1="{:g}" x2="{:g}" y2="{:g}"/>').format(kind, x0, y0, x1, y1)


def _text(x: float, y: float, words: str, anchor: str, kind: str) -> Markup:
    return Markup('<text class="{}" x="{:g}" y="{:g}" text-anchor="{}">{}</text>').format(kind, x, y, anchor, words)


def _wrapped(words: str) -> list[str]:
    """Wrap ``words`` into lines that fit, broken after commas, and inside a part between commas that is too long itself."""
    lines: list[str] = []
    for part in words.split(", "):
        joined = f"{lines[-1]}, {part}" if lines else part
        if lines and len(joined) <= LONGEST:
            lines[-1] = joined
            continue
        if lines:
            lines[-1] += ","
        lines += wrap(part, LONGEST, break_on_hyphens=False)
    return lines
