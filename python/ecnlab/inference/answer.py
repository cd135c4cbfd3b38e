"""The answer to a question about unstated settings: none, these, or not identifiable."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

import numpy as np

from ecnlab.inference.fit import effective
from ecnlab.inference.prior import Array, Truths
from ecnlab.inference.question import Question, Target, Unknown
from ecnlab.inference.waves import Sample

LEVEL: Final = 0.9
"""Probability of the region of an unknown."""

PREDICTED: Final = 0.95
"""Probability of the interval of a predicted number."""

FEWEST: Final = 10.0
"""Effective number of settings below which regions are not stated."""

WIDE: Final = 0.8
"""Part of the prior region from which on a region shows nothing about the unknown."""

MOST_TOGETHER: Final = 3
"""Largest sets of numbers that are searched for exclusion."""

CHANCE: Final = 0.05
"""Probability that any set of unrelated numbers is found to exclude each other, because each of them is rarely met."""

TRADE: Final = 0.5
"""Correlation from which on two unknowns are named as a pair that trade off."""

Verdict = Literal["none", "these", "too few"]


@dataclass(frozen=True, slots=True)
class Region:
    """What the printed numbers show about one unknown."""

    name: str
    prior: str
    """The prior region in words."""
    region: str
    """The region of `LEVEL` in words; "" if it is not stated."""
    identified: bool
    places: tuple[float, ...]
    """Of a range the coordinates of the ends of the region; of choices the numbers of those in it."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """A number beside its prediction from the settings that fit."""

    name: str
    target: Target
    low: float | None
    high: float | None
    """Ends of the interval of `PREDICTED`; None if no setting that fits defines the quantity."""
    share: float
    """Part of the prior settings that meet it."""

    @property
    def agrees(self) -> bool:
        """Whether the printed number is in the interval, up to its rounding, or the interval reaches the printed limit."""
        one = self.target
        if self.low is None or self.high is None:
            return False
        if one.printed is not None:
            half = one.rounding / 2.0 + 2.0 * one.margin
            return self.low - half <= one.printed <= self.high + half
        if one.at_most is not None:
            return self.low <= one.at_most + 2.0 * one.tolerance
        assert one.at_least is not None
        return self.high >= one.at_least - 2.0 * one.tolerance


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer."""

    verdict: Verdict
    settings: int
    """Number of valid settings that were run."""
    first: int
    """Number of those that were drawn from the prior alone."""
    meeting: int
    """Number of settings that meet every number that is not held out."""
    effective: float
    """Effective number of settings behind the regions."""
    regions: Sequence[Region]
    predicted: Sequence[Predicted]
    """All targets, in the order of the file."""
    met: Sequence[float]
    """Part of the prior settings that meet at least 0, 1, 2 ... of the numbers that are not held out."""
    excluded: Sequence[tuple[str, ...]]
    """Smallest sets of numbers that no setting meets together; not those of which this is expected of unrelated numbers."""
    trades: Sequence[tuple[str, str, float]]
    """Pairs of unknowns with their correlation."""

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        asked = len(self.met) - 1
        numbers = "the number" if asked == 1 else f"all {asked} numbers"
        if self.verdict == "none":
            sets = "; ".join(" with ".join(one) for one in self.excluded)
            return f"None of {self.settings} settings meets {numbers}" + (
                f": no setting meets {sets}." if sets else "."
            )
        share = f"{100 * self.met[-1]:.2g} % of the prior settings meet {numbers}"
        if self.verdict == "too few":
            meet = "meets" if self.meeting == 1 else "meet"
            return f"{self.meeting} of {self.settings} settings {meet} {numbers}, too few for regions: give more --settings. {share[0].upper()}{share[1:]}."
        shown = [f"{one.name} {one.region}" for one in self.regions if one.identified]
        hidden = [one.name for one in self.regions if not one.identified]
        found = "; ".join(shown) if shown else "no unknown is identified"
        rest = f"; not identifiable: {', '.join(hidden)}" if shown and hidden else ""
        return f"{found}{rest}. {share[0].upper()}{share[1:]}."


def answer(question: Question, sample: Sample) -> Answer:
    """Return the answer that ``sample`` gives."""
    targets = question.file.target
    fitted = [k for k, one in enumerate(targets.values()) if not one.held_out]
    met, valid = sample.fit.met & sample.valid[:, None], sample.valid
    prior = np.arange(len(valid)) < sample.first
    meeting = int(met[:, fitted].all(axis=1).sum())
    size = effective(sample.weights)
    verdict: Verdict = "none" if not meeting else "these" if size >= FEWEST else "too few"
    counts = met[prior & valid][:, fitted].sum(axis=1)
    names = [name for name, one in targets.items() if not one.held_out]
    return Answer(
        verdict,
        int(valid.sum()),
        int((prior & valid).sum()),
        meeting,
        size,
        [_region(name, one, sample, verdict == "these") for name, one in question.file.unknown.items()],
        list(_predicted(question, sample)),
        [float((counts >= k).mean()) for k in range(len(fitted) + 1)],
        excluded(names, met[valid][:, fitted]) if verdict == "none" else [],
        list(_trades(question, sample)) if verdict == "these" else [],
    )


