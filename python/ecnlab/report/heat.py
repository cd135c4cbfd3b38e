"""Maps: small tables of shaded cells, one for each label, with two axes. A cell shows its value, so that no colour is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from markupsafe import Markup

from ecnlab.report.scale import Scale
from ecnlab.report.svg import Area, percent, shortened

ROW: Final = 30
"""Height of a row in pixels."""

SHORT: Final = 5
"""Letters of the name of a row, and columns, for which a narrow map has room."""

LONG: Final = 14
"""Most letters of the name of a row."""

STRIPES: Final = 3
"""Diagonals of a hatched cell."""


@dataclass(frozen=True, slots=True)
class Field:
    """A cell of a map: its place (column and row, from 0), text, shade (0 to 6, 3 is neutral), and a link. ``description`` is for screen readers, "" for none."""

    column: int
    row: int
    text: str
    shade: int
    description: str
    hatched: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Map:
    """A map: its title and its fields."""

    title: str
    fields: Sequence[Field]


@dataclass(frozen=True, slots=True)
class Maps:
    """Maps with the same axes, next to each other. ``shades`` name ranges of values for the legend."""

    title: str
    caption: str
    maps: Sequence[Map]
    columns: Sequence[str]
    rows: Sequence[str]
    column_label: str
    unit: str
    shades: Sequence[tuple[int, str]]
    source: str = ""
    kind: Literal["multiples"] = "multiples"

    def drawings(self) -> list[tuple[str, Markup]]:
        """Return the title of each map and its drawing."""
        return [(one.title, self._svg(one)) for one in self.maps]

    def legend(self) -> list[tuple[str, str, str]]:
        """Return the name of each range, with its class and "shade"; the last entry is for hatched cells, if there are any."""
        shades = [(name, f"h{shade}", "shade") for shade, name in self.shades]
        hatched = any(field.hatched for one in self.maps for field in one.fields)
        return [*shades, ("not decided", "h3", "hatch")] if hatched else shades

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The values of all maps: column names, and the rows that have a cell."""
        rows = [row for one in self.maps for row in self._rows(one)]
        return ["map", "row", *self.columns], rows

    def _rows(self, one: Map) -> Iterator[list[str]]:
        texts = {
            (field.row, field.column): field.text + (" (not decided)" if field.hatched else "") for field in one.fields
        }
        for row in sorted({row for row, _ in texts}):
            yield [one.title, self.rows[row], *(texts.get((row, column), "") for column in range(len(self.columns)))]

    def _svg(self, one: Map) -> Markup:
        area = Area(
            Scale(0.0, float(len(self.columns))),
            Scale(0.0, float(len(self.rows))),
            [(i + 0.5, name) for i, name in enumerate(self.columns)],
            [(len(self.rows) - i - 0.5, shortened(name, LONG)) for i, name in enumerate(self.rows)],
            self.column_label,
            ROW * len(self.rows),
        )
        marks = [mark for field in one.fields for mark in self._field(field)]
        kinds = {"long": max(map(len, self.rows)) > SHORT, "many": len(self.columns) > SHORT}
        kind = " ".join(["map", *(name for name, true in kinds.items() if true)])
        return area.svg(f"{self.title}: {one.title}", marks, kind, links=any(field.link for field in one.fields))

    def _field(self, field: Field) -> Iterator[Markup]:
        x, y = (at / count for at, count in ((field.column, len(self.columns)), (field.row, len(self.rows))))
        wide, high = 1 / len(self.columns), 1 / len(self.rows)
        parts = [
            Markup("<title>{}</title>").format(field.description) if field.description else Markup(""),
            Markup('<rect class="h{}" x="{}" y="{}" width="{}" height="{}"/>').format(
                field.shade, *map(percent, (x, y, wide, high))
            ),
            *(_stripes(x, y, wide, high) if field.hatched else ()),
            Markup('<text class="h{}" x="{}" y="{}" dy=".35em">{}</text>').format(
                field.shade, percent(x + wide / 2), percent(y + high / 2), field.text
            ),
        ]
        inner = Markup("").join(parts)
        yield (
            Markup('<a href="{}" aria-label="{}">{}</a>').format(field.link, field.description, inner)
            if field.link
            else inner
        )


def _stripes(x: float, y: float, wide: float, high: float) -> Iterator[Markup]:
    """Diagonals of a cell, from lower left to upper right."""
    for number in range(STRIPES):
        shift = (2 * number + 1) / STRIPES - 1.0  # of the diagonal, in widths of the cell
        left, right = max(0.0, shift), min(1.0, 1.0 + shift)
        ends = (
            x + wide * left,
            y + high * (1.0 - (left - shift)),
            x + wide * right,
            y + high * (1.0 - (right - shift)),
        )
        yield Markup('<line class="stripe" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(*map(percent, ends))
