"""Distributions of sojourn times: CDFs, and their tails on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ecnlab.base.lazy_imports import pl
from ecnlab.plots.figure import Figure

MAX_POINTS: Final = 2000
"""Maximum points of a line: more are indistinguishable in print."""

X: Final = "sojourn, ms"
CDF: Final = "share of packets"
TAIL: Final = "share of packets at least so long"

COMPLETION: Final = "completion, ms"
COMPLETED: Final = "share of transactions"
COMPLETED_TAIL: Final = "share of transactions at least so long"


def of_times(seconds: pl.Series, *, tail: bool) -> pl.DataFrame:
    """Return the distribution of single times, thinned, except the ``MAX_POINTS`` longest if the tail is requested.

    ``x`` in ms; ``y`` is the fraction of times that are at most ``x``, or at least ``x``.
    """
    times, number = seconds.sort(), seconds.len()
    place = pl.int_range(number)
    share = 1 - place / number if tail else (place + 1) / number
    points = pl.DataFrame({"x": 1e3 * times}).with_columns(share.alias("y"))
    step = -(-number // MAX_POINTS)
    kept = (place % step == 0) | (place == number - 1)
    return points.filter(kept | (place >= number - MAX_POINTS) if tail else kept)


def of_bins(bins: pl.DataFrame, *, tail: bool) -> pl.DataFrame:
    """Return the distribution from a histogram with ``from_s``, ``to_s`` and ``packets``: exact at the limits of bins."""
    rows = bins.group_by("from_s", "to_s").agg(pl.col("packets").sum()).sort("from_s")
    number, below = rows["packets"].sum(), rows["packets"].cum_sum()
    if tail:
        return pl.DataFrame({"x": 1e3 * rows["from_s"], "y": 1 - (below - rows["packets"]) / number})
    first = pl.DataFrame({"x": [1e3 * rows["from_s"][0]], "y": [0.0]})
    return pl.concat([first, pl.DataFrame({"x": 1e3 * rows["to_s"], "y": below / number})])


def figure(parts: Mapping[str, pl.DataFrame], title: str, *, tail: bool, exact: bool, note: str = "") -> Figure:
    """The distribution of sojourn times with a line for each of ``parts``."""
    return _figure(parts, title, (X, TAIL if tail else CDF), "time in the queue, ms", tail=tail, exact=exact, note=note)


def completion(rows: pl.DataFrame, *, tail: bool) -> Figure:
    """The distribution of completion times, from ``rows`` of transactions with ``series`` and ``latency_s``."""
    names = rows["series"].unique(maintain_order=True).to_list()
    parts = {name: of_times(rows.filter(series=name)["latency_s"], tail=tail) for name in names}
    title = f"Completion times of {rows.height:,} transactions"
    columns = (COMPLETION, COMPLETED_TAIL if tail else COMPLETED)
    return _figure(parts, title, columns, "SYN to end of the response, ms", tail=tail, exact=True)


def _figure(
    parts: Mapping[str, pl.DataFrame], title: str, columns: tuple[str, str], x_label: str, *, tail: bool, exact: bool,
    note: str = "",
) -> Figure:  # fmt: skip
    """A line for each of ``parts``. The one furthest to the left has its name on top."""
    medians = {name: float(part.filter((pl.col("y") <= 0.5) if tail else (pl.col("y") >= 0.5))["x"][0]) if part.height else 0.0
               for name, part in parts.items()}  # fmt: skip
    names: Sequence[str] = sorted(parts, key=lambda name: -medians[name])
    x, y = columns
    rows = pl.concat([parts[name].select(pl.lit(name).alias("series"), "x", "y") for name in names])
    return Figure(
        rows.rename({"x": x, "y": y}), x, y, title, x_label, y, "stairs" if exact and not tail else "line", log_y=tail,
        note=note,
    )  # fmt: skip
