"""Names of series from the keys of a sweep: its arms and axes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.plots.look import MAX_LINES

if TYPE_CHECKING:
    from ecnlab.results.sweep import SweepResult


ARM: Final = "arm"

MAX_NAMED: Final = 12
"""Most arms and points that the note of a figure names."""


def names(
    sweep: SweepResult, rows: pl.DataFrame, alone: str, without: Collection[str] = (), also: Sequence[str] = (),
    *, axes_named: bool = False,
) -> list[str]:  # fmt: skip
    """Return a name for each of ``rows``: its arm, its axes but ``without`` and the columns ``also``.

    ``axes_named`` writes "axis = label" instead of the label. The name is ``alone`` if there are no such columns.
    """
    axes = [axis for axis in (ARM, *sweep.axes) if axis not in without and axis not in sweep.fixed]
    keys = [axis_column(axis) if axis_column(axis) in rows.columns else axis for axis in axes] + list(also)
    if not keys:
        return [alone] * rows.height
    before = [f"{readable(axis)} = " if axes_named and axis != ARM else "" for axis in (*axes, *also)]

    def name(key: Sequence[object]) -> str:
        parts = (f"{axis}{label}" for axis, label in zip(before, key, strict=True) if label is not None)
        return ", ".join(parts) or alone

    found = {key: name(key) for key in rows[keys].unique(maintain_order=True).rows()}
    return [found[key] for key in rows[keys].iter_rows()]


def missing(sweep: SweepResult, rows: pl.DataFrame, without: str | None = None) -> pl.DataFrame:
    """Return the arms and labels of the points of ``sweep``, except of the arm ``without``, that ``rows`` does not have."""
    columns = list(dict.fromkeys((ARM, *sweep.axes)))
    points = _points(sweep, without)
    if not rows.height:
        return points
    there = {axis: axis_column(axis) if axis_column(axis) in rows.columns else axis for axis in columns}
    found = rows.select(pl.col(column).cast(pl.String).alias(axis) for axis, column in there.items())
    return points.join(found, on=columns, how="anti", nulls_equal=True, maintain_order="left")


def absent(sweep: SweepResult, points: pl.DataFrame, what: str, without: str | None = None) -> str:
    """Return "no WHAT: " with names of ``points``: arms and labels of axes if all their points are among them.

    It is "" if there are no points.
    """
    if not points.height:
        return ""
    found, left, all_points = [], points, _points(sweep, without)
    for axis in dict.fromkeys((ARM, *sweep.axes)):
        for label in points[axis].drop_nulls().unique(maintain_order=True):
            if points.filter(pl.col(axis) == label).height == all_points.filter(pl.col(axis) == label).height:
                found.append(label if axis == ARM else f"{readable(axis)} = {label}")
                left = left.filter(pl.col(axis).ne_missing(pl.lit(label)))
    found += names(sweep, left, "all runs", axes_named=True)
    more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return f"no {what}: {', '.join(found[:MAX_NAMED])}{more}"


def _points(sweep: SweepResult, without: str | None) -> pl.DataFrame:
    """Return each arm and point of the axes once, except the arm ``without``."""
    points = sweep.runs.select(pl.col(*dict.fromkeys((ARM, *sweep.axes))).cast(pl.String)).unique(maintain_order=True)
    return points.filter(pl.col(ARM).ne_missing(pl.lit(without))) if without else points


def named(sweep: SweepResult, rows: pl.DataFrame, alone: str, kind: str, also: Sequence[str] = ()) -> pl.DataFrame:
    """Return ``rows`` with the column ``series`` of `names`. Raises EcnlabError if there are too many."""
    found = names(sweep, rows, alone, also=also)
    if (number := len(set(found))) > MAX_LINES:
        missing = f"{number} lines in one figure, of {', '.join(['arm', *sweep.axes, *also])}"
        raise refused(sweep, kind, missing, f"at most {MAX_LINES} can be distinguished")
    return rows.with_columns(pl.Series("series", found, dtype=pl.String))


def refused(sweep: SweepResult, kind: str, missing: str, remedy: str) -> EcnlabError:
    """Return the error of a figure that ``sweep`` does not have."""
    return EcnlabError(f"{sweep.folder}: no figure `{kind}`: {missing}; {remedy}")


def readable(name: str) -> str:
    """Return the name of an axis or metric as text: without underscores, except before a single letter, as of max_p."""
    return re.sub(r"_(?=[^_]{2})", " ", name)


def part_of(sweep: SweepResult) -> str:
    """Return the labels that select a part of a sweep, as "sender = BBR, rate = 1 Mbps or 2 Mbps"; "" for a whole one."""
    return ", ".join(f"{readable(axis)} = {' or '.join(labels)}" for axis, labels in sweep.chosen.items())


def free(name: str, taken: Collection[str]) -> str:
    """``name``, with underscores behind it if it is taken."""
    while name in taken:
        name += "_"
    return name


def axis_column(name: str) -> str:
    """Return the column of the axis ``name`` for a table that already has a column of that name."""
    return f"{name} (axis)"
