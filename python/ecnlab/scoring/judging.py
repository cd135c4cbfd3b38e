"""The criteria of a scenario against the measures of its runs, and the verdict on the scenario.

A criterion holds, or fails, if the whole 95 % interval is on one side of its limit (`stats.below`, `stats.above`; a value that
is the limit holds), or if the mean is, and a sign test at 5 % has the median of seeds or drawn paths there: paths differ, and one
may make the interval of their mean wide. Of a scenario, one failed criterion decides, then an undecided one.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ecnlab.base import stats
from ecnlab.base.lazy_imports import pl
from ecnlab.base.stats import Answer, Interval
from ecnlab.scoring.paths import DrawnPath
from ecnlab.scoring.sheet import ITSELF, ONE_CASE, STANDARD, SUBJECT, Case, Criterion, Scenario

Verdict = Literal["meets", "fails", "inconclusive", "not applicable"]

VERDICTS: Final[Sequence[Verdict]] = ("meets", "fails", "inconclusive", "not applicable")

MIN_SEEDS: Final = 3
"""Number of seeds for an interval: with two, Student's t has one degree of freedom, and its interval is too wide to decide anything."""

ERROR: Final = 0.05
"""Error rate of the sign test; that of the intervals is the same."""

UNITS: Final[Mapping[str, Callable[[DrawnPath], float]]] = {
    "rtt": lambda path: path.rtt,
    "share": lambda path: path.rate / (2 * path.flows),
}
"""Units of measures of drawn paths, values of `Criterion.against`: the RTT, and an equal share of the link for as many flows on each side."""

Samples = Mapping[tuple[str, str, str], Sequence[float | None]]
"""Values by arm, case and measure, one for each replicate; None where the measure is not defined."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A criterion in one case. ``measured`` is None if it is not defined in every run."""

    criterion: Criterion
    case: str
    measured: Interval | None
    outcome: Answer
    values: Sequence[float | None] = ()
    """The measure, or its ratio, of each seed or drawn path."""

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
            "values": list(self.values),
        }


def interval_json(measured: Interval | None) -> dict[str, Any]:
    """Mean, ends and number of seeds; None for what is not finite, and for the ends with fewer than `MIN_SEEDS` seeds."""
    if measured is None:
        return {"mean": None, "low": None, "high": None, "n": 0}
    few = measured.n < MIN_SEEDS
    low, high = (None if few or not math.isfinite(end) else end for end in (measured.low, measured.high))
    return {"mean": measured.mean, "low": low, "high": high, "n": measured.n}


def samples(metrics: pl.DataFrame, scenario: Scenario) -> Samples:
    """The values in the table ``metrics`` of the sweep of ``scenario``. A drawn path counts as a replicate of its case."""
    case = pl.col("case") if "case" in metrics.columns else pl.lit(ONE_CASE)
    rows = metrics.with_columns(case.alias("case")).sort("replicate", maintain_order=True)
    by_label: dict[tuple[str, str, str], list[float | None]] = {}
    for arm, label, metric, value in rows.select("arm", "case", "metric", "value").iter_rows():
        by_label.setdefault((arm, label, metric), []).append(value)
    return {
        (arm, case.name, metric): [value for label in case.labels() for value in by_label[arm, label, metric]]
        for arm, metric in dict.fromkeys((arm, metric) for arm, _label, metric in by_label)
        for case in scenario.cases
    }


def judge(scenario: Scenario, values: Samples, arm: str = SUBJECT) -> list[Judged]:
    """Each criterion of ``scenario`` in each case that it applies to, with ``arm`` as the subject."""
    return [
        _judged(criterion, scenario, case, values, arm)
        for criterion in scenario.criteria
        for case in scenario.cases
        if criterion.applies_to(case)
    ]


def _judged(criterion: Criterion, scenario: Scenario, case: Case, values: Samples, subject: str) -> Judged:
    own = values[subject, case.name, criterion.measure]
    if criterion.against == ITSELF:
        return _outcome(criterion, case, mean(own), own)
    if criterion.against in UNITS:
        units = [UNITS[criterion.against](path) for path in case.paths]
        return _outcome(criterion, case, ratio(own, units), _quotients(own, units))
    others = _others(criterion, scenario, case, values, subject)
    return _outcome(criterion, case, ratio(own, others), _quotients(own, others))


def _others(
    criterion: Criterion, scenario: Scenario, case: Case, values: Samples, subject: str
) -> Sequence[float | None]:
    """What the subject's values are divided by."""
    arms = list(dict.fromkeys(arm for arm, _case, _measure in values))
    if criterion.against in arms:
        return values[criterion.against, case.name, criterion.measure]
    if criterion.against != STANDARD:
        return values[subject, scenario.case_like(case, criterion.against), criterion.measure]
    worst = max if criterion.bound == "at_most" else min
    runs = zip(*(values[arm, case.name, criterion.measure] for arm in arms if arm != SUBJECT), strict=True)
    return [None if None in run else worst(value for value in run if value is not None) for run in runs]


def _quotients(own: Sequence[float | None], others: Sequence[float | None]) -> list[float | None]:
    """The ratio of each pair of runs; None if it is not defined."""
    return [None if a is None or not b else a / b for a, b in zip(own, others, strict=True)]


def _outcome(criterion: Criterion, case: Case, measured: Interval | None, values: Sequence[float | None]) -> Judged:
    found = _of_worst(criterion, values) if criterion.worst else measured
    return Judged(criterion, case.name, found, outcome(criterion, found, values), values)


def _of_worst(criterion: Criterion, values: Sequence[float | None]) -> Interval | None:
    """The values of the two worst seeds or drawn paths as the ends of an interval: one path may be chance, two are not."""
    there = sorted(value for value in values if value is not None)
    if len(there) < max(len(values), MIN_SEEDS):
        return None
    low, high = there[-2:] if criterion.bound == "at_most" else there[:2]
    return Interval((low + high) / 2, low, high, len(there))


def outcome(criterion: Criterion, measured: Interval | None, values: Sequence[float | None] = ()) -> Answer:
    """Whether the criterion holds; undecided without an interval. ``values`` are those of the seeds or drawn paths."""
    if measured is None or measured.n < MIN_SEEDS:
        return "undecided"
    if measured.low == measured.high == criterion.limit:
        return "yes"
    decided = (stats.below if criterion.bound == "at_most" else stats.above)(measured, criterion.limit)
    return _by_signs(criterion, measured.mean, values) if decided == "undecided" and not criterion.worst else decided


def _by_signs(criterion: Criterion, mean: float, values: Sequence[float | None]) -> Answer:
    """The side of the limit that the mean is on, if a sign test has the median of the values there too."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return "undecided"
    holds = operator.le if criterion.bound == "at_most" else operator.ge
    side = holds(mean, criterion.limit)
    others = sum(holds(value, criterion.limit) != side for value in known)
    chance = 2 * sum(math.comb(len(known), few) for few in range(others + 1)) / 2 ** len(known)
    return "undecided" if chance > ERROR else "yes" if side else "no"


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
