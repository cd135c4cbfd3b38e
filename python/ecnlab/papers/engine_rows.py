"""Comparisons of the simulator and the Linux kernel in a README: the rows that ``quoted.json`` has, and references to them.

A row is a cell: metric, place, both means, the interval of their difference or ratio, ``neutral`` (the difference or ratio of
engines that do not differ), number of seeds, verdict. ``docs/papers.md`` documents the references.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from ecnlab.papers.formatting import Forms, quantity
from ecnlab.papers.judge import Grid
from ecnlab.papers.published import Published
from ecnlab.scenario.files import read_experiment, read_text

if TYPE_CHECKING:
    from ecnlab.papers.evidence import Evidence
    from ecnlab.papers.material import Analysis
    from ecnlab.papers.paper import Paper

SIMULATOR: Final = "simulator"
KERNEL: Final = "kernel"
"""The engine that ran a step of ``on_linux``: the variant of its samples."""

CELLS: Final = "engines"
"""Name of the table of comparisons in ``quoted.json``."""

TABLES: Final = ("linux", CELLS)
"""Tables that need the kernel."""

NUMBERS: Final = (SIMULATOR, KERNEL, "low", "high", "neutral")

Row = Mapping[str, Any]


def schema(grid: Grid) -> dict[str, type[pl.DataType]]:
    """Return the columns of the table of comparisons."""
    text: dict[str, type[pl.DataType]] = dict.fromkeys(("metric", *grid.keys), pl.String)
    return text | dict.fromkeys(NUMBERS, pl.Float64) | {"n": pl.UInt32, "verdict": pl.String}


def tables_of_kernel(paper: Paper, published: Published, analysis: Analysis) -> dict[str, pl.DataFrame]:
    """Return the tables of ``analysis`` that need the kernel, by name; nothing if they are missing."""
    tables = {}
    if "linux" in analysis:
        tables["linux"] = analysis["linux"]
    if paper.compare and "linux_samples" in analysis:
        cells = paper.compare(analysis["linux_samples"], published.metrics)
        blank = [pl.lit("").alias(key) for key in paper.grid.keys if key not in cells.columns]
        tables[CELLS] = cells.with_columns(blank).select(list(schema(paper.grid)))
    return tables


@dataclass(frozen=True)
class Cells(Forms):
    """Comparisons of both engines. Printed, it is their number."""

    _rows: pl.DataFrame
    _evidence: Evidence

    @property
    def clear(self) -> int:
        """The number of those whose interval excludes engines that do not differ."""
        return self._clear().height

    @property
    def listed(self) -> str:
        """The clear ones in words with both means: simulator, kernel; "none" if there are none."""
        return "; ".join(self._in_words(row) for row in self._clear().iter_rows(named=True)) or "none"

    def __str__(self) -> str:
        return str(self._rows.height)

    def _clear(self) -> pl.DataFrame:
        return self._rows.filter((pl.col("low") > pl.col("neutral")) | (pl.col("high") < pl.col("neutral")))

    def _in_words(self, row: Row) -> str:
        metric = self._evidence.metric(row["metric"])
        ours, theirs = (quantity(row[who], metric) for who in (SIMULATOR, KERNEL))
        return f"{metric.name}: {self._evidence.grid.place(row)} ({ours}, {theirs})"


@dataclass(frozen=True)
class KernelRuns(Forms):
    """The runs on the Linux kernel, as `described` gives them."""

    _run: Mapping[str, Any]

    @property
    def size(self) -> str:
        """``full`` or ``quick``."""
        return "full" if self._run["full"] else "quick"

    @property
    def version(self) -> str:
        """The version of the kernel."""
        return str(self._run["linux"]["kernel"])

    @property
    def seeds(self) -> str:
        """The number of seeds, of several sizes all."""
        return " or ".join(str(n) for n in sorted({one["replicates"] for one in self._run["experiments"].values()}))

    @property
    def runs(self) -> str:
        """The number of runs of both engines."""
        return f"{2 * sum(one['runs'] for one in self._run['experiments'].values()):,}"


def described(paper: Paper, folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of the kernel's runs in the results that ``about`` describes: kernel, size, experiments."""
    return {
        "ecnlab": about["ecnlab"],
        "linux": about["linux"],
        "full": about["full"],
        "experiments": experiments(paper, folder, full=about["full"]),
    }


def experiments(paper: Paper, folder: Path, *, full: bool) -> dict[str, dict[str, Any]]:
    """Return for each experiment of both engines: seeds, runs of one engine, hash of its files."""
    found = {}
    for step in paper.on_linux:
        file, seeds = folder / f"{step.name}.toml", step.full if full else step.quick
        once = {run.id for run in read_experiment(file).with_replicates(1).runs}
        found[step.name] = {"replicates": seeds, "runs": len(once) * seeds, "files": content_hash(file)}
    return found


def content_hash(path: Path) -> str:
    """Return a hash of the values of an experiment file and its scenario, without comments, titles and layout."""
    experiment = tomllib.loads(read_text(path))
    scenario = tomllib.loads(read_text(path.parent / experiment["scenario"]))
    for table in (experiment, scenario):
        table.pop("title", None)
    experiment.pop("replicates", None)
    return hashlib.sha256(json.dumps([experiment, scenario], sort_keys=True, default=str).encode()).hexdigest()[:16]
