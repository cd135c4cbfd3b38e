"""The two readings of the thresholds that the RFC does not print: how each chooses them from the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from ecnlab.papers import judge
from ecnlab.papers.material import Material, Row
from ecnlab.papers.published import Number
from ecnlab.papers.rfc2884.grid import GRID, LOADS
from ecnlab.papers.samples import interval

SHARE: Final = 0.9
"""The share of time in the region that settings must reach."""

MAX_P: Final = "0.1"
"""The max_p at which they are chosen: the one value the RFC prints numbers of for every load."""

PRIMARY: Final = {"recovery": "reno", "maxp": MAX_P}

# --------------------------------------------------------------- the first reading: section 4.4 as a rule


def smallest(given: Material) -> dict[str, Row]:
    """The point of the search that the rule takes at each congestion level.

    The smallest min_th whose mean share of time in [min_th, max_th) reaches `SHARE`, else the one with the largest
    share. No gain enters.
    """
    chosen: dict[str, Row] = {}
    for (load,), found in given.at("search_share", maxp=MAX_P).group_by(["congestion"], maintain_order=True):
        rows = list(found.iter_rows(named=True))
        enough = [row for row in rows if row["mean"] >= SHARE]
        chosen[str(load)] = (
            min(enough, key=lambda row: GRID.score(row["min_th"])) if enough else max(rows, key=lambda row: row["mean"])
        )
    return chosen


# --------------------------------------------------------------- the joint reading: that of joint-bulk.toml


@dataclass(frozen=True, slots=True)
class Choice:
    """The min_th taken for one load: which numbers chose it, and the sum of misses of every candidate."""

    min_th: str
    chosen_by: tuple[str, ...]
    scores: Mapping[str, float]


def choose(given: Material, *, swapped: bool = False) -> dict[str, Choice]:
    """One min_th for each load, chosen on one half of the printed numbers to be judged on the other.

    With ``swapped``, the halves change places.
    """
    found = {}
    for load in LOADS:
        choosing = halves(given.published.numbers, load)[1 if swapped else 0]
        scores = {label: _score(given, load, label, choosing) for label in _candidates(given, load)}
        taken = min(scores, key=lambda label: (scores[label], GRID.score(label)))
        found[load] = Choice(taken, tuple(number.id for number in choosing), scores)
    return found


def halves(numbers: Sequence[Number], load: str) -> tuple[list[Number], list[Number]]:
    """The printed numbers of a load in their order: the first, third, fifth ..., and the others."""
    here = [number for number in numbers if number.where["congestion"] == load]
    return here[::2], here[1::2]


def measured(given: Material, number: Number, min_th: str) -> Row:
    """What is measured of ``number`` at its place with this min_th, and as ``verdict`` what that says of it."""
    row = given.point(f"joint_{number.metric}", **{**number.where, "min_th": min_th})
    verdict = judge.verdict(number, given.metric(number.metric), interval(row))
    return {**row, "metric": number.metric, "verdict": verdict}


def timeouts(given: Material, load: str, min_th: str) -> float:
    """Timeouts of the non-ECN bulk flow over its retransmissions: Reno, max_p 0.1."""
    return float(given.point("joint_timeouts_plain", congestion=load, min_th=min_th, **PRIMARY)["mean"])


def _candidates(given: Material, load: str) -> list[str]:
    """Each min_th that keeps the average in the region, as section 4.4 asks; all where none does."""
    share = given.at("joint_share", congestion=load, **PRIMARY)
    inside = share.filter(pl.col("mean") >= SHARE)
    return (share if inside.is_empty() else inside)["min_th"].to_list()


def _score(given: Material, load: str, min_th: str, choosing: Sequence[Number]) -> float:
    """The misses of the numbers that choose, in margins, and how far timeouts are over the limit of R30."""
    missed: float = sum(
        abs(measured(given, number, min_th)["mean"] - number.value) / given.metric(number.metric).margin
        for number in choosing
    )
    return missed + max(0.0, timeouts(given, load, min_th) / given.published.claim("R30").limit - 1.0)
