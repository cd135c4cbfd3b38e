"""Comparison of the verdicts of the quick and the full size of a paper.

``quoted.json`` has both for every printed number and claim. A quick report marks those that the full size changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from ecnlab.papers.analysis_shapes import read_quoted

QUOTED: Final = "quoted.json"
OPEN: Final = ("inconclusive", "undecided")
"""The verdict on a number and the answer to a claim that decide nothing."""


def verdicts(numbers: pl.DataFrame, claims: pl.DataFrame) -> pl.DataFrame:
    """The verdict on each printed number and the answer to each claim: ``id`` and ``verdict``."""
    answers = claims.unique("id", maintain_order=True).select("id", pl.col("answer").alias("verdict"))
    return pl.concat([numbers.select("id", "verdict"), answers])


def both_sizes(quick: pl.DataFrame, full: pl.DataFrame) -> dict[str, dict[str, str]]:
    """By the id of a number or claim its verdict in each size. Both tables are as `verdicts` makes them."""
    rows = quick.join(full, on="id", suffix="_full", maintain_order="left").iter_rows()
    return {name: {"quick": of_quick, "full": of_full} for name, of_quick, of_full in rows}


def of_full(folder: Path) -> dict[str, str]:
    """By id the verdict of the full size that the paper's ``folder`` quotes; nothing where none is quoted."""
    path = folder / QUOTED
    if not path.exists():
        return {}
    return {name: sizes["full"] for name, sizes in read_quoted(path)["verdicts"].items()}


def contradicted(sizes: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The ids whose quick verdict decides something else than the full one."""
    return [name for name, of in sizes.items() if of["quick"] != of["full"] and of["quick"] not in OPEN]
