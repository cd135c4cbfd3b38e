"""Tables of text in a given width: numbers stay whole, long texts are folded, columns that do not fit are left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

GAP: Final = 2
"""Spaces between columns."""

BARE: Final = re.compile(r"(?:-|0(?: \S+)?)?$")
"""A cell without a value, or with zero in any unit."""

MIN_WIDTH: Final = 40
"""Minimum width of a table, in terminal columns."""

FOLDED: Final = 20
"""Minimum width of a folded text column."""


@dataclass(frozen=True)
class Column:
    """A column: its header and cells, and whether they are right-aligned, as numbers are."""

    header: str
    cells: Sequence[str]
    right: bool
    whole: int | None = None
    """The width of the longest number in a column of numbers and texts; None if all are numbers or all are texts."""

    @property
    def natural(self) -> int:
        """The width of the longest cell or header, with nothing folded."""
        return max(map(_length, (self.header, *self.cells)))

    @property
    def bare(self) -> bool:
        """Whether no cell has a value other than zero."""
        return all(BARE.match(text) for text in self.cells)

    @property
    def least(self) -> int:
        """The minimum width of the column."""
        if self.whole is not None:
            return max(_length(self.header), self.whole, min(self.natural, FOLDED))
        return self.natural if self.right else max(_length(self.header), min(self.natural, FOLDED))


def laid_out(columns: Sequence[Column], width: int) -> tuple[list[str], list[str]]:
    """Return the lines of a table of at most ``width``, the header first, and the headers of columns that do not fit.

    The first column is always included, then in order those that have a value, then those with only zeros or no value.
    """
    worth = sorted(range(len(columns)), key=lambda place: (place > 0, columns[place].bare))
    chosen: list[int] = []
    used = -GAP
    for place in worth:
        least = columns[place].least
        if not chosen or used + GAP + least <= width:
            chosen.append(place)
            used += GAP + least
    kept = [columns[place] for place in sorted(chosen)]
    widths = _widths(kept, width - used)
    lines: list[str] = []
    for row in range(-1, max((len(column.cells) for column in kept), default=0)):
        texts = [column.header if row < 0 else column.cells[row] for column in kept]
        folded = [_folded(text, room) for text, room in zip(texts, widths, strict=True)]
        for parts in zip_longest(*folded, fillvalue=""):
            placed = (
                " " * (room - _length(part)) + part if column.right else part + " " * (room - _length(part))
                for column, part, room in zip(kept, parts, widths, strict=True)
            )
            lines.append((" " * GAP).join(placed).rstrip())
    left_out = [column.header for column in columns if not any(column is one for one in kept)]
    return lines, left_out


def _widths(columns: Sequence[Column], room: int) -> list[int]:
    """Return the width of each column, with ``room`` distributed beyond their minimum."""
    widths = []
    for column in columns:
        more = min(column.natural - column.least, max(room, 0))
        room -= more
        widths.append(column.least + more)
    return widths


def _folded(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width``, broken at spaces where there are any."""
    lines = []
    while _length(text) > width:
        cut = _fitting(text, width)
        space = text.rfind(" ", 1, cut + 1)
        cut, skip = (space, 1) if space > 0 else (cut, 0)
        lines.append(text[:cut])
        text = text[cut + skip :]
    return [*lines, text]


def _fitting(text: str, width: int) -> int:
    """Return the number of characters of ``text`` that fit in ``width``, at least 1."""
    used = 0
    for index, character in enumerate(text):
        used += _length(character)
        if used > width:
            return max(index, 1)
    return len(text)


def _length(text: str) -> int:
    """Return the columns that ``text`` occupies on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # only for what is not ASCII

    return cell_len(text)
