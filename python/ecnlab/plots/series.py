"""The series of a figure in Matplotlib's axes: lines, stairs, points with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ecnlab.base.lazy_imports import pl
from ecnlab.plots.look import COLOURS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ecnlab.plots.figure import Figure

DASHES: Final = ("-", "--", ":", "-.")
"""Line styles, distinguishable in print without colour."""

MARKS: Final = "osD^vP*"
"""Markers, distinguishable in print without colour."""

SLOT: Final = 0.6
"""Fraction of the distance between two categories that their points use."""

DODGE: Final = 0.012
"""Horizontal distance between series at one position, as a fraction of a numeric axis."""


MARGIN: Final = 6.0
"""Points between the border and the first points of a narrow panel: their markers are inside."""

RUGS: Final = (COLOURS[2], COLOURS[6])
"""Colours of rows of events."""

ROW: Final = 0.06
MAX_ROW: Final = 0.15
"""Limits of the height of a row of events, as fractions of the y axis."""

ROW_POINTS: Final = 6.0
"""Height of a row of events in points, within these limits."""

TICKS: Final = 1500
"""Maximum number of ticks in a row of events: more are indistinguishable in print."""


class End(NamedTuple):
    """The right end of a series, where its name is written."""

    name: str
    y: float
    """In units of the data."""
    colour: str
    key: Artist
    """The artist that a legend shows."""
    marker: str = ""
    """The marker next to the name of a series of points, if there are several."""


def draw(figure: Figure, axes: Axes, names: Sequence[str]) -> list[End]:
    """Draw every series of ``figure``; return their ends."""
    ends = []
    if figure.level is not None:
        axes.axhline(figure.level, color="#888888", linewidth=0.7, zorder=0)
    for number, name in enumerate(names):
        rows = figure.rows.filter(pl.col("series") == name)
        if not rows.height:
            continue
        x, y = rows[figure.x].to_list(), rows[figure.y].fill_null(math.nan).to_list()
        colour, marker = COLOURS[number % len(COLOURS)], ""
        if figure.shape == "points":
            marker = MARKS[number % len(MARKS)]
            low, high = (rows[side].fill_null(rows[figure.y]).fill_null(math.nan).to_list() for side in ("low", "high"))
            reach = [[v - a for v, a in zip(y, low, strict=True)], [b - v for v, b in zip(y, high, strict=True)]]
            x = [at + _aside(figure, number, len(names)) for at in x]
            joined = "" if figure.categories else DASHES[number % len(DASHES)]
            line = axes.errorbar(x, y, reach, marker=marker, markersize=3.5, capsize=2, color=colour, linestyle=joined,
                                 linewidth=0.9)[0]  # fmt: skip
        else:
            style = "steps-post" if figure.shape == "stairs" else "default"
            (line,) = axes.plot(x, y, drawstyle=style, color=colour, linewidth=0.9)
        line.set_gid(f"line-{number}")
        ends.append(End(str(name), next((v for v in reversed(y) if math.isfinite(v)), 0.0), colour, line, marker))
    return ends


def draw_rugs(figure: Figure, axes: Axes, names: Sequence[str], top: float) -> list[End]:
    """Draw the events ``names`` of ``figure`` as rows of ticks below y = 0; return the ends of the rows, with their counts.

    ``top`` is the upper limit of the y axis.
    """
    if figure.rugs is None or not names:
        return []
    left, right = axes.get_xlim()
    step, height = (right - left) / TICKS, top * _row(axes)
    ends = []
    for row, name in enumerate(names):
        times = figure.rugs.filter(pl.col("series") == name)[figure.x]
        middle, half, colour = -(row + 0.7) * height, 0.4 * height, RUGS[row % len(RUGS)]
        at = ((times / step).round().unique().sort() * step).to_list()
        axes.vlines(at, middle - half, middle + half, color=colour, linewidth=0.5).set_gid(f"rug-{row}")
        (key,) = axes.plot([], [], "|", color=colour, markersize=5)
        ends.append(End(f"{name}: {times.len():,}", middle, colour, key))
    axes.axhline(0, color="#888888", linewidth=0.5, zorder=0)
    ticks = [tick for tick in axes.get_yticks() if 0 <= tick <= top]
    axes.set_ylim(-(len(names) + 0.4) * height, top)
    axes.set_yticks(ticks)
    return ends


def _row(axes: Axes) -> float:
    """Return the height of a row of events as a fraction of the y axis: about 6 points, within limits."""
    height = axes.get_window_extent().height * 72 / axes.figure.dpi
    return min(max(ROW_POINTS / height, ROW), MAX_ROW)


def _aside(figure: Figure, number: int, count: int) -> float:
    """Return the horizontal offset of points, so that intervals do not cover each other."""
    steps = number - (count - 1) / 2
    if figure.categories:
        return steps * min(SLOT / count, 0.15)
    least, most = float(figure.rows[figure.x].min()), float(figure.rows[figure.x].max())  # type: ignore[arg-type]
    return steps * DODGE * (most - least)


def limit(figure: Figure, axes: Axes) -> None:
    """Set the limits and ticks of ``axes``."""
    width = axes.get_window_extent().width * 72 / axes.figure.dpi
    axes.margins(x=max(0.03, MARGIN / width) if figure.shape == "points" else 0)
    if figure.log_y:
        axes.set_yscale("log")
    elif figure.from_zero:
        axes.set_ylim(bottom=0)
    if figure.from_zero:
        axes.set_xlim(left=0)
    if figure.start is not None:
        axes.set_xlim(left=figure.start)
    if figure.end is not None:
        axes.set_xlim(right=figure.end)
    if figure.categories:
        axes.set_xlim(-0.5, len(figure.categories) - 0.5)
        axes.set_xticks(range(len(figure.categories)), list(figure.categories), parse_math=False)
