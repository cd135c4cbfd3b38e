"""Marks of axes that do not show all: without 0, or with a part of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from matplotlib.transforms import ScaledTranslation

from ecnlab.report.scale import cut_end

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ecnlab.plots.figure import Figure, Side

STROKE: Final = {"y": ((-1.0, -0.5), (1.0, 0.5)), "x": ((-0.5, -1.0), (0.5, 1.0))}
"""A stroke across an axis."""

AT: Final[dict[Side, tuple[int, int]]] = {"left": (0, 0), "right": (1, 0), "bottom": (0, 0), "top": (0, 1)}
"""The ends in fractions of the axes."""

PLACES: Final = (4.0, 7.0)
"""Points between an end of an axis and its two strokes."""


def mark(figure: Figure, axes: Axes) -> None:
    """Draw two strokes at each end where an axis is cut: see `sides`."""
    for side in sides(figure, axes):
        across = "x" if side in ("left", "right") else "y"
        for place in PLACES:
            inward = place if side in ("left", "bottom") else -place
            right, up = (inward / 72, 0.0) if across == "x" else (0.0, inward / 72)
            transform = axes.transAxes + ScaledTranslation(right, up, axes.figure.dpi_scale_trans)
            (stroke,) = axes.plot(
                *([part] for part in AT[side]), marker=STROKE[across], markersize=7, color="black", linestyle="none",
                markeredgewidth=0.8, clip_on=False, transform=transform, zorder=10,
            )  # fmt: skip
            stroke.set_gid(f"cut-{side}")


def sides(figure: Figure, axes: Axes) -> list[Side]:
    """Return the ends of ``axes`` that are cut: axes of values without 0, at the end towards 0, and `Figure.cut`."""
    found = list(figure.cut)
    ends: dict[str, tuple[Side, Side]] = {"x": ("left", "right"), "y": ("bottom", "top")}
    for name in figure.values:
        low, high = axes.get_xlim() if name == "x" else axes.get_ylim()
        log = (axes.get_xscale() if name == "x" else axes.get_yscale()) == "log"
        end = cut_end(low, high, log=log)
        if end is not None:
            found.append(ends[name][0] if end == low else ends[name][1])
    return found
