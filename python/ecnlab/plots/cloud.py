"""Goodput over delay with ellipses: RFC 7928, section 2.7, after Winstein and Balakrishnan's "TCP ex Machina" (2013).

Each run is a point. Its series has the 1-sigma contour of the two-dimensional normal distribution of maximum likelihood: mean
and covariance are those of the points, with 1/n. A ring stands at the medians.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.plots.figure import Figure
from ecnlab.plots.look import COLOURS
from ecnlab.plots.series import MARKS, End

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_POINTS: Final = 3
"""Points of an ellipse: the covariance of fewer is that of a line."""

CORNERS: Final = 72
"""Number of points of a drawn ellipse."""

X: Final = "delay, ms"
Y: Final = "goodput, Mbit/s"

Points = Sequence[tuple[float, float]]


def ellipse(points: Points, sigma: float = 1.0) -> list[tuple[float, float]]:
    """The contour at ``sigma`` standard deviations of the normal distribution of maximum likelihood of ``points``, closed."""
    n = len(points)
    mean_x, mean_y = (math.fsum(p[i] for p in points) / n for i in (0, 1))
    xx, xy, yy = (
        math.fsum((p[i] - (mean_x, mean_y)[i]) * (p[j] - (mean_x, mean_y)[j]) for p in points) / n
        for i, j in ((0, 0), (0, 1), (1, 1))
    )
    # With the lower triangle L of the covariance's Cholesky decomposition, L times the unit circle is the contour.
    a = math.sqrt(xx)
    b = xy / a if a else 0.0
    c = math.sqrt(max(yy - b * b, 0.0))
    turns = (2 * math.pi * (i % CORNERS) / CORNERS for i in range(CORNERS + 1))
    return [(mean_x + sigma * a * math.cos(t), mean_y + sigma * (b * math.cos(t) + c * math.sin(t))) for t in turns]


def rows(series: Mapping[str, Points], sigma: float) -> pl.DataFrame:
    """Return the drawn data per series: ``point``, ``median`` and, with at least `MIN_POINTS` points, the ``ellipse``.

    A series without points has one row of nulls.
    """
    found: list[tuple[str, str | None, float | None, float | None]] = []
    for name, points in series.items():
        if not points:
            found.append((name, None, None, None))
            continue
        median = tuple(pl.Series([p[i] for p in points]).median() for i in (0, 1))
        outline = ellipse(points, sigma) if len(points) >= MIN_POINTS else []
        found += [(name, "point", *p) for p in points]
        found += [(name, "median", float(median[0]), float(median[1]))]  # type: ignore[arg-type]
        found += [(name, "ellipse", *p) for p in outline]
    types = {"series": pl.String, "part": pl.String, X: pl.Float64, Y: pl.Float64}
    return pl.DataFrame(found, schema=types, orient="row")


def cloud(series: Mapping[str, Points], what: str, absent: str, *, delay: str, sigma: float) -> Cloud:
    """Return the figure; ``what`` describes a point, ``delay`` the kind of delay. See `Figure.absent`."""
    few = [name for name, points in series.items() if 0 < len(points) < MIN_POINTS]
    lacking = f"; no ellipse of fewer than {MIN_POINTS} points" if few else ""
    note = f"a dot: {what}; the mark: medians; the ellipse: {sigma:g} sigma{lacking}"
    return Cloud(rows(series, sigma), X, Y, "Goodput over delay", delay, Y, from_zero=False, note=note, absent=absent)


@dataclass(frozen=True)
class Cloud(Figure):
    """Points, their medians and their ellipses, named where they are."""

    values: ClassVar[str] = "xy"

    def lines(self, axes: Axes, names: Sequence[str]) -> list[End]:
        """Draw the points, the medians and the ellipses."""
        there = self.names()
        return [self._series(axes, number, name) for number, name in enumerate(names) if name in there]

    def _series(self, axes: Axes, number: int, name: str) -> End:
        colour, marker = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        of = {part: self.rows.filter(series=name, part=part) for part in ("point", "median", "ellipse")}
        axes.plot(of["point"][X], of["point"][Y], "o", markersize=2.5, color=colour, alpha=0.45, markeredgewidth=0)
        if of["ellipse"].height:
            (line,) = axes.fill(of["ellipse"][X], of["ellipse"][Y], facecolor=f"{colour}22", edgecolor=colour)
            line.set_gid(f"ellipse-{number}")
        (mark,) = axes.plot(of["median"][X], of["median"][Y], marker, markersize=6, color=colour,
                            markerfacecolor="white", markeredgewidth=1.4)  # fmt: skip
        mark.set_gid(f"line-{number}")
        return End(name, float(of["median"][Y][0]), colour, mark, marker)

    def limit(self, axes: Axes) -> None:
        """Set the limits so that no delay is below 0."""
        axes.margins(0.08)
        left, _ = axes.get_xlim()
        axes.set_xlim(left=max(left, 0.0))
