"""The range of values that a metric can have, from its definition. Intervals are clipped to it (docs/scenario.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from ecnlab.base.stats import UNBOUNDED, Bounds
from ecnlab.folder.columns import TABLES
from ecnlab.laws.kinds import Column

SHARE: Final = Bounds(0.0, 1.0)

POSITIVE: Final = Bounds(low=0.0)
"""Counts, sizes, durations and rates. Zero is included."""


def of_metric(metrics: Mapping[str, Mapping[str, Any]], name: str) -> Bounds:
    """Return the range of the metric ``name`` of ``metrics``, given as in an experiment file."""
    metric = metrics[name]
    if "table" in metric:
        return _of_aggregate(metric)
    first, second = (of_metric(metrics, operand) for operand in metric.get("ratio", metric.get("difference", [])))
    found = of_ratio(first, second) if "ratio" in metric else of_difference(first, second)
    offset = 1.0 if metric.get("minus_one", False) else 0.0
    return Bounds(found.low - offset, found.high - offset)


def of_difference(first: Bounds, second: Bounds) -> Bounds:
    """Return the range of ``first - second``."""
    return Bounds(first.low - second.high, first.high - second.low)


def of_ratio(first: Bounds, second: Bounds) -> Bounds:
    """Return the range of ``first / second``; the ratio of two non-negative quantities is non-negative."""
    return POSITIVE if first.low >= 0.0 and second.low >= 0.0 else UNBOUNDED


def _of_aggregate(metric: Mapping[str, Any]) -> Bounds:
    aggregate = metric.get("aggregate", "mean")
    if aggregate == "jain":
        return SHARE
    if aggregate == "count":
        return POSITIVE
    found = _of_column(TABLES[metric["table"]].get(metric["column"], Column("", "")))
    if aggregate == "sum":
        return Bounds(0.0 if found.low >= 0.0 else -math.inf)
    return found


def _of_column(column: Column) -> Bounds:
    if column.kind == "flag" or (column.unit == "ratio" and not column.above_one):
        return SHARE
    return POSITIVE if column.unit else UNBOUNDED
