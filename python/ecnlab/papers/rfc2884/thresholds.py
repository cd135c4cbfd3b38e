"""The two readings of the thresholds that the RFC does not print: how each chooses them from the runs.

Both require that RED's average stays in the region at every max_p that is run. `choose` does the joint reading from the means over all
seeds, `resampled` again for seeds drawn with replacement, so that the report shows how far the choice is one of these seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ecnlab.papers import judge
from ecnlab.papers.judge import at, interval
from ecnlab.papers.material import Material, Row
from ecnlab.papers.published import Below, Number, Published
from ecnlab.papers.rfc2884.grid import GRID, LOADS

SHARE: Final = 0.9
"""The share of time in the region that settings must reach, at every max_p that is run."""

MAX_P: Final = "0.1"
"""The max_p at which timeouts choose: the one value the RFC prints numbers of for every load."""

PRIMARY: Final = {"recovery": "reno", "maxp": MAX_P}

HALVES: Final = {"as printed": False, "exchanged": True}
"""Which half of the printed numbers chooses, as the points of ``joint_choice`` call it: the first, or the other."""

RESAMPLES: Final = 1000
RESAMPLING_SEED: Final = 2884

Values = NDArray[np.float64]

# --------------------------------------------------------------- the first reading: section 4.4 as a rule


def smallest(given: Material) -> dict[str, Row]:
    """Return the point chosen by the rule at each congestion level, at the max_p with the smallest share.

    The smallest min_th whose mean share of time in [min_th, max_th) reaches `SHARE` at every max_p, otherwise the one
    with the largest minimum share. Gains are not used.
    """
    chosen: dict[str, Row] = {}
    for (load,), found in given.at("search_share").group_by(["congestion"], maintain_order=True):
        rows = [min(of.iter_rows(named=True), key=lambda row: row["mean"]) for of in _by_min_th(found)]
        enough = [row for row in rows if row["mean"] >= SHARE]
        chosen[str(load)] = (
            min(enough, key=lambda row: GRID.score(row["min_th"])) if enough else max(rows, key=lambda row: row["mean"])
        )
    return chosen


def _by_min_th(found: pl.DataFrame) -> Iterator[pl.DataFrame]:
    return (rows for _, rows in found.group_by("min_th", maintain_order=True))


# --------------------------------------------------------------- the joint reading: that of joint-bulk.toml


@dataclass(frozen=True, slots=True)
class Choice:
    """The min_th chosen for one load: the numbers used, and the sum of misses of every candidate."""

    min_th: str
    chosen_by: tuple[str, ...]
    scores: Mapping[str, float]


class Means(Protocol):
    """Means of metrics at places of the grid: one, or one for each of several samples of seeds."""

    def labels(self, load: str) -> list[str]:
        """Every min_th that was run at the load, the smallest first."""
        ...

    def mean(self, metric: str, **where: str | list[str]) -> Values:
        """Return the mean at the single place."""
        ...

    def least(self, metric: str, **where: str | list[str]) -> Values:
        """The least mean of all places there."""
        ...


@dataclass(frozen=True, slots=True)
class _Measured:
    """The means over all seeds."""

    given: Material

    def labels(self, load: str) -> list[str]:
        return _ordered(self.given.at("joint_share", congestion=load, **PRIMARY))

    def mean(self, metric: str, **where: str | list[str]) -> Values:
        return np.array([self.given.point(metric, **where)["mean"]])

    def least(self, metric: str, **where: str | list[str]) -> Values:
        return np.array([self.given.at(metric, **where)["mean"].to_numpy().min()])


class _Resampled:
    """Means over seeds drawn with replacement, the same seeds in every experiment of the reading."""

    def __init__(self, samples: pl.DataFrame) -> None:
        self._by_metric = {str(metric): rows for (metric,), rows in samples.group_by("metric", maintain_order=True)}

    def _at(self, metric: str, where: Mapping[str, str | list[str]]) -> pl.DataFrame:
        return at(self._by_metric[metric], metric, where)

    @cached_property
    def _drawn(self) -> NDArray[np.int64]:
        joint = self._at("joint_share", PRIMARY)
        seeds = joint["replicate"].n_unique()
        return np.random.default_rng(RESAMPLING_SEED).integers(0, seeds, (RESAMPLES, seeds))

    def labels(self, load: str) -> list[str]:
        return _ordered(self._at("joint_share", {"congestion": load, **PRIMARY}))

    def mean(self, metric: str, **where: str | list[str]) -> Values:
        return self._mean(metric, self._at(metric, where))

    def least(self, metric: str, **where: str | list[str]) -> Values:
        by_max_p = self._at(metric, where).group_by("maxp", maintain_order=True)
        least: Values = np.min([self._mean(metric, rows) for _, rows in by_max_p], axis=0)
        return least

    def _mean(self, metric: str, rows: pl.DataFrame) -> Values:
        ordered = rows.sort("replicate")
        means: Values = ordered["value"].to_numpy()[self._drawn].mean(axis=1)
        if not ordered["other"].is_null().all():
            means = means / ordered["other"].to_numpy()[self._drawn].mean(axis=1)
        return means - 1.0 if metric.endswith("_gain") else means


def _ordered(rows: pl.DataFrame) -> list[str]:
    return sorted(rows["min_th"].unique().to_list(), key=GRID.score)


def choose(given: Material, *, swapped: bool = False) -> dict[str, Choice]:
    """Return one min_th per load, chosen on one half of the printed numbers and tested on the other.

    With ``swapped``, the halves are exchanged.
    """
    found = {}
    for load in LOADS:
        choosing = halves(given.published.numbers, load)[1 if swapped else 0]
        scores = _scores(given.published, load, choosing, _Measured(given))
        listed = {label: float(score[0]) for label, score in scores.items() if np.isfinite(score[0])}
        taken = min(listed, key=lambda label: (listed[label], GRID.score(label)))
        found[load] = Choice(taken, tuple(number.id for number in choosing), listed)
    return found


def resampled(published: Published, samples: pl.DataFrame) -> pl.DataFrame:
    """Return samples of ``joint_choice``: for each resample of the seeds 1 at the chosen min_th, 0 at the others.

    `RESAMPLES` times, from the seed `RESAMPLING_SEED`; the variant identifies the half of the printed numbers that was
    used.
    """
    parts, means = [], _Resampled(samples)
    for load in LOADS:
        for name, swapped in HALVES.items():
            choosing = halves(published.numbers, load)[1 if swapped else 0]
            scores = _scores(published, load, choosing, means)
            # For equal scores the smaller min_th: labels are in order, and argmin takes the first.
            taken = np.argmin(np.array(list(scores.values())), axis=0)
            for i, label in enumerate(scores):
                frame = pl.DataFrame({"replicate": range(RESAMPLES), "value": (taken == i).astype(np.float64)})
                place = frame.with_columns(congestion=pl.lit(load), variant=pl.lit(name), min_th=pl.lit(label))
                parts.append(GRID.samples("joint_choice", place))
    return pl.concat(parts)


def halves(numbers: Sequence[Number], load: str) -> tuple[list[Number], list[Number]]:
    """The printed numbers of a load in their order: the first, third, fifth ..., and the others."""
    here = [number for number in numbers if number.where["congestion"] == load]
    return here[::2], here[1::2]


def measured(given: Material, number: Number, min_th: str) -> Row:
    """Return the measurement of ``number`` at its place with this min_th, and the verdict on it as ``verdict``."""
    row = given.point(f"joint_{number.metric}", **{**number.where, "min_th": min_th})
    verdict = judge.verdict(number, given.metric(number.metric), interval(row))
    return {**row, "metric": number.metric, "verdict": verdict}


def timeouts(given: Material, load: str, min_th: str) -> float:
    """Timeouts of the non-ECN bulk flow over its retransmissions: Reno, max_p 0.1."""
    return float(given.point("joint_timeouts_plain", congestion=load, min_th=min_th, **PRIMARY)["mean"])


def _scores(published: Published, load: str, choosing: Sequence[Number], means: Means) -> dict[str, Values]:
    """The misses of each min_th, in margins: infinite where it is no candidate, since its average leaves the region.

    A miss is that of a number that chooses, and how far timeouts are over the limit of R30. All are candidates where none
    stays in the region.
    """
    scores, inside = {}, {}
    timeouts = published.claim("R30")
    assert isinstance(timeouts, Below)
    for label in means.labels(load):
        place = {"congestion": load, "min_th": label}
        share = np.minimum(means.least("search_share", **place), means.least("joint_share", recovery="reno", **place))
        inside[label] = share >= SHARE
        over = means.mean("joint_timeouts_plain", **place, **PRIMARY) / timeouts.limit - 1.0
        scores[label] = np.maximum(0.0, over)
        for number in choosing:
            there = means.mean(f"joint_{number.metric}", **{**number.where, "min_th": label})
            scores[label] = scores[label] + np.abs(there - number.value) / published.metrics[number.metric].margin
    none = ~np.any(list(inside.values()), axis=0)
    return {label: np.where(inside[label] | none, score, np.inf) for label, score in scores.items()}
