"""Why a number differs: texts that quote measured values by reference.

``reasons.toml`` never states a measured number. Each reason names facts, each
fact a metric and a place of the grid, or has references in its text
(`ecnlab.papers.references`); the value is filled in from the points of the
runs at hand, so that a reason cannot outlive its evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.published import Published, read_toml
from ecnlab.papers.references import Evidence, fill
from ecnlab.papers.samples import at
from ecnlab.papers.written import quantity as quantity
from ecnlab.papers.written import with_interval


def read_reasons(path: Path, evidence: Evidence) -> dict[str, str]:
    """Return the reason of each printed number or claim that has one, with its facts and references filled in.

    Raises EcnlabError naming a reason without a printed entry, or a fact that was not measured.
    """
    known = evidence.published.ids()
    reasons: dict[str, str] = {}
    for entry in read_toml(path).get("reason", []):
        if unknown := set(entry["for"]) - known:
            raise EcnlabError(f"{path}: a reason for {min(unknown)!r}, which is not in published.toml")
        points = evidence.tables["points"]
        facts = {
            name: _fact(path, name, spec, evidence.published, points) for name, spec in entry.get("facts", {}).items()
        }
        try:
            text = fill(entry["text"].strip(), evidence, facts)
        except EcnlabError as error:
            raise EcnlabError(f"{path}: the reason for {entry['for'][0]}: {error}") from error
        for name in entry["for"]:
            reasons[name] = f"{reasons[name]} {text}" if name in reasons else text
    return reasons


def _fact(
    path: Path, name: str, spec: Mapping[str, Any], published: Published, points: pl.DataFrame
) -> Callable[[str], str]:
    """Return the parts of a fact: "" is its mean with interval, ``mean``, and the labels of its place by key."""
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
    found = {**_labels(row), "mean": quantity(row["mean"], metric), "": with_interval(row, metric)}

    def part(key: str) -> str:
        if key not in found:
            raise EcnlabError(f"the fact {name!r} has no {key!r}")
        return found[key]

    return part


def _labels(row: Mapping[str, Any]) -> dict[str, str]:
    return {key: label for key, label in row.items() if isinstance(label, str)}
