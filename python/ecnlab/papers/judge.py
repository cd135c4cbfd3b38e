"""Printed numbers and claims against measured samples: the rows of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from ecnlab.base import stats
from ecnlab.base.errors import EcnlabError
from ecnlab.base.stats import LEVEL, Answer, Interval
from ecnlab.papers.grid import Grid, at, interval, per_seed
from ecnlab.papers.published import Above, Along, Below, Claim, Metric, Near, NoTrend, Number, Published, Trend


@dataclass(frozen=True, slots=True)
class Rules:
    """How verdicts are made in one size of a paper."""

    level: float
    """The confidence of intervals."""
    strict: bool
    """Rules for verdicts: whether a number agrees only if its whole interval is within the margin, and whether trends
    may hold partly."""
    trends: bool = True
    """Whether trends are decided."""

    def of(self, published: Published, tests: int) -> Rules:
        """Return the rules for ``tests`` tests of claims: if they are one family, by Bonferroni's inequality.

        Its quick size decides no trend: with a few seeds a trend depends on the intervals of single steps.
        """
        if not (published.together and tests):
            return self
        return replace(self, level=1.0 - (1.0 - self.level) / tests, trends=not self.strict)


FULL: Final = Rules(LEVEL, strict=False)
OPEN: Final = ("inconclusive", "undecided")
"""The verdict on a number and the answer to a claim that decide nothing."""

QUICK: Final = Rules(0.99, strict=True)
"""Fewer seeds lead to fewer decisions, so that their decisions are those of the full size."""


def judge_numbers(published: Published, points: pl.DataFrame, grid: Grid, rules: Rules = FULL) -> pl.DataFrame:
    """Return one row per printed number: the measurement there and the verdict. See `ecnlab.base.stats.verdict`.

    ``points`` have intervals of the confidence required by ``rules``.
    """
    rows = [_number(number, published.metrics[number.metric], points, grid, rules) for number in published.numbers]
    return pl.DataFrame(rows) if rows else pl.DataFrame(schema=_columns(grid))


def size_of_family(published: Published, points: pl.DataFrame) -> int:
    """Return the number of tests of all claims: that of the rows of `judge_claims`."""
    return sum(
        1 if isinstance(claim, Along) else at(points, claim.metric, claim.where).height for claim in published.claims
    )


def judge_claims(
    published: Published, samples: pl.DataFrame, points: pl.DataFrame, grid: Grid, rules: Rules = FULL
) -> pl.DataFrame:
    """Return one row per claim and tested place: the interval, whether it holds, and the verdict on the whole claim.

    ``points`` are as for `judge_numbers`.
    """
    rows = []
    for claim in published.claims:
        metric = published.metrics[claim.metric]
        tests = (
            _along(claim, metric, samples, grid, rules) if isinstance(claim, Along) else _places(claim, points, grid)
        )
        answer = together([test["outcome"] for test in tests])
        about = {
            "id": claim.id,
            "row": claim.row,
            "statement": claim.statement,
            "metric": claim.metric,
            "test": claim.test,
        }
        rows += [{**about, "answer": answer, **test} for test in tests]
    return pl.DataFrame(rows) if rows else pl.DataFrame(schema=_CLAIM_COLUMNS)


def _columns(grid: Grid) -> dict[str, type[pl.DataType]]:
    """The columns of `judge_numbers`."""
    names = dict.fromkeys(("id", "row", "metric", *grid.keys, "section", "unit", "verdict"), pl.String)
    values = dict.fromkeys(("printed", "mean", "low", "high", "margin"), pl.Float64)
    return {**names, "page": pl.Int64, "about": pl.Boolean, **values, "n": pl.Int64}


_CLAIM_COLUMNS: Final[dict[str, Any]] = {
    **dict.fromkeys(("id", "row", "statement", "metric", "test", "answer", "place"), pl.String),
    "values": pl.List(pl.Float64),
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
    "n": pl.Int64,
    **dict.fromkeys(("upto", "outcome"), pl.String),
}
"""The columns of `judge_claims`."""


def _number(number: Number, metric: Metric, points: pl.DataFrame, grid: Grid, rules: Rules) -> dict[str, Any]:
    place = at(points, number.metric, number.where)
    if place.height != 1:
        raise EcnlabError(
            f"{number.id}: {place.height} measured points of {number.metric} at {dict(number.where)}, need 1"
        )
    row = place.row(0, named=True)
    measured = interval(row)
    return {
        "id": number.id,
        "row": number.row,
        "metric": number.metric,
        **{key: row[key] for key in grid.keys},
        "section": number.section,
        "page": number.page,
        "printed": number.value,
        "about": number.about,
        "unit": number.unit,
        "mean": measured.mean,
        "low": measured.low,
        "high": measured.high,
        "n": measured.n,
        "margin": number.within(metric),
        "verdict": verdict(number, metric, measured, rules),
    }


def verdict(number: Number, metric: Metric, measured: Interval, rules: Rules = FULL) -> stats.Verdict:
    """Return the verdict of ``measured`` on a printed number of ``metric``."""
    margin = number.within(metric)
    found = stats.verdict(measured, number.value, margin, metric.neutral)
    if found == "agrees" and rules.strict and not stats.equivalent(measured, number.value, margin):
        return "inconclusive"
    return found


def _places(claim: Claim, points: pl.DataFrame, grid: Grid) -> list[dict[str, Any]]:
    place = at(points, claim.metric, claim.where)
    if place.is_empty():
        raise EcnlabError(f"{claim.id}: nothing was measured of {claim.metric} at {dict(claim.where)}")
    varying = [key for key in grid.keys if place[key].n_unique() > 1]
    tests = []
    for row in place.iter_rows(named=True):
        measured = interval(row)
        label = ", ".join(row[key] for key in varying if row[key])
        tests.append(
            {
                "place": label,
                "values": [row["mean"]],
                **_interval(measured),
                "upto": "",
                "outcome": outcome(claim, measured),
            }
        )
    return tests


def outcome(claim: Claim, measured: Interval) -> Answer:
    """Return the verdict of ``measured`` on a claim that is not a trend, at one place."""
    match claim:
        case Below():
            return stats.below(measured, claim.limit)
        case Above():
            return stats.above(measured, claim.limit)
        case Near():
            if stats.equivalent(measured, claim.target, claim.tolerance):
                return "yes"
            outside = measured.low > claim.target + claim.tolerance or measured.high < claim.target - claim.tolerance
            return "no" if outside else "undecided"
    raise TypeError(claim)


def _along(claim: Along, metric: Metric, samples: pl.DataFrame, grid: Grid, rules: Rules) -> list[dict[str, Any]]:
    """Test a claim about an axis. ``upto`` is how far it holds, unless it holds to the end."""
    rows = at(samples, claim.metric, claim.where)
    labels = sorted(rows[claim.axis].unique(), key=grid.score)
    if len(labels) < 2:
        raise EcnlabError(
            f"{claim.id}: a trend along {claim.axis} needs at least two measured points, not {len(labels)}"
        )
    if unplaced := [label for label in labels if grid.score(label) <= 0.0]:
        raise EcnlabError(f"{claim.id}: {unplaced[0]!r} has no place on {claim.axis}, which a trend is tested along")
    scores = [math.log2(grid.score(label)) for label in labels]
    columns = [per_seed(rows.filter(pl.col(claim.axis) == label), metric) for label in labels]
    values = np.column_stack(columns)
    match claim:
        case Trend():
            found = stats.follows(scores, values, claim.expected, rules.level)
        case NoTrend():
            found = stats.excludes(scores, values, claim.excluded, claim.tolerance, rules.level)
        case _:
            raise TypeError(claim)
    partly = found.answer == "partly" and found.reach
    test = {
        "place": ", ".join(labels),
        "values": [float(column.mean()) for column in columns],
        **_interval(found.trend.slope),
        "upto": grid.on_axis(claim.axis, labels[found.reach - 1]) if partly else "",
        "outcome": "undecided" if not rules.trends or (found.answer == "partly" and rules.strict) else found.answer,
    }
    return [test]


def together(outcomes: Sequence[Answer]) -> Answer:
    """Return the verdict on a claim about all its places: a *no* refutes it; undecided ones: inconclusive."""
    for answer in ("no", "undecided", "partly"):
        if answer in outcomes:
            return answer
    return "yes"


def _interval(interval: Interval) -> dict[str, Any]:
    return {"mean": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}


# --------------------------------------------------------------- both sizes


def verdicts(numbers: pl.DataFrame, claims: pl.DataFrame) -> pl.DataFrame:
    """The verdict on each printed number and the answer to each claim: ``id`` and ``verdict``."""
    answers = claims.unique("id", maintain_order=True).select("id", pl.col("answer").alias("verdict"))
    return pl.concat([numbers.select("id", "verdict"), answers])


def both_sizes(quick: pl.DataFrame, full: pl.DataFrame) -> dict[str, dict[str, str]]:
    """By the id of a number or claim its verdict in each size. Both tables are as `verdicts` makes them."""
    rows = quick.join(full, on="id", suffix="_full", maintain_order="left").iter_rows()
    return {name: {"quick": of_quick, "full": of_full} for name, of_quick, of_full in rows}


def contradicted(sizes: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The ids whose quick verdict decides something else than the full one."""
    return [name for name, of in sizes.items() if of["quick"] != of["full"] and of["quick"] not in OPEN]
