"""Numbers, lists and stored tables as a report writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.readable import cell
from ecnlab.folder.columns import TABLES
from ecnlab.report import Table
from ecnlab.report.page import Cell

NONE: Final = "–"
"""A missing value."""

UNIT: Final = re.compile(r"_(bps|s|bytes)$")
"""Ends of column names that `cell` writes as a unit."""


def value(column: str, number: object) -> str:
    """Return a number of the stored ``column`` with its unit and three significant digits."""
    if isinstance(number, bool):
        return "yes" if number else "no"
    text = cell(column, number)
    return NONE if text == "-" else re.sub(r"^-|(?<=e)-", "−", text)


def share(fraction: float) -> str:
    """Return a fraction as a percentage with two significant digits, and all of those before the point."""
    if not math.isfinite(fraction):
        return NONE
    percent = 100 * fraction
    digits = 0 if abs(percent) >= 9.95 or percent == 0 else 1 if abs(percent) >= 0.095 else 2
    text = f"{percent:.{digits}f}"
    if percent and not float(text):
        text = f"{percent:.1g}"
    return f"{text} %".replace("-", "−")


def counted(number: int, what: str) -> str:
    """Return a number and its noun: "1 flow", "12 flows"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}".replace(",", " ")


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return names separated by commas; of more than ``most`` the first and the number of the others."""
    found = list(names)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")


def table(caption: str, frame: pl.DataFrame, *, folded: bool = False, most: int = 1000) -> Table:
    """Return ``frame`` as a table of the page: units in the cells, at most ``most`` rows, which the caption then states."""
    shown = frame.head(most)
    if frame.height > most:
        caption = f"{caption} (the first {most} of {frame.height} rows)"
    numeric = [dtype.is_numeric() for dtype in shown.dtypes]
    rows: Sequence[Sequence[Cell]] = [
        [Cell(value(name, one), right) for name, one, right in zip(shown.columns, row, numeric, strict=True)]
        for row in shown.iter_rows()
    ]
    return Table(caption, [heading(name) for name in shown.columns], rows, folded=folded)


def heading(column: str) -> str:
    """Return the heading of a stored column: words, without the unit that its cells have."""
    return UNIT.sub("", column).replace("_", " ")


def meaning(table_: str, column: str) -> str:
    """Return the meaning of a stored column, without the laws that have it."""
    text = TABLES[table_][column].meaning.split("; of `")[0]
    return f"{text[0].upper()}{text[1:]}"


def recorded(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return those of ``columns`` that ``frame`` has with any value."""
    return frame.select(
        name for name in columns if name in frame.columns and frame[name].null_count() < max(frame.height, 1)
    )
