"""Criteria as strips: the value of each, with its interval, as a multiple of its limit on a common logarithmic axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from markupsafe import Markup

from ecnlab.report.forest import MARKERS
from ecnlab.report.scale import Scale
from ecnlab.report.svg import percent
from ecnlab.report.tone import Tone

REACH: Final = 16.0
"""Multiple of the limit, and its inverse, beyond which values are drawn at the edge."""

SCALE: Final = Scale(1 / REACH, REACH, log=True)

AXIS: Final = ((0.0, "start", "1/16"), (0.25, "middle", "← fails"), (0.5, "middle", "limit"), (0.75, "middle", "meets →"),
               (1.0, "end", "16"))  # fmt: skip
"""Texts above strips: place, anchor and text."""

VERDICTS: Final[Sequence[tuple[str, Tone]]] = (("meets", "yes"), ("fails", "no"), ("inconclusive", "open"))


@dataclass(frozen=True, slots=True)
class Strip:
    """A criterion. All numbers are margins: 1 is the limit, and the criterion holds above it.

    ``ends`` are those of the interval, ``ticks`` the worst and the median of single values; either may be missing. ``words``
    are the value and the limit, ``cells`` the row of the table of numbers.
    """

    name: str
    words: str
    value: float | None
    ends: tuple[float, float] | None
    ticks: tuple[float, float] | None
    tone: Tone
    link: str
    cells: Sequence[str]

    def svg(self) -> Markup:
        """Return the strip: the limit in the middle, an interval, a long tick (worst), a short one (median), and the marker."""
        verdict = next(word for word, tone in VERDICTS if tone == self.tone)
        label = f"{self.name}: {self.words}: {verdict}"
        return Markup('<svg class="strip {}" role="img" aria-label="{}"><title>{}</title>{}</svg>').format(
            self.tone, label, label, Markup("").join(self._marks())
        )

    def _marks(self) -> Iterator[Markup]:
        yield Markup('<line class="limit" x1="50%" x2="50%" y1="0" y2="100%"/>')
        if self.ends:
            low, high = map(_place, self.ends)
            yield Markup('<line class="interval" x1="{}" x2="{}" y1="50%" y2="50%"/>').format(low, high)
        for value, reach in zip(self.ticks or (), (15, 30), strict=False):
            yield Markup('<line class="tick" x1="{0}" x2="{0}" y1="{1}%" y2="{2}%"/>').format(
                _place(value), reach, 100 - reach
            )
        if self.value is not None:
            yield Markup('<use href="#{}" x="{}" y="50%"/>').format(MARKERS[self.tone], _place(self.value))
            if not SCALE.low <= self.value <= SCALE.high:
                at, shift, arrow = ("0%", -10, "◂") if self.value < 1 else ("100%", 10, "▸")
                yield Markup('<text x="{}" dx="{}" y="50%" dy=".35em">{}</text>').format(at, shift, arrow)


@dataclass(frozen=True, slots=True)
class Strips:
    """Strips in groups with headings. ``columns`` are those of the table of numbers."""

    title: str
    caption: str
    groups: Sequence[tuple[str, Sequence[Strip]]]
    columns: Sequence[str]
    kind: Literal["strips"] = "strips"

    @property
    def source(self) -> str:
        """Return "": strips answer no figure of a paper."""
        return ""

    def axis(self) -> Markup:
        """Return the texts above a group."""
        texts = (
            Markup('<text x="{}" y="1em" text-anchor="{}">{}</text>').format(percent(at), anchor, text)
            for at, anchor, text in AXIS
        )
        return Markup('<svg class="strip" aria-hidden="true">{}</svg>').format(Markup("").join(texts))

    def legend(self) -> list[tuple[str, str, str]]:
        """Return the verdicts: name, colour and marker."""
        return [(word, f"verdict {tone}", MARKERS[tone]) for word, tone in VERDICTS]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the numbers: column names and rows."""
        return list(self.columns), [list(one.cells) for _heading, group in self.groups for one in group]


def _place(value: float) -> str:
    return percent(SCALE.place(min(max(value, SCALE.low), SCALE.high)))
