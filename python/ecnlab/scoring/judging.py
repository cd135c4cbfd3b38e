"""The criteria of a scenario against the measures of its runs, and the verdict on the scenario.

A criterion holds, or fails, if the whole 95 % interval is on one side of its limit (`stats.below`, `stats.above`; a value that
is the limit holds). Of a scenario, one failed criterion decides, then an undecided one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ecnlab.base import stats
from ecnlab.base.lazy_imports import pl
from ecnlab.base.stats import Answer, Interval
from ecnlab.scoring.sheet import ITSELF, ONE_CASE, SUBJECT, Criterion, Scenario

Verdict = Literal["meets", "fails", "inconclusive", "not applicable"]

VERDICTS: Final[Sequence[Verdict]] = ("meets", "fails", "inconclusive", "not applicable")

MIN_SEEDS: Final = 3
"""Number of seeds for an interval: with two, Student's t has one degree of freedom, and its interval is too wide to decide anything."""

Samples = Mapping[tuple[str, str, str], Sequence[float | None]]
"""Values by arm, case and measure, one for each replicate; None where the measure is not defined."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A criterion in one case. ``measured`` is None if it is not defined in every run."""

    criterion: Criterion
    case: str
    measured: Interval | None
    outcome: Answer

    def as_json(self) -> dict[str, Any]:
        """All of it, with None for an end without bound."""
        one = self.criterion
        return {
            "name": one.name,
            "case": self.case,
            "measure": one.measure,
            "against": one.against,
            one.bound: one.limit,
            **interval_json(self.measured),
            "outcome": self.outcome,
            "reason": one.reason,
        }


def interval_json(measured: Interval | None) -> dict[str, Any]:
    """Mean, ends and number of seeds; None for what is not finite, and for the ends with fewer than `MIN_SEEDS` seeds."""
    if measured is None:
        return {"mean": None, "low": None, "high": None, "n": 0}
    few = measured.n < MIN_SEEDS
    low, high = (None if few or not math.isfinite(end) else end for end in (measured.low, measured.high))
    return {"mean": measured.mean, "low": low, "high": high, "n": measured.n}


def samples(metrics: pl.DataFrame) -> Samples:
    """The values in the table ``metrics`` of a sweep."""
    case = pl.col("case") if "case" in metrics.columns else pl.lit(ONE_CASE)
    rows = metrics.with_columns(case.alias("case")).sort("replicate", maintain_order=True)
    found: dict[tuple[str, str, str], list[float | None]] = {}
    for arm, name, metric, value in rows.select("arm", "case", "metric", "value").iter_rows():
        found.setdefault((arm, name, metric), []).append(value)
    return found


def judge(scenario: Scenario, values: Samples, arm: str = SUBJECT) -> list[Judged]:
    """Each criterion of ``scenario`` in each case that it applies to, with ``arm`` as the subject."""
    return [
        _judged(criterion, case.name, values, arm)
        for criterion in scenario.criteria
        for case in scenario.cases
        if criterion.applies_to(case.name)
    ]


def _judged(criterion: Criterion, case: str, values: Samples, subject: str) -> Judged:
    own = values[subject, case, criterion.measure]
    if criterion.against == ITSELF:
        measured = mean(own)
    else:
        arms = {arm for arm, _case, _measure in values}
        arm, other = (criterion.against, case) if criterion.against in arms else (subject, criterion.against)
        measured = ratio(own, values[arm, other, criterion.measure])
    return Judged(criterion, case, measured, outcome(criterion, measured))


def outcome(criterion: Criterion, measured: Interval | None) -> Answer:
    """Whether the criterion holds; undecided without an interval."""
    if measured is None or measured.n < MIN_SEEDS:
        return "undecided"
    if measured.low == measured.high == criterion.limit:
        return "yes"
    return (stats.below if criterion.bound == "at_most" else stats.above)(measured, criterion.limit)


def mean(values: Sequence[float | None]) -> Interval | None:
    """Mean with its interval; None if a value is missing."""
    there = [value for value in values if value is not None]
    return stats.mean_interval(there) if there and len(there) == len(values) else None


def ratio(a: Sequence[float | None], b: Sequence[float | None]) -> Interval | None:
    """Ratio of values paired by seed: geometric mean if all are positive, else of the means; None if it is not defined."""
    first, second = ([value for value in one if value is not None] for one in (a, b))
    if len(first) < len(a) or len(second) < len(b) or not first or not any(second):
        return None
    positive = min(*first, *second) > 0
    return stats.log_ratio(first, second) if positive else stats.ratio_of_means(first, second)


def verdict(judged: Sequence[Judged]) -> Verdict:
    """The verdict on a scenario of its criteria."""
    outcomes = {one.outcome for one in judged}
    return "fails" if "no" in outcomes else "meets" if outcomes == {"yes"} else "inconclusive"
