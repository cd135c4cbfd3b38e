"""Why a number differs: texts that quote measured values by reference.

``reasons.toml`` never states a measured number. Each reason names facts, each
fact a metric and a place of the grid; the value is filled in from the points
of the runs at hand, so that a reason cannot outlive its evidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab.errors import EcnlabError
from ecnlab.papers.published import Metric, Published, read_toml
from ecnlab.papers.samples import at


@dataclass(frozen=True, slots=True)
class Fact:
    """A measured value with its place; formats as the value, or as one of its keys: ``{best.min_th}``."""

    text: str
    keys: Mapping[str, str]

    def __format__(self, _spec: str) -> str:
        return self.text

    def __getattr__(self, key: str) -> str:
        try:
            return self.keys[key]
        except KeyError:
            raise AttributeError(key) from None


def read_reasons(path: Path, published: Published, points: pl.DataFrame) -> dict[str, str]:
    """The reason of each printed number or claim that has one, with its facts filled in.

    Raises EcnlabError naming a reason for nothing printed, or a fact that was not measured.
    """
    known = published.ids()
    reasons: dict[str, str] = {}
    for entry in read_toml(path).get("reason", []):
        if unknown := set(entry["for"]) - known:
            raise EcnlabError(f"{path}: a reason for {min(unknown)!r}, which is not in published.toml")
        facts = {name: _fact(path, name, spec, published, points) for name, spec in entry.get("facts", {}).items()}
        try:
            text = entry["text"].strip().format(**facts)
        except (KeyError, AttributeError, IndexError) as error:
            raise EcnlabError(
                f"{path}: the reason for {entry['for'][0]} quotes {error}, which is no fact of it"
            ) from error
        for name in entry["for"]:
            reasons[name] = f"{reasons[name]} {text}" if name in reasons else text
    return reasons


def _fact(path: Path, name: str, spec: Mapping[str, Any], published: Published, points: pl.DataFrame) -> Fact:
    rows = at(points, spec["metric"], {**published.where, **spec.get("where", {})})
    match spec.get("pick"):
        case "max":
            rows = rows.sort("mean", descending=True).head(1)
        case "min":
            rows = rows.sort("mean").head(1)
        case "nearest":
            rows = rows.sort((pl.col("mean") - spec["to"]).abs()).head(1)
    if rows.height != 1:
        raise EcnlabError(f"{path}: fact {name!r}: {rows.height} measured points, need 1")
    row = rows.row(0, named=True)
    metric = published.metrics[spec["metric"]]
    mean, low, high = (quantity(row[key], metric) for key in ("mean", "low", "high"))
    return Fact(f"{mean} ({low} to {high})", _labels(row) | {"mean": mean})


def _labels(row: Mapping[str, Any]) -> dict[str, str]:
    return {key: label for key, label in row.items() if isinstance(label, str)}


def quantity(value: float, metric: Metric, unit: str = "") -> str:
    """A value as a reader writes it: percent, or as many significant digits as the metric has."""
    if not math.isfinite(value):
        return "unbounded"
    if metric.percent:
        text = _percent(100 * value)
    elif abs(value) >= 1000:
        text = f"{value / 1000:.{metric.digits}g} k"
    else:
        text = f"{value:#.{metric.digits}g}".removesuffix(".") if value else "0"
    text = text.replace("-", "−")
    return f"{text} {unit}" if unit else text


def _percent(points: float) -> str:
    if points == 0 or abs(points) >= 10:
        return f"{points:.0f}%"
    return f"{points:.1f}%" if abs(points) >= 0.1 else f"{points:.1g}%" if abs(points) >= 0.001 else "0%"
