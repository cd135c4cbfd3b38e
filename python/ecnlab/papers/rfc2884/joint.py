"""The joint reading: one min_th for each load, chosen on one half of the printed numbers and judged on the other.

The rule is that of ``papers/rfc2884/joint-bulk.toml``, written down before its runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from ecnlab import stats
from ecnlab.papers.published import Claim, Number, Published
from ecnlab.papers.rfc2884.choice import MAX_P, SHARE
from ecnlab.papers.rfc2884.grid import GRID, LOADS
from ecnlab.papers.samples import at
from ecnlab.stats import Interval

PREFIX: Final = "joint_"
"""Before the name of a number's metric: the same measured over thresholds."""

TIMEOUTS: Final = "joint_timeouts_plain"


@dataclass(frozen=True, slots=True)
class Choice:
    """The min_th taken for one load: which numbers chose it, and the sum of misses of every candidate."""

    load: str
    min_th: str
    chosen_by: tuple[str, ...]
    scores: Mapping[str, float]


def choose(points: pl.DataFrame, published: Published, *, swapped: bool = False) -> dict[str, Choice]:
    """The choice for each load. With ``swapped``, the halves of the printed numbers change places."""
    limit = next(claim for claim in published.claims if claim.id == "R30")
    found = {}
    for load in LOADS:
        choosing = halves(published.numbers, load)[1 if swapped else 0]
        scores = {label: _score(points, published, load, label, choosing, limit) for label in _candidates(points, load)}
        taken = min(scores, key=lambda label: (scores[label], GRID.score(label)))
        found[load] = Choice(load, taken, tuple(number.id for number in choosing), scores)
    return found


def halves(numbers: Sequence[Number], load: str) -> tuple[list[Number], list[Number]]:
    """The printed numbers of a load in their order: the first, third, fifth ..., and the others."""
    here = [number for number in numbers if number.where["congestion"] == load]
    return here[::2], here[1::2]


def measured(points: pl.DataFrame, number: Number, min_th: str) -> Interval:
    """What is measured at the place of ``number`` with this min_th."""
    row = at(points, PREFIX + number.metric, {**number.where, "min_th": min_th}).row(0, named=True)
    return Interval(row["mean"], row["low"], row["high"], row["n"])


def verdict(found: Interval, number: Number, published: Published) -> stats.Verdict:
    """As for the first reading: the margin and the direction of the number's own metric."""
    metric = published.metrics[number.metric]
    margin = metric.margin if number.margin is None else number.margin
    return stats.verdict(found, number.value, margin, metric.neutral)


def timeouts(points: pl.DataFrame, load: str, min_th: str) -> float:
    """Timeouts of the non-ECN bulk flow over its retransmissions: Reno, max_p 0.1."""
    return float(at(points, TIMEOUTS, _reno(load, min_th))["mean"][0])


def _candidates(points: pl.DataFrame, load: str) -> list[str]:
    """Each min_th that keeps the average in the region, as section 4.4 asks; all where none does."""
    share = at(points, "joint_share", _reno(load))
    inside = share.filter(pl.col("mean") >= SHARE)
    return (share if inside.is_empty() else inside)["min_th"].to_list()


def _score(
    points: pl.DataFrame, published: Published, load: str, min_th: str, choosing: Sequence[Number], limit: Claim
) -> float:
    misses = [
        abs(measured(points, number, min_th).mean - number.value) / published.metrics[number.metric].margin
        for number in choosing
    ]
    return sum(misses) + max(0.0, timeouts(points, load, min_th) / limit.limit - 1.0)


def _reno(load: str, min_th: str = "") -> dict[str, str | list[str]]:
    place: dict[str, str | list[str]] = {"congestion": load, "recovery": "reno", "maxp": MAX_P}
    return {**place, "min_th": min_th} if min_th else place
