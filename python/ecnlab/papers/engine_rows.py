"""Comparisons of the simulator and the Linux kernel in a README: the rows that ``quoted.json`` has, and references to them.

A row is a cell: metric, place, both means, the interval of their difference or ratio, ``neutral`` (the difference or ratio of
engines that do not differ), number of seeds, verdict. ``docs/papers.md`` has the references.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from ecnlab.agreement.means import TONES
from ecnlab.base.errors import EcnlabError
from ecnlab.papers.grid import Grid
from ecnlab.papers.published import Published
from ecnlab.papers.written import quantity
from ecnlab.scenario.files import read_experiment, read_text

if TYPE_CHECKING:
    from ecnlab.papers.paper import Paper
    from ecnlab.papers.references import Asked, Evidence

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


def tables_of_kernel(
    paper: Paper, published: Published, analysis: Path, read: Callable[[str], pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    """Return the tables of ``analysis`` that need the kernel, by name; nothing if they are missing. ``read`` reads one."""
    tables = {}
    if (analysis / "linux.parquet").exists():
        tables["linux"] = read("linux")
    if paper.compare and (analysis / "linux_samples.parquet").exists():
        cells = paper.compare(read("linux_samples"), published.metrics)
        blank = [pl.lit("").alias(key) for key in paper.grid.keys if key not in cells.columns]
        tables[CELLS] = cells.with_columns(blank).select(list(schema(paper.grid)))
    return tables


def resolve(asked: Asked, cells: pl.DataFrame, evidence: Evidence) -> str:
    """Return the text of a reference ``{engines ...}``, whose place has the comparisons ``cells``.

    Raises EcnlabError for words or a form that there are not.
    """
    run = evidence.about["kernel"]
    match [*asked.words[1:]], asked.form:
        case [], []:
            return str(cells.height)
        case [], [part]:
            return _of_run(part, run)
        case [verdict], [] if verdict in TONES:
            return str(cells.filter(verdict=verdict).height)
        case [verdict], ["list"] if verdict in TONES:
            return _listed(_clear(cells.filter(verdict=verdict)), evidence)
        case [verdict], ["clear"] if verdict in TONES:
            return str(_clear(cells.filter(verdict=verdict)).height)
        case [metric], [] if metric in evidence.published.metrics:
            verdicts = cells.filter(metric=metric)["verdict"]
            return " / ".join(str((verdicts == one).sum()) for one in ("agrees", "open", "differs"))
    raise EcnlabError(f"`engines` takes a metric, one of {', '.join(TONES)}, or a form")


def _of_run(part: str, run: Row) -> str:
    """A fact about the runs: ``size``, ``seeds``, ``version`` of the kernel, or the number of ``runs`` of both engines."""
    experiments = run["experiments"].values()
    match part:
        case "size":
            return "full" if run["full"] else "quick"
        case "version":
            return str(run["linux"]["kernel"])
        case "seeds":
            return " or ".join(str(n) for n in sorted({one["replicates"] for one in experiments}))
        case "runs":
            return f"{2 * sum(one['runs'] for one in experiments):,}"
    raise EcnlabError(f"there is no form {part!r}")


def _clear(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells whose interval excludes engines that do not differ."""
    return cells.filter((pl.col("low") > pl.col("neutral")) | (pl.col("high") < pl.col("neutral")))


def _listed(cells: pl.DataFrame, evidence: Evidence) -> str:
    """The cells in words with both means: simulator, kernel; "none" if there are none."""
    return "; ".join(_in_words(row, evidence) for row in cells.iter_rows(named=True)) or "none"


def _in_words(row: Row, evidence: Evidence) -> str:
    metric = evidence.published.metrics[row["metric"]]
    ours, theirs = (quantity(row[who], metric) for who in (SIMULATOR, KERNEL))
    return f"{metric.name}: {evidence.grid.place(row)} ({ours}, {theirs})"


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
    question = tomllib.loads(read_text(path))
    asked = tomllib.loads(read_text(path.parent / question["scenario"]))
    for table in (question, asked):
        table.pop("title", None)
    question.pop("replicates", None)
    return hashlib.sha256(json.dumps([question, asked], sort_keys=True, default=str).encode()).hexdigest()[:16]
