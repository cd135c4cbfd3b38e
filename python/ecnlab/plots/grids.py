"""Figures put together from several: panels for the labels of an axis, rows for metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.plots.figure import Figure
from ecnlab.plots.keys import ARM, readable, refused
from ecnlab.plots.look import MAX_PANELS, grid_size, panel_height

if TYPE_CHECKING:
    from ecnlab.results.sweep import SweepResult

PANEL: Final = "panel"
METRIC: Final = "metric"
VALUE: Final = "value"
"""Columns of the data: the panel, the row, and the y of figures with several metrics."""


def by_label(sweep: SweepResult, kind: str, axis: str, draw: Callable[[SweepResult], Figure]) -> Figure:
    """Return a figure with a panel for each label of ``axis``, or for each arm, with shared scales.

    ``draw`` makes the figure of one panel from the part of the sweep. Panels without data are named in `Figure.absent`.
    Raises EcnlabError if there is no such axis, if there are too many panels, or if no panel has data.
    """
    figures: dict[str, Figure] = {}
    lacking: dict[str, EcnlabError] = {}
    for label in _labels(sweep, kind, axis):
        name = label if axis == ARM else f"{readable(axis)} = {label}"
        try:
            figures[name] = draw(sweep.where({axis: label}))
        except EcnlabError as error:
            lacking[name] = error
    if not figures:
        raise next(iter(lacking.values()))
    rows = [one.rows.select(pl.lit(name).alias(PANEL), pl.all()) for name, one in figures.items()]
    absent = _common({name: one.absent for name, one in figures.items()})
    if lacking:
        absent = "; ".join(filter(None, (absent, f"no values: {', '.join(lacking)}")))
    first = next(iter(figures.values()))
    notes = dict.fromkeys(one.note for one in figures.values() if one.note)
    return replace(
        first, rows=pl.concat(rows, how="diagonal"), panel=PANEL, absent=absent, note="; ".join(notes),
        height=panel_height(len(figures)),
    )  # fmt: skip


def by_metric(figures: Mapping[str, Figure], title: str) -> Figure:
    """Return the grid of ``figures``, one for each metric: a row for each metric, a column for each of their panels."""
    rows = [
        one.rows.rename({one.y: VALUE}).select(pl.lit(one.y_label).alias(METRIC), pl.all()) for one in figures.values()
    ]
    first = next(iter(figures.values()))
    width, height = grid_size(len(figures), len(first.panel_names()))
    absent = "; ".join(one.absent for one in figures.values() if one.absent)
    return replace(
        first, rows=pl.concat(rows, how="diagonal"), y=VALUE, y_label="", title=title, row=METRIC, absent=absent,
        width=width, height=height,
    )  # fmt: skip


def _labels(sweep: SweepResult, kind: str, axis: str) -> Sequence[str]:
    there = [one for one in dict.fromkeys((ARM, *sweep.axes)) if sweep.runs[one].drop_nulls().len()]
    there = [one for one in there if one not in sweep.fixed]
    if axis not in there:
        raise refused(sweep, kind, f"no axis is called {axis!r}", f"there are {', '.join(there) or 'none'}")
    labels = sweep.runs[axis].drop_nulls().cast(pl.String).unique(maintain_order=True).to_list()
    if len(labels) > MAX_PANELS:
        raise refused(sweep, kind, f"{len(labels)} panels in one figure", f"at most {MAX_PANELS} are drawn")
    return labels


def _common(absent: Mapping[str, str]) -> str:
    """Return the texts of panels: one for all if they are equal, or each with its panel."""
    if len(set(absent.values())) == 1:
        return next(iter(absent.values()))
    return "; ".join(f"{text} ({name})" for name, text in absent.items() if text)
