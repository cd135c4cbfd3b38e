"""The look of figures: colours, sizes, fonts and the grid of panels."""

from __future__ import annotations

from typing import Final

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, distinguishable with any kind of colour vision; black instead of grey."""

MAX_LINES: Final = len(COLOURS)
"""Maximum number of series in the same axes."""

MAX_PANELS: Final = 24
"""Maximum number of panels."""

WIDTH: Final = 5.0
HEIGHT: Final = 2.8
"""Inches: a figure fills a column of a paper and is legible there."""

NO_VALUES: Final = "no values"
"""The text of an empty panel, and the note of a row of the data without values."""

NO_ROOM: Final = "names and labels leave no room for the axes: write shorter ones, or draw a larger figure"

DPI: Final = 200
"""Dots per inch of .png."""


def grid(number: int) -> tuple[int, int]:
    """Return the rows and columns of ``number`` panels."""
    columns = 1 if number <= 3 else 2 if number <= 10 else 3
    return -(-number // columns), columns


def panel_height(number: int) -> float:
    """Return the height in inches of a figure with ``number`` panels."""
    return 0.8 + 1.15 * grid(number)[0]


def grid_size(rows: int, columns: int) -> tuple[float, float]:
    """Return width and height in inches of a figure with a grid of panels: a page's width from four columns on."""
    return (WIDTH if columns <= 3 else 7.1), 0.9 + 1.2 * rows


def font_size(width: float) -> float:
    """Return the font size in points for a figure of ``width`` inches: 9 from 4.5 in on, 7 up to 3 in."""
    return min(9.0, max(7.0, 7.0 + (width - 3.0) * 2.0 / 1.5))
