"""Quantities of two results with their differences, and the sentence on the largest one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.few_samples import remark
from ecnlab.report.words import counted, share, value
from ecnlab.results.links import busiest

if TYPE_CHECKING:
    from ecnlab.base.stats import Bounds, Interval
    from ecnlab.results.run import RunResult
    from ecnlab.results.sweep import SweepResult

Names = tuple[str, str]
"""Names of the two sides of a comparison."""

SIGNALS: Final = {"marks": "marks", "drops": "dropped"}
"""Columns of `queues` that a comparison shows for each side."""

ASKED: Final = {
    "utilisation": "utilisation",
    "mean queueing delay": "sojourn_mean_s",
    "99th percentile of the queueing delay": "sojourn_p99_s",
}
"""Columns of `links` that a comparison of runs shows, with their names there."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """A quantity of both sides. A mean of a side without a value is None."""

    quantity: str
    at: str
    """The link, or the arm and the point of the grid; "" if there is only one."""
    column: str
    """A column name with the unit of the quantity."""
    first: float | None
    second: float | None
    interval: Interval | None = None
    """Of the difference, second minus first; None if a side has no value or one replicate."""
    paired: bool = False
    """Whether the replicates share their seeds, so that the interval is that of paired differences."""
    smallest: float = 0.0
    """The smallest difference that matters, of either experiment."""
    signal: bool = False
    """Whether it counts marks or drops of all queues, of a sweep per run."""
    few: tuple[str, str] = ("", "")
    """Of both sides " of N samples" if the quantity is a quantile of too few; "" otherwise."""

    @property
    def change(self) -> float | None:
        """The difference, second minus first."""
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def decided(self) -> bool:
        """Return whether the interval excludes zero and all differences that do not matter."""
        found = self.interval
        return found is not None and (found.low > self.smallest or found.high < -self.smallest)

    @property
    def size(self) -> float:
        """The difference relative to the larger of the two values, from 0 to 2; 0 if unknown."""
        if not self.change:
            return 0.0
        return abs(self.change) / max(abs(self.first or 0.0), abs(self.second or 0.0))

    @property
    def name(self) -> str:
        """The quantity with its place."""
        return f"{self.quantity} at {self.at}" if self.at else self.quantity

    @property
    def sides(self) -> tuple[str, str]:
        """The values of both sides with units, and the number of samples of a quantile of too few."""
        return self.shown(self.first) + self.few[0], self.shown(self.second) + self.few[1]

    def shown(self, number: float | None) -> str:
        """Return a value of the quantity with its unit."""
        return value(self.column, number)

    def difference(self) -> str:
        """Return the difference with its sign, unit and interval."""
        if self.change is None:
            return value(self.column, None)
        found = self.interval
        if found is None:
            return f"{_signed(self, self.change)}{_relative(self)}"
        percent = f"{100 * found.level:.4g} %"
        return f"{_signed(self, self.change)} ({percent} interval {self.shown(found.low)} to {self.shown(found.high)})"

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        found = self.interval
        ends: dict[str, float | None] = {"low": None, "high": None, "level": None, "n": None}
        if found is not None:
            ends = {"low": found.low, "high": found.high, "level": found.level, "n": found.n}
        return {
            "quantity": self.quantity,
            "at": self.at,
            "first": self.first,
            "second": self.second,
            "difference": self.change,
            **ends,
            "paired": self.paired,
        }


def _signed(one: Contrast, number: float) -> str:
    return f"+{one.shown(number)}" if number > 0 else one.shown(number)


def _relative(one: Contrast) -> str:
    if one.signal or not one.first or one.change is None:
        return ""
    part = one.change / abs(one.first)
    return f", {'+' if part > 0 else ''}{share(part)}"


def answer(contrasts: list[Contrast], names: Names, primary: str | None) -> str:
    """Return a sentence on the largest decided difference, of the primary metric if there is one, or that none is shown.

    Without intervals it is the largest relative difference. Marks and drops count if nothing else differs.
    """
    if not contrasts:
        return f"{names[0]} and {names[1]} have no quantity in common."
    for kind in ([one for one in contrasts if one.quantity == primary], _performance(contrasts), contrasts):
        if found := _largest(kind):
            return _sentence(found, names, kind)
        if kind and any(one.interval for one in kind):
            return _none_shown(kind, names)
    return f"No difference shown: {names[0]} and {names[1]} have the same {_listed(contrasts)}."


def _performance(contrasts: list[Contrast]) -> list[Contrast]:
    return [one for one in contrasts if not one.signal]


def _listed(contrasts: list[Contrast]) -> str:
    found = list(dict.fromkeys(one.quantity for one in contrasts))
    return ", ".join(found[:-1]) + f" and {found[-1]}" if len(found) > 1 else found[0]


def _largest(contrasts: list[Contrast]) -> Contrast | None:
    """Return the largest decided difference; if none has an interval, the largest that is not zero."""
    known = [one for one in contrasts if one.change is not None]
    found = [one for one in known if one.decided] if any(one.interval for one in known) else known
    most = max(found, key=lambda one: one.size, default=None)
    return most if most and most.size else None


def _sentence(one: Contrast, names: Names, among: list[Contrast]) -> str:
    way = "higher" if (one.change or 0.0) > 0 else "lower"
    first, second = one.sides
    values = f"{second} against {first} in {names[0]}"
    start = f"{one.name[0].upper()}{one.name[1:]} is {way} in {names[1]}: {values}, {names[1]} − {names[0]} = "
    if one.interval is None:
        return f"{start}{one.difference()}; one replicate of each, no interval."
    others = f", the largest of {len(among)} differences" if len(among) > 1 else ""
    kind = "pairs" if one.paired else "replicates"
    return f"{start}{one.difference()}, {one.interval.n} {kind}{others}."


def _none_shown(contrasts: list[Contrast], names: Names) -> str:
    known = [one for one in contrasts if one.interval]
    most = max(known, key=lambda one: one.size)
    return (
        f"No difference shown in {counted(len(known), 'comparison')}; the largest is of {most.name}, "
        f"{names[1]} − {names[0]} = {most.difference()}."
    )


def of_runs(a: RunResult, b: RunResult) -> list[Contrast]:
    """Return total goodput, utilisation and delay at the busiest link of the first run, then marks and drops of all queues."""
    found = [_of_two("total goodput", "", "goodput_bps", [_total(one, "flows", "goodput_bps") for one in (a, b)])]
    links = busiest(a)
    if not links.is_empty():
        link = str(links["link"][0])
        found += [_of_link(a, b, link, name, column) for name, column in ASKED.items()]
    found += [
        replace(_of_two(name, "", name, [_total(one, "queues", column) for one in (a, b)]), signal=True)
        for name, column in SIGNALS.items()
    ]
    return [one for one in found if one.first is not None or one.second is not None]


def _of_two(quantity: str, at: str, column: str, sides: Sequence[float | None]) -> Contrast:
    first, second = sides
    return Contrast(quantity, at, column, first, second)


def _of_link(a: RunResult, b: RunResult, link: str, name: str, column: str) -> Contrast:
    few = [remark(column, _departed(one, link)) for one in (a, b)]
    return replace(_of_two(name, link, column, [_at(one, link, column) for one in (a, b)]), few=(few[0], few[1]))


def _departed(run: RunResult, link: str) -> int | None:
    """Return the number of packets that left the queue of ``link`` in the measurement window, if it is recorded."""
    if "queues" not in run.tables:
        return None
    rows = run.table("queues").filter(pl.col("group") == "all", pl.col("link") == link)
    return None if rows.is_empty() else int(rows["departed"][0])


def _total(run: RunResult, table: str, column: str) -> float | None:
    """Return the sum of a column; of `queues` over the rows of all groups."""
    if table not in run.tables or run.table(table).is_empty():
        return None
    rows = run.table(table)
    rows = rows.filter(pl.col("group") == "all") if table == "queues" else rows
    return float(rows[column].sum())


def _at(run: RunResult, link: str, column: str) -> float | None:
    """Return a column of `links` at ``link``, if both the link and the column are there."""
    rows = run.table("links") if "links" in run.tables else pl.DataFrame()
    found = rows.filter(pl.col("link") == link)[column] if column in rows.columns else pl.Series()
    return None if found.is_empty() else found[0]


def of_sweeps(a: SweepResult, b: SweepResult) -> list[Contrast]:
    """Return each metric of both sweeps at each common arm and point, then marks and drops of a run.

    The intervals are one family: with m of them each has the confidence 1 - 0.05/m (Bonferroni), of the primary metric
    of both m is the number of its intervals.
    """
    from ecnlab.results.sweep_samples import remarks

    if a.axes != b.axes:
        return []
    keys = ["arm", *a.axes]
    both = pl.concat([_values(one).with_columns(side=pl.lit(i)) for i, one in enumerate((a, b))])
    both = both.with_columns(pl.col(keys).cast(pl.String))
    varied = [name for name in keys if both[name].n_unique() > 1]
    groups = [
        (key, rows)
        for key, rows in both.group_by(["signal", "metric", *keys], maintain_order=True)
        if rows["side"].n_unique() == 2
    ]
    primary = shared_primary(a, b)
    few = [remarks(one) for one in (a, b)]
    found = []
    for (signal, metric, *point), rows in groups:
        place = dict(zip(keys, point, strict=True))
        at = ", ".join(f"{name} {place[name]}" for name in varied if place[name] is not None)
        family = sum(key[:2] == (signal, metric) for key, _ in groups) if metric == primary else len(groups)
        one = _of_values(_labelled(a, b, str(metric), at, bool(signal)), rows, _bounds(a, b, str(metric)), family)
        first, second = ("" if signal else side.get((metric, *point), "") for side in few)
        found.append(replace(one, few=(first, second)))
    return sorted(found, key=lambda one: one.signal)


def shared_primary(a: SweepResult, b: SweepResult) -> str | None:
    """Return the metric that both experiments name as primary, if there is one."""
    first, second = (one.manifest.get("report", {}).get("primary") for one in (a, b))
    return first if first == second else None


def _values(sweep: SweepResult) -> pl.DataFrame:
    """Return the metrics of a sweep, and the marks and drops of each run, with the seeds of the runs."""
    keys = ["arm", *sweep.axes, "replicate"]
    columns = ["signal", "metric", *keys, "seed", "value"]
    seeds = sweep.runs.select(*keys, "seed")
    metrics = sweep.metrics.with_columns(signal=pl.lit(False)).join(seeds, on=keys, how="left", nulls_equal=True)
    found = [metrics.select(columns)]
    if "queues" in sweep.tables:
        rows = sweep.table("queues").filter(pl.col("group") == "all").collect()
        totals = rows.group_by(*keys, "seed", maintain_order=True).agg(
            pl.col(column).sum().cast(pl.Float64).alias(name) for name, column in SIGNALS.items()
        )
        long = totals.unpivot(index=[*keys, "seed"], variable_name="metric", value_name="value")
        found.append(long.with_columns(signal=pl.lit(True)).select(columns))
    return pl.concat(found).drop_nulls("value")


def _labelled(a: SweepResult, b: SweepResult, metric: str, at: str, signal: bool) -> Contrast:
    """Return a contrast of the quantity without values."""
    from ecnlab.results.sweep_data import column_of, smallest

    if signal:
        return Contrast(metric, at, metric, None, None, signal=True)
    least = max(smallest(a, metric), smallest(b, metric))
    return Contrast(metric, at, column_of(a, metric), None, None, smallest=least)


def _bounds(a: SweepResult, b: SweepResult, metric: str) -> Bounds:
    from ecnlab.base.stats import UNBOUNDED
    from ecnlab.scenario.metric_ranges import of_difference, of_metric

    if metric not in a.manifest["metrics"] or metric not in b.manifest["metrics"]:
        return UNBOUNDED
    return of_difference(*(of_metric(one.manifest["metrics"], metric) for one in (a, b)))


def _of_values(empty: Contrast, rows: pl.DataFrame, bounds: Bounds, family: int) -> Contrast:
    """Return ``empty`` with the means of both sides and the interval of their difference, one of ``family``."""
    from ecnlab.base.stats import LEVEL, independent_difference, paired_difference

    level = 1.0 - (1.0 - LEVEL) / family
    sides = [rows.filter(pl.col("side") == side) for side in (0, 1)]
    pairs = sides[0].join(sides[1], on=["replicate", "seed"], how="inner", suffix="_2", maintain_order="left")
    paired = pairs.height == sides[0].height == sides[1].height
    means = [float(side.select(pl.col("value").mean()).item()) for side in sides]
    interval = None
    if paired and pairs.height > 1:
        interval = bounds.clip(paired_difference(pairs["value_2"], pairs["value"], level))
    elif min(side.height for side in sides) > 1:
        interval = bounds.clip(independent_difference(sides[1]["value"], sides[0]["value"], level))
    return replace(empty, first=means[0], second=means[1], interval=interval, paired=paired)
