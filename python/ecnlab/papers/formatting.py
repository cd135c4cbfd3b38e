"""Measured values as a reader writes them, and quoted values: what the functions of a text return, with their forms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import unknown
from ecnlab.papers.judge import Grid
from ecnlab.papers.published import Metric

OUTCOMES: Final = ("yes", "partly", "no", "undecided")
VERDICTS: Final = ("verdict", "answer", "upto", "metric", "statement", "test")
"""Columns of numbers and claims that are quoted as they are."""

MOST_DIGITS: Final = 8
"""Digits after which two values that differ are written alike all the same."""


Row = Mapping[str, Any]


def quantity(value: float, metric: Metric, unit: str = "", more: int = 0) -> str:
    """A value: percent, or as many significant digits as the metric has, and ``more``."""
    if not math.isfinite(value):
        return "unbounded"
    if metric.percent:
        text = _percent(100 * value, more)
    elif abs(value) >= 1000:
        text = f"{value / 1000:.{metric.digits + more}g} k"
    else:
        text = f"{value:#.{metric.digits + more}g}".removesuffix(".") if value else "0"
    text = text.replace("-", "−")
    return f"{text} {unit}" if unit else text


def with_interval(row: Mapping[str, Any], metric: Metric) -> str:
    """A point as its mean with the interval behind it, or with the word that nothing varied."""
    mean, interval = parts(row, metric)
    return f"{mean} ({interval})"


def parts(row: Mapping[str, Any], metric: Metric) -> tuple[str, str]:
    """Return mean and interval of a point.

    If all replicates gave one value there is no interval, and the text states that. An interval whose ends would be
    formatted alike gets more digits.
    """
    if row["low"] == row["high"]:
        return quantity(row["mean"], metric), "nothing varied"
    for more in range(MOST_DIGITS):
        mean, low, high = (quantity(row[key], metric, more=more) for key in ("mean", "low", "high"))
        if low != high or not math.isfinite(row["low"] + row["high"]):
            break
    return mean, f"{low} to {high}"


def as_printed(value: float, metric: Metric) -> str:
    """A printed value with the digits it was printed with."""
    return quantity(value, metric) if metric.percent else f"{value:.10g}".replace("-", "−")


def confidence(level: float) -> str:
    """A level of confidence, with enough digits to differ from 100%."""
    return f"{level:.0%}" if level <= 0.99 else f"{100 * level:.6f}".rstrip("0") + "%"


def _percent(points: float, more: int) -> str:
    if points == 0 or abs(points) >= 10:
        return f"{points:.{more}f}%"
    if abs(points) >= 0.1:
        return f"{points:.{1 + more}f}%"
    return f"{points:.{1 + more}g}%" if abs(points) >= 0.001 else "0%"


def in_words(tests: pl.DataFrame) -> str:
    """Return the verdict on a claim; for a trend that ends, with the value of the axis up to which it holds.

    For a claim about several places, with the number of places for each outcome.
    """
    answer, upto = str(tests["answer"][0]), str(tests["upto"][0] or "") if "upto" in tests.columns else ""
    if tests.height == 1:
        return f"{answer}, up to {upto}" if upto else answer
    found = Counter(tests["outcome"])
    if len(found) == 1:
        return f"{answer} (in all {tests.height} places)"
    counts = ", ".join(f"{found[outcome]} {outcome}" for outcome in OUTCOMES if found[outcome])
    return f"{answer} (of {tests.height} places {counts})"


# --------------------------------------------------------------- quoted values


class Forms:
    """Base class of values with forms; an unknown form is an error that names the nearest one."""

    def __getattr__(self, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        raise unknown("form", name, [one for one in dir(self) if not one.startswith("_")])


@dataclass(frozen=True)
class Quoted(Forms):
    """A point, a printed number or a claim with its measurement. Printed, it is the mean with its interval."""

    _row: Row
    _metric: Metric
    _grid: Grid
    _more: int = 0
    _bare: bool = False

    @property
    def mean(self) -> str:
        """The mean."""
        return self._quantity(self._row["mean"])

    @property
    def low(self) -> str:
        """The lower end of the interval."""
        return self._quantity(self._row["low"])

    @property
    def high(self) -> str:
        """The upper end of the interval."""
        return self._quantity(self._row["high"])

    @property
    def n(self) -> str:
        """The number of seeds."""
        return str(self._row["n"])

    @property
    def interval(self) -> str:
        """The interval alone: "low to high"."""
        return self._text(parts(self._row, self._metric)[1])

    @property
    def printed(self) -> str:
        """The number that the paper prints."""
        return self._text(as_printed(self._row["printed"], self._metric))

    @property
    def values(self) -> str:
        """The means of a claim's points, in order."""
        return ", ".join(self._quantity(value) for value in self._row["values"])

    @property
    def magnitude(self) -> Quoted:
        """The absolute value of a value below zero, for texts with "less" or "fewer"."""
        row = self._row
        if row["mean"] >= 0:
            raise EcnlabError("the magnitude needs a value below zero")
        return replace(self, _row={**row, "mean": -row["mean"], "low": -row["high"], "high": -row["low"]})

    @property
    def bare(self) -> Quoted:
        """The same without percent signs, with "-" as the minus sign."""
        return replace(self, _bare=True)

    def digits(self, more: int) -> Quoted:
        """The same with so many more digits in ``mean``, ``low``, ``high`` and ``values``."""
        return replace(self, _more=more)

    def __str__(self) -> str:
        return self._text(with_interval(self._row, self._metric))

    def __getattr__(self, name: str) -> str:
        """A label of the place by its key, or a column of a number or claim."""
        if name in self._grid.keys:
            return self._grid.named(self._row[name])
        if name in VERDICTS and name in self._row:
            return str(self._row[name])
        return super().__getattr__(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._grid.keys, *(name for name in VERDICTS if name in self._row)]

    def _quantity(self, value: float) -> str:
        return self._text(quantity(value, self._metric, more=self._more))

    def _text(self, text: str) -> str:
        return text.replace("%", "").replace("−", "-") if self._bare else text


@dataclass(frozen=True)
class Extent(Forms):
    """The least and the largest of several points. Printed, it is "least to largest", of the means."""

    least: Quoted
    largest: Quoted

    @property
    def bare(self) -> Extent:
        """The same without percent signs."""
        return Extent(self.least.bare, self.largest.bare)

    def digits(self, more: int) -> Extent:
        """The same with so many more digits."""
        return Extent(self.least.digits(more), self.largest.digits(more))

    def __str__(self) -> str:
        return f"{self.least.mean} to {self.largest.mean}"


@dataclass(frozen=True)
class Tests(Forms):
    """The tests of a claim about several places."""

    _name: str
    _rows: pl.DataFrame

    @property
    def answer(self) -> str:
        """The verdict, with the number of places for each outcome."""
        return in_words(self._rows)

    @property
    def statement(self) -> str:
        """The statement of the paper."""
        return str(self._rows["statement"][0])

    def __str__(self) -> str:
        raise EcnlabError(f"{self._name} has {self._rows.height} tests: name one (place=...)")

    def __getattr__(self, name: str) -> str:
        return super().__getattr__(name) if name.startswith("_") else str(self)