def quantiles(values: Array, weights: Array, at: Sequence[float]) -> list[float]:
    """Return weighted quantiles."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.minimum(np.searchsorted(reached, np.array(at) * reached[-1]), len(order) - 1)
    return [float(one) for one in values[order][places]]


def _region(name: str, unknown: Unknown, sample: Sample, stated: bool) -> Region:
    places = sample.done.settings[:, list(sample.prior.unknowns).index(name)]
    tail = (1.0 - LEVEL) / 2.0
    if unknown.range:
        low, high = quantiles(places, sample.weights, (tail, 1.0 - tail))
        words = " to ".join(dict.fromkeys((sample.prior.label(name, low), sample.prior.label(name, high))))
        whole = " to ".join(sample.prior.label(name, end) for end in (0.0, 1.0))
        return Region(name, whole, words if stated else "", stated and high - low <= WIDE * LEVEL, (low, high))
    before = sample.prior.weights(unknown)
    after = np.bincount(places.astype(int), sample.weights, minlength=before.size)
    order = np.argsort(-after, kind="stable")
    kept = order[: int(np.searchsorted(np.cumsum(after[order]), LEVEL - 1e-9)) + 1]
    words = " or ".join(f"{sample.prior.label(name, k)} ({100 * after[k]:.0f} %)" for k in kept)
    whole = " or ".join(f"{sample.prior.label(name, k)} ({100 * before[k]:.0f} %)" for k in range(before.size))
    return Region(
        name, whole, words if stated else "", stated and kept.size < before.size, tuple(float(k) for k in sorted(kept))
    )


def _predicted(question: Question, sample: Sample) -> Iterator[Predicted]:
    """Yield each target with its posterior prediction: the means of settings with the spread of seeds and printed runs."""
    random = np.random.default_rng(0)
    prior = sample.valid & (np.arange(len(sample.weights)) < sample.first)
    tail = (1.0 - PREDICTED) / 2.0
    for k, (name, target) in enumerate(question.file.target.items()):
        defined = np.isfinite(sample.fit.mean[:, k])
        share = float(sample.fit.met[prior][:, k].mean())
        weights = np.where(defined, sample.weights, 0.0)
        if not weights.sum():
            yield Predicted(name, target, None, None, share)
            continue
        drawn = random.choice(len(weights), 4000, p=weights / weights.sum())
        values = sample.fit.mean[drawn, k] + sample.fit.spread[drawn, k] * random.standard_normal(4000)
        low, high = np.quantile(values, (tail, 1.0 - tail))
        yield Predicted(name, target, float(low), float(high), share)


def excluded(names: Sequence[str], met: Truths) -> list[tuple[str, ...]]:
    """Return the smallest sets of up to `MOST_TOGETHER` numbers that no setting meets together.

    Unrelated numbers are met together by a Poisson number of settings; with the product of their shares this is none for each set
    with a probability below `CHANCE` over the number of sets (Bonferroni), or the set is left out.
    """
    sets = [some for size in range(1, MOST_TOGETHER + 1) for some in combinations(range(len(names)), size)]
    enough, share = math.log(len(sets) / CHANCE), met.mean(axis=0)
    found: list[tuple[int, ...]] = []
    for some in sets:
        rare = len(some) > 1 and len(met) * share[list(some)].prod() < enough
        if not rare and not met[:, some].all(axis=1).any() and not any(set(one) <= set(some) for one in found):
            found.append(some)
    return [tuple(names[k] for k in some) for some in found]


def _trades(question: Question, sample: Sample) -> Iterator[tuple[str, str, float]]:
    """Yield the pairs of unknowns with a range that are correlated in the settings that fit."""
    ranges = [(k, name) for k, (name, one) in enumerate(question.file.unknown.items()) if one.range]
    for (i, first), (j, second) in combinations(ranges, 2):
        covariance = np.cov(sample.done.settings[:, [i, j]].T, aweights=sample.weights)
        scale = float(np.sqrt(covariance[0, 0] * covariance[1, 1]))
        r = float(covariance[0, 1]) / scale if scale else 0.0
        if abs(r) >= TRADE:
            yield first, second, r
