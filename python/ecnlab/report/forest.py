"""Printed numbers against measured ones: the distance of each, in margins, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from markupsafe import Markup

from ecnlab.report.scale import Scale
from ecnlab.report.svg import Area, percent
from ecnlab.report.tone import Tone

REACH: Final = 6.0
"""Distance, in margins, beyond which values are drawn at the edge."""

HEIGHTS: Final = (110, 220)
"""Least and greatest height in pixels."""

ROW: Final = 7
"""Height of a row, as long as all fit."""

MARKERS: Final[dict[Tone, str]] = {"yes": "m0", "partly": "m3", "no": "m4", "open": "mo", "plain": "m0"}
"""The marker of each tone."""

TICKS: Final = ((-6.0, "≤ −6"), (-3.0, "−3"), (0.0, "printed"), (3.0, "+3"), (6.0, "≥ +6"))


@dataclass(frozen=True, slots=True)
class Distance:
    """A measured value less the printed one, in margins, with its interval, the ``tone`` of its verdict and a ``link``."""

    name: str
    value: float
    low: float
    high: float
    tone: Tone
    link: str = ""

    @property
    def label(self) -> str:
        """Return the row in words."""
        return f"{self.name}: {self.value:+.1f} margins from the printed number".replace("-", "−")


@dataclass(frozen=True, slots=True)
class Forest:
    """All printed numbers of a paper as rows from the furthest below to the furthest above. The band is agreement."""

    title: str
    caption: str
    rows: Sequence[Distance]
    kind: Literal["forest"] = "forest"

    def svg(self) -> Markup:
        """Return the drawing: a line and a marker for each row."""
        height = min(max(ROW * len(self.rows), HEIGHTS[0]), HEIGHTS[1])
        area = Area(Scale(-REACH, REACH), Scale(0.0, 1.0), TICKS, (), "distance in margins", height)
        links = any(row.link for row in self.rows)
        return area.svg(f"{self.title}. {self.caption}", self._marks(area), "forest", links=links)

    def _marks(self, area: Area) -> Iterator[Markup]:
        left, right = (area.x.place(at) for at in (-1.0, 1.0))
        yield Markup('<rect class="band" x="{}" y="0" width="{}" height="100%"/>').format(
            percent(left), percent(right - left)
        )
        yield Markup('<line class="zero" x1="50%" x2="50%" y1="0" y2="100%"/>')
        ordered = sorted(self.rows, key=lambda row: row.value)
        for number, row in enumerate(ordered):
            yield self._row(area, row, percent((number + 0.5) / len(ordered)))

    def _row(self, area: Area, row: Distance, y: str) -> Markup:
        low, high, at = (percent(area.x.place(_within(value))) for value in (row.low, row.high, row.value))
        drawn = Markup(
            '<g class="{}"><title>{}</title><line x1="{}" x2="{}" y1="{}" y2="{}"/><use href="#{}" x="{}" y="{}"/></g>'
        ).format(row.tone, row.label, low, high, y, y, MARKERS[row.tone], at, y)
        return Markup('<a href="{}" aria-label="{}">{}</a>').format(row.link, row.label, drawn) if row.link else drawn


def _within(value: float) -> float:
    if math.isnan(value):
        return 0.0
    return min(max(value, -REACH), REACH)
