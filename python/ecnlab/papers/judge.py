"""The judgement of a paper: samples at the places of its grid, points (means with intervals), verdicts on printed numbers and claims.

A samples frame has one row per run and metric: the columns ``metric``, the keys of the paper's `Grid` ("" where a key does
not apply), ``replicate``, ``value`` and, for metrics that compare two values of the same run or seed, ``other``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ecnlab.base import sequential, stats
from ecnlab.base.errors import EcnlabError
from ecnlab.base.stats import LEVEL, Answer, Estimator, Interval
from ecnlab.papers.published import Above, Along, Below, Claim, Metric, Near, NoTrend, Number, Published, Trend, Where

HAIR: Final = 1e-3
"""Fraction of the range between its bounds by which a measured value may be outside: counters are in whole packets."""

Pairs: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The columns ``value`` and ``other`` of a place, in the order of the replicates."""

VALUES: Final[dict[str, type[pl.DataType]]] = {"replicate": pl.UInt32, "value": pl.Float64, "other": pl.Float64}
MEANS: Final[dict[str, type[pl.DataType]]] = {"mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.UInt32}


@dataclass(frozen=True, slots=True)
class Grid:
    """The axes of a paper's experiments.

    ``levels`` give the positions of labels that are not numbers on their axis, ``names`` the displayed labels,
    ``words`` the displayed axis names (``max_p {}``).
    """

    keys: tuple[str, ...]
    levels: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def samples(self, metric: str, frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
        """Bring ``frame`` into the form of a samples frame of ``metric``.

        ``frame`` has ``replicate``, ``value`` and whichever of ``other`` and the keys apply.
        """
        given = frame.lazy().collect_schema()
        blank = [pl.lit("").alias(key) for key in self.keys if key not in given]
        other = [] if "other" in given else [pl.lit(None, pl.Float64).alias("other")]
        whole = frame.lazy().with_columns(pl.lit(metric).alias("metric"), *blank, *other)
        return whole.select([pl.col(name).cast(kind) for name, kind in (self._places() | VALUES).items()]).collect()

    def points(self, frame: pl.DataFrame, metrics: Mapping[str, Metric], level: float = LEVEL) -> pl.DataFrame:
        """Return the mean of each metric at each place of the grid, with its interval.

        Places where a ratio has no value (division by zero), and those without any of the `Metric.events`, are left out.
        """
        found = ((place, estimate(values, metrics[place["metric"]], level)) for place, values in self.places(frame))
        return self.points_of((place, interval) for place, interval in found if interval is not None)

    def places(self, frame: pl.DataFrame) -> Iterator[tuple[dict[str, str], Pairs]]:
        """Yield the metric and labels of each place of samples, with its values."""
        ordered, start = self.ordered(frame), 0
        value, other = ordered["value"].to_numpy(), ordered["other"].to_numpy()
        # Rows of a place are consecutive: slices take a fifth of the time of groups.
        for length, place in ordered.select(pl.struct("metric", *self.keys).rle().struct.unnest()).iter_rows():
            yield place, (value[start : start + length], other[start : start + length])
            start += length

    def points_of(self, intervals: Iterable[tuple[Mapping[str, str], Interval]]) -> pl.DataFrame:
        """Return a table of the ``intervals`` of places."""
        rows = [(*place.values(), found.mean, found.low, found.high, found.n) for place, found in intervals]
        return pl.DataFrame(rows, schema=self._places() | MEANS, orient="row")

    def ordered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Sort rows by metric and place, each axis in its own order."""
        found = frame.select(pl.col(self.keys).unique().implode()).row(0, named=True)
        labels = {key: some for key, some in found.items() if len(some) > 1}
        ranks = [
            pl.col(key).replace_strict({x: self.score(x) for x in some}, return_dtype=pl.Float64).alias(f"_{key}")
            for key, some in labels.items()
        ]
        order = [
            "metric",
            *(name for key in labels for name in (f"_{key}", key)),
            *(["replicate"] if "replicate" in frame.columns else []),
        ]
        return frame.with_columns(ranks).sort(order).select(frame.columns)

    def run_keys(self, frame: pl.LazyFrame) -> list[str]:
        """Return the columns of a sweep's table that identify a run: its place in the grid and its replicate."""
        columns = frame.collect_schema().names()
        return [key for key in (*self.keys, "replicate") if key in columns]

    def score(self, label: str) -> float:
        """Return the position of a label on its axis: its level, or the number with which it starts; 0 for a name."""
        if label in self.levels:
            return self.levels[label]
        try:
            return float(label.split()[0])
        except (ValueError, IndexError):
            return 0.0

    def named(self, label: str) -> str:
        """A label as a reader writes it."""
        return self.names.get(label, label)

    def place(self, row: Mapping[str, Any]) -> str:
        """Where a point lies, in words: its keys that apply."""
        return ", ".join(self.on_axis(key, row[key]) for key in self.keys if row.get(key))

    def on_axis(self, key: str, label: str) -> str:
        """A label of the axis ``key``, in words."""
        return self.words.get(key, "{}").format(self.named(label))

    def _places(self) -> dict[str, type[pl.DataType]]:
        return {"metric": pl.String, **dict.fromkeys(self.keys, pl.String)}


# --------------------------------------------------------------- points


def estimate(values: Pairs, metric: Metric, level: float = LEVEL) -> Interval | None:
    """Return the interval of one place, within the metric's bounds; None if a ratio has no value, or nothing happened.

    A ratio with bounds has the interval of its parts (`stats.ratio_parts`), one without Fieller's. Raises EcnlabError
    if a value is outside the bounds.
    """
    if not has_value(values, metric):
        return None
    if not metric.limits.bind:
        return _unbounded(*values, metric.kind, level)
    spread = stats.mean_interval(per_seed(values, metric), level)
    mean = spread.mean if metric.kind in ("mean", "difference") else _unbounded(*values, metric.kind, level).mean
    return metric.limits.interval(spread.shifted(float(_settled(np.asarray([mean]), metric)[0]) - spread.mean))


def has_value(values: Pairs, metric: Metric) -> bool:
    """Return whether a place has an estimate: not if a ratio has no value (division by zero), or nothing happened."""
    value, other = values
    if metric.kind in ("gain", "ratio") and other.mean() == 0.0:
        return False
    return not (metric.events and not value.any() and not np.nan_to_num(other).any())


def _settled(values: NDArray[np.float64], metric: Metric) -> NDArray[np.float64]:
    """``values`` within the metric's bounds: one that is a hair outside is at the bound.

    A link, for one, may have been busy for a part of a packet longer than the time. Raises EcnlabError for a value that
    is farther out.
    """
    low, high = metric.limits.low, metric.limits.high
    hair = HAIR * (high - low if math.isfinite(high - low) else 1.0)
    if outside := [float(x) for x in values if not low - hair <= x <= high + hair]:
        raise EcnlabError(f"{metric.name}: {outside[0]} is outside its bounds {low:g} to {high:g}")
    return np.clip(values, low, high)


def _unbounded(value: NDArray[np.float64], other: NDArray[np.float64], kind: str, level: float) -> Interval:
    match kind:
        case "mean":
            return stats.mean_interval(value, level)
        case "difference":
            return stats.paired_difference(value, other, level)
        case _:
            interval = stats.ratio_of_means(value, other, level)
            return interval.shifted(-1.0) if kind == "gain" else interval


def per_seed(values: Pairs, metric: Metric) -> NDArray[np.float64]:
    """Return one number per replicate, in order, whose mean is the estimate of the place."""
    value, other = values
    match metric.kind:
        case "mean":
            return _settled(value, metric)
        case "difference":
            return _settled(value - other, metric)
        case _:
            return stats.ratio_parts(value, other) - (1.0 if metric.kind == "gain" else 0.0)


def at(frame: pl.DataFrame, metric: str | list[str], where: Where) -> pl.DataFrame:
    """The rows of ``metric``, one or several, at ``where``; keys that ``where`` leaves out may have any label."""
    place: Where = {"metric": metric, **where}
    return frame.filter(
        pl.col(key).is_in(label) if isinstance(label, list) else pl.col(key) == label for key, label in place.items()
    )


def interval(point: Mapping[str, Any]) -> Interval:
    """A row of points as its mean with the interval."""
    return Interval(point["mean"], point["low"], point["high"], point["n"])


def pairs(group: pl.DataFrame) -> Pairs:
    """The values of samples of one place."""
    ordered = group if group["replicate"].is_sorted() else group.sort("replicate")
    return ordered["value"].to_numpy(), ordered["other"].to_numpy()


# --------------------------------------------------------------- verdicts


@dataclass(frozen=True, slots=True)
class Rules:
    """How verdicts are made in one size of a paper."""

    level: float
    """The confidence of intervals."""
    strict: bool
    """Whether a number agrees only if its whole interval is within the margin, and no trend holds partly."""
    spread: Estimator | None = None
    """The intervals, if not Student's t of this confidence."""

    @property
    def estimator(self) -> Estimator:
        """The mean of values with its interval."""
        return self.spread or partial(stats.mean_interval, level=self.level)


FULL: Final = Rules(LEVEL, strict=False)
OPEN: Final = ("inconclusive", "undecided")
"""The verdict on a number and the answer to a claim that decide nothing."""

QUICK: Final = Rules(0.99, strict=True)
"""Fewer seeds lead to fewer decisions, so that their decisions are those of the full size."""

LOOKED: Final = Rules(LEVEL, strict=True, spread=sequential.spread)
"""The same for a number of seeds that depends on the results: intervals that are valid at every look."""


def judged(grid: Grid, published: Published, measured: pl.DataFrame, rules: Rules) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tables of printed numbers and of claims, from samples."""
    compared = {entry.metric for entry in (*published.numbers, *published.claims)}
    of_printed = measured.filter(pl.col("metric").is_in(compared))
    points = grid.points(of_printed, published.metrics, rules.level)
    numbers = judge_numbers(published, points, grid, rules)
    return numbers, judge_claims(published, measured, points, grid, rules)


def judge_numbers(published: Published, points: pl.DataFrame, grid: Grid, rules: Rules = FULL) -> pl.DataFrame:
    """Return one row per printed number: the measurement there and the verdict. See `ecnlab.base.stats.verdict`.

    ``points`` have intervals of the confidence required by ``rules``.
    """
    rows = [_number(number, published.metrics[number.metric], points, grid, rules) for number in published.numbers]
    return pl.DataFrame(rows) if rows else pl.DataFrame(schema=_columns(grid))


def judge_claims(
    published: Published, samples: pl.DataFrame, points: pl.DataFrame, grid: Grid, rules: Rules = FULL
) -> pl.DataFrame:
    """Return one row per claim and tested place: the interval, whether it holds, and the verdict on the whole claim.

    ``points`` are as for `judge_numbers`. If a claim's places are judged together it is refuted by `_holm`.
    """
    rows = []
    for claim in published.claims:
        measured = at(samples, claim.metric, claim.where)
        if isinstance(claim, Along):
            decides = not (published.together and rules.strict)
            tests = _along(claim, published.metrics[claim.metric], measured, grid, rules, decides)
        else:
            tests = _places(claim, points, grid)
            if published.together:
                refuted = _holm(claim, published.metrics, measured, grid, rules.level, len(tests))
                tests = [_unless(test, no) for test, no in zip(tests, refuted, strict=True)]
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


def _holm(
    claim: Claim, metrics: Mapping[str, Metric], measured: pl.DataFrame, grid: Grid, level: float, places: int
) -> list[bool]:
    """Return whether each of the ``places`` of a claim refutes it, with the error rate 1 - ``level`` for all of them.

    Intervals have the confidence 1 - (1 - level) / k if k places are left, until they refute no further place.
    Source: Holm (1979), Scandinavian Journal of Statistics 6.
    """
    refuted: list[bool] = []
    left, before = places, 0
    while left != before:
        points = grid.points(measured, metrics, 1.0 - (1.0 - level) / left)
        refuted = [outcome(claim, interval(point)) == "no" for point in points.iter_rows(named=True)]
        left, before = max(1, len(refuted) - sum(refuted)), left
    return refuted


def _unless(test: dict[str, Any], refuted: bool) -> dict[str, Any]:
    """The ``test`` of a place, with a *no* only if the place is ``refuted``."""
    return test if test["outcome"] != "no" or refuted else test | {"outcome": "undecided"}


def shortfall(claim: Claim, mean: float) -> float:
    """Return how far ``mean`` is on the wrong side of the limit of a claim that is not a trend; below 0 on its side."""
    match claim:
        case Below():
            return mean - claim.limit
        case Above():
            return claim.limit - mean
        case Near():
            return abs(mean - claim.target) - claim.tolerance
    raise TypeError(claim)


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


def _along(
    claim: Along, metric: Metric, rows: pl.DataFrame, grid: Grid, rules: Rules, decides: bool
) -> list[dict[str, Any]]:
    """Test a claim about an axis with its samples. ``upto`` is how far it holds, unless it holds to the end.

    Unless it ``decides`` the outcome is *undecided*.
    """
    labels, values = along(claim, metric, rows, grid)
    found = follows(claim, labels, values, grid, rules.estimator)
    partly = found.answer == "partly" and found.reach
    test = {
        "place": ", ".join(labels),
        "values": [float(column.mean()) for column in values.T.copy()],
        **_interval(found.trend.slope),
        "upto": grid.on_axis(claim.axis, labels[found.reach - 1]) if partly else "",
        "outcome": trend_outcome(found, rules) if decides else "undecided",
    }
    return [test]


def along(claim: Along, metric: Metric, rows: pl.DataFrame, grid: Grid) -> tuple[list[str], NDArray[np.float64]]:
    """Return the labels of the claim's axis, and the values of each replicate (rows) that has all of them (columns)."""
    labels = sorted(rows[claim.axis].unique(), key=grid.score)
    if len(labels) < 2:
        raise EcnlabError(
            f"{claim.id}: a trend along {claim.axis} needs at least two measured points, not {len(labels)}"
        )
    if unplaced := [label for label in labels if grid.score(label) <= 0.0]:
        raise EcnlabError(f"{claim.id}: {unplaced[0]!r} has no place on {claim.axis}, which a trend is tested along")
    whole = rows.filter(pl.col(claim.axis).n_unique().over("replicate") == len(labels))
    columns = [per_seed(pairs(whole.filter(pl.col(claim.axis) == label)), metric) for label in labels]
    return labels, np.column_stack(columns)


def follows(
    claim: Along, labels: Sequence[str], values: NDArray[np.float64], grid: Grid, mean: Estimator
) -> stats.TrendAnswer:
    """Return the answer of ``values[replicate, label]`` to a claim about an axis."""
    scores = [math.log2(grid.score(label)) for label in labels]
    match claim:
        case Trend():
            return stats.follows(scores, values, claim.expected, mean)
        case NoTrend():
            return stats.excludes(scores, values, claim.excluded, claim.tolerance, mean)
    raise TypeError(claim)


def trend_outcome(found: stats.TrendAnswer, rules: Rules) -> Answer:
    """Return the outcome of a trend: by strict ``rules`` none holds partly."""
    return "undecided" if found.answer == "partly" and rules.strict else found.answer


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
