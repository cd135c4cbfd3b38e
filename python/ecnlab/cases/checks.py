"""Checks of a case, evaluated on the time series of its flow."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import groupby, pairwise
from operator import mul
from typing import Any, Final

from ecnlab.api.run import Run
from ecnlab.base.errors import EcnlabError
from ecnlab.base.quantities import quantity
from ecnlab.cases.case import BOUNDS, Case, Suite
from ecnlab.runs.run import run

TOLERANCE: Final = 1e-9
"""Relative difference of numbers that count as equal."""


class NeverError(Exception):
    """The instant that a check names does not occur."""


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of a check."""

    claim: str
    holds: bool
    found: str
    """The values compared."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a case."""

    case: Case
    results: tuple[Result, ...]
    series: Series

    @property
    def holds(self) -> bool:
        """Whether all checks hold."""
        return all(result.holds for result in self.results)


def perform(case: Case, overrides: Mapping[str, object] | None = None) -> Outcome:
    """Run the scenario of ``case`` and return the outcome of its checks. ``overrides`` sets dotted keys of the scenario.

    Raises SpecError for a key or value that is not possible, EcnlabError for a check that names what does not exist.
    """
    series = Series(case.suite, run(case.scenario(overrides), case.seed))
    try:
        return Outcome(case, tuple(_result(series, check) for check in case.checks), series)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise EcnlabError(f"{case.name}: a check cannot be evaluated: {error!r}: see docs/bbr3-cases.md") from None


class Series:
    """The samples of the only connection of a run."""

    def __init__(self, suite: Suite, result: Run) -> None:
        frame = result.flow_series
        self.suite = suite
        self._columns: dict[str, list[float]] = {
            name: [math.nan if value is None else float(value) for value in frame[name].to_list()]
            for name in frame.columns
            if frame[name].dtype.is_numeric()
        }
        for name, factors in suite.derived.items():
            parts = [self._columns[one] if isinstance(one, str) else [one] * frame.height for one in factors]
            self._columns[name] = [reduce(mul, row) for row in zip(*parts, strict=True)]
        self.times = self._columns["time_s"]

    def column(self, name: str) -> list[float]:
        """Return the values of the column ``name``."""
        if name not in self._columns:
            raise EcnlabError(f"there is no column `{name}` of numbers in flow_series: see docs/run-folder.md")
        return self._columns[name]

    def states(self, first: int = 0, last: int | None = None) -> list[tuple[str, int]]:
        """Return the states in the rows from ``first`` to ``last``, each with the row at which it begins."""
        values = self.column(self.suite.column)
        rows = [i for i in range(first, len(values) if last is None else last + 1) if not math.isnan(values[i])]
        return [
            (self.suite.states[round(value) - 1], next(iter(group)))
            for value, group in groupby(rows, key=lambda i: values[i])
        ]

    def row(self, instant: str | Mapping[str, Any]) -> int:
        """Return the row of ``instant``: a time, or a change of state or of a column. Raises NeverError."""
        if isinstance(instant, str):
            return self._at(quantity(instant))
        first = self.row(instant["after"]) if "after" in instant else 0
        edges = [row for row in self._edges(instant) if row >= first]
        n = instant.get("n", 1)
        if len(edges) < abs(n):
            raise NeverError(_named(instant))
        row = edges[n - 1 if n > 0 else n]
        return self._at(self.times[row] + quantity(instant["plus"])) if "plus" in instant else row

    def _at(self, time: float) -> int:
        row = bisect.bisect_left(self.times, time - TOLERANCE)
        if row == len(self.times):
            raise NeverError(f"{time:g} s, after the end")
        return row

    def _edges(self, instant: Mapping[str, Any]) -> list[int]:
        """Return the rows at which a state begins or ends, or from which on a column is within bounds."""
        if "enter" in instant:
            return [row for state, row in self.states() if state == instant["enter"]]
        if "leave" in instant:
            known = self.states()
            return [row - 1 for (state, _), (_, row) in pairwise(known) if state == instant["leave"]]
        values = self.column(instant["column"])
        bounds = {key: bound if key == "near" else self.value(bound) for key, bound in instant.items() if key in BOUNDS}
        inside = [_within(value, bounds, self.value) for value in values]
        return [i for i, one in enumerate(inside) if one and not (i and inside[i - 1])]

    def value(self, wanted: float | Mapping[str, Any]) -> float:
        """Return a number, or the value of a column at an instant or over a time."""
        if not isinstance(wanted, Mapping):
            return float(wanted)
        values, times = self.column(wanted["column"]), self.times
        if "at" in wanted:
            found = values[self.row(wanted["at"])]
        else:
            first, last = self.row(wanted.get("from", "0 s")), self._last(wanted)
            known = [value for value in values[first : last + 1] if not math.isnan(value)]
            over = {
                "min": lambda: min(known, default=math.nan),
                "max": lambda: max(known, default=math.nan),
                "rise": lambda: values[last] - values[first],
                "rate": lambda: 8 * (values[last] - values[first]) / (times[last] - times[first]),
            }
            found = over[wanted["over"]]()
        return found * float(wanted.get("times", 1)) + float(wanted.get("plus", 0))

    def _last(self, span: Mapping[str, Any]) -> int:
        return self.row(span["to"]) if "to" in span else len(self.times) - 1


def _result(series: Series, check: Mapping[str, Any]) -> Result:
    try:
        holds, found = _evaluated(series, check)
    except NeverError as never:
        holds, found = False, f"never: {never}"
    return Result(check["claim"], holds, found)


def _evaluated(series: Series, check: Mapping[str, Any]) -> tuple[bool, str]:
    first = series.row(check.get("from", "0 s"))
    if "states" in check:
        states = [state for state, _ in series.states(first)][: len(check["states"])]
        return states == check["states"], ", ".join(states)
    if "never" in check:
        last = series.row(check["to"]) if "to" in check else None
        states = [state for state, _ in series.states(first, last)]
        return check["never"] not in states, ", ".join(states)
    value = series.value(check)
    return _within(value, check, series.value), f"{shown(value)} ({_bounds(series, check)})"


def _within(value: float, bounds: Mapping[str, Any], number: Any) -> bool:
    """Return whether ``value`` is within all of ``bounds``; a value that is not set is within none but ``set = false``."""
    if math.isnan(value):
        return bounds.get("set") is False
    near = bounds.get("near")
    return (
        bounds.get("set", True)
        and ("min" not in bounds or value >= number(bounds["min"]))
        and ("max" not in bounds or value <= number(bounds["max"]))
        and ("equals" not in bounds or math.isclose(value, number(bounds["equals"]), rel_tol=TOLERANCE))
        and (near is None or math.isclose(value, of := number(near["of"]), abs_tol=near["within"] * abs(of), rel_tol=0))
    )


def _bounds(series: Series, check: Mapping[str, Any]) -> str:
    words = {"min": "at least", "max": "at most", "equals": "equals"}
    said = [f"{word} {shown(series.value(check[key]))}" for key, word in words.items() if key in check]
    if near := check.get("near"):
        said.append(f"within {100 * near['within']:g} % of {shown(series.value(near['of']))}")
    if "set" in check:
        said.append("set" if check["set"] else "not set")
    return ", ".join(said)


def shown(value: float) -> str:
    """Return ``value`` with at most six digits; a value that is not set is "-"."""
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


def _named(instant: Mapping[str, Any]) -> str:
    return " ".join(f"{key} {value}" for key, value in instant.items())
