"""Measured values as a reader writes them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from ecnlab.papers.tables import Metric

OUTCOMES: Final = ("yes", "partly", "no", "undecided")
MOST_DIGITS: Final = 8
"""Digits after which two values that differ are written alike all the same."""


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
