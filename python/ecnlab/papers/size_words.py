"""Words for sizes, each with the rule that a measured value must meet before a text may use it.

The limits are ours, and documented here and in ``docs/papers.md``; they are the same for every paper and were fixed
before any text was checked. Rules apply to points: a mean with its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from ecnlab.papers.published import Metric

ALIKE: Final = 0.1
"""Part of the largest by which means may differ and be alike; and how far a mean is from a number that it is about."""

SAME: Final = 0.05
"""Part of the largest by which means may differ and be the same, if their intervals share a value, too."""

HARDLY: Final = 0.05
"""How far the interval of a share, or of a gain or ratio from no effect, may reach and be hardly any."""

Row = Mapping[str, Any]


def alike(rows: Sequence[Row], _metric: Metric, _than: float | None) -> bool:
    """Return whether the means are within a tenth of the largest of each other."""
    return _spread(rows) <= ALIKE * _largest(rows)


def same(rows: Sequence[Row], _metric: Metric, _than: float | None) -> bool:
    """Return whether the means are within a twentieth of the largest of each other, and all intervals overlap."""
    shared = max(row["low"] for row in rows) <= min(row["high"] for row in rows)
    return shared and _spread(rows) <= SAME * _largest(rows)


def hardly(rows: Sequence[Row], metric: Metric, _than: float | None) -> bool:
    """Return whether each whole interval is within 0.05 of no effect: the metric's neutral value, or zero."""
    neutral = metric.neutral or 0.0
    return all(abs(row[end] - neutral) <= HARDLY for row in rows for end in ("low", "high"))


def about(rows: Sequence[Row], _metric: Metric, than: float | None) -> bool:
    """Return whether each mean is within a tenth of ``than``."""
    return than is not None and all(abs(row["mean"] - than) <= ALIKE * abs(than) for row in rows)


def more(rows: Sequence[Row], _metric: Metric, than: float | None) -> bool:
    """Return whether each whole interval is above ``than``."""
    return than is not None and all(row["low"] > than for row in rows)


def less(rows: Sequence[Row], _metric: Metric, than: float | None) -> bool:
    """Return whether each whole interval is below ``than``."""
    return than is not None and all(row["high"] < than for row in rows)


def apart(rows: Sequence[Row], _metric: Metric, _than: float | None) -> bool:
    """Return whether no two intervals overlap."""
    ordered = sorted(rows, key=lambda row: float(row["low"]))
    return all(a["high"] < b["low"] for a, b in pairwise(ordered))


def undecided(rows: Sequence[Row], _metric: Metric, than: float | None) -> bool:
    """Return whether each interval contains ``than``."""
    return than is not None and all(row["low"] <= than <= row["high"] for row in rows)


RULES: Final[Mapping[str, Callable[[Sequence[Row], Metric, float | None], bool]]] = {
    rule.__name__: rule for rule in (alike, same, hardly, about, more, less, apart, undecided)
}
"""Rules by their names in a text. ``about``, ``more``, ``less`` and ``undecided`` need a number: ``about=0.5``."""

OF_SEVERAL: Final = ("alike", "same", "apart")
"""Rules that compare points with each other."""

JUDGED: Final = ("alike", "hardly", "the same", "about", "nearly", "almost", "roughly", "similar", "more or less")
"""Words allowed in a text only inside a reference, with their rule."""

EXTENT: Final = ("at every", "to the end")
"""Words of extent, allowed only inside a reference, with their rule or source."""


def _largest(rows: Sequence[Row]) -> float:
    return max(abs(float(row["mean"])) for row in rows)


def _spread(rows: Sequence[Row]) -> float:
    means = [float(row["mean"]) for row in rows]
    return max(means) - min(means)
