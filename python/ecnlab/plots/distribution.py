"""Distributions of sojourn times: CDFs, and their tails on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ecnlab.base.lazy_imports import pl
from ecnlab.plots.figure import Figure

MOST_POINTS: Final = 2000
"""Maximum points of a line: more are indistinguishable in print."""

X: Final = "sojourn, ms"
CDF: Final = "share of packets"
TAIL: Final = "share of packets at least so long"


def of_times(seconds: pl.Series, *, tail: bool) -> pl.DataFrame:
    """Return the distribution of single times, thinned, except the ``MOST_POINTS`` longest if the tail is requested.

    ``x`` in ms; ``y`` is the fraction of times that are at most ``x``, or at least ``x``.
    """
    times, number = seconds.sort(), seconds.len()
    place = pl.int_range(number)
    share = 1 - place / number if tail else (place + 1) / number
    points = pl.DataFrame({"x": 1e3 * times}).with_columns(share.alias("y"))
    step = -(-number // MOST_POINTS)
    kept = (place % step == 0) | (place == number - 1)
    return points.filter(kept | (place >= number - MOST_POINTS) if tail else kept)


def of_bins(bins: pl.DataFrame, *, tail: bool) -> pl.DataFrame:
    """Return the distribution from a histogram with ``from_s``, ``to_s`` and ``packets``: exact at the limits of bins."""
    rows = bins.group_by("from_s", "to_s").agg(pl.col("packets").sum()).sort("from_s")
    number, below = rows["packets"].sum(), rows["packets"].cum_sum()
    if tail:
        return pl.DataFrame({"x": 1e3 * rows["from_s"], "y": 1 - (below - rows["packets"]) / number})
    first = pl.DataFrame({"x": [1e3 * rows["from_s"][0]], "y": [0.0]})
    return pl.concat([first, pl.DataFrame({"x": 1e3 * rows["to_s"], "y": below / number})])


def figure(parts: Mapping[str, pl.DataFrame], title: str, *, tail: bool, exact: bool, note: str = "") -> Figure:
    """A line for each of ``parts``. The one furthest to the left has its name on top."""
    medians = {name: float(part.filter((pl.col("y") <= 0.5) if tail else (pl.col("y") >= 0.5))["x"][0]) if part.height else 0.0
               for name, part in parts.items()}  # fmt: skip
    names: Sequence[str] = sorted(parts, key=lambda name: -medians[name])
    y = TAIL if tail else CDF
    rows = pl.concat([parts[name].select(pl.lit(name).alias("series"), "x", "y") for name in names])
    return Figure(
        rows.rename({"x": X, "y": y}), X, y, title, "time in the queue, ms", y,
        "stairs" if exact and not tail else "line", log_y=tail, note=note,
    )  # fmt: skip
