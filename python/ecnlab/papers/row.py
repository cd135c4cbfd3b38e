"""One run behind a printed number or claim, with its packets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from ecnlab._core import Experiment, Scenario
from ecnlab.api.sweep import Sweep
from ecnlab.base.errors import EcnlabError
from ecnlab.folder.names import CAPTURES, MANIFEST, RESULTS
from ecnlab.papers.analysis import Stored, read_results, shapes
from ecnlab.papers.behind import NOT_AXES, Behind, Finder, labels_of
from ecnlab.papers.claim_places import in_words
from ecnlab.papers.judge import Grid
from ecnlab.papers.paper import Paper
from ecnlab.papers.published import Number, Printed, Published, Recipe, read_published
from ecnlab.papers.references import as_printed, with_interval
from ecnlab.papers.registry import find
from ecnlab.papers.tables import ChecklistFile
from ecnlab.runs.run import run as run_scenario
from ecnlab.runs.sweep_runs import run_keys
from ecnlab.scenario.data_files import read_file
from ecnlab.scenario.files import read_experiment, with_captures

ROWS: Final = "rows"
"""Folder in that of a reproduction with the runs of single rows."""

NEAR: Final = 8
"""Number of near ids in the answer to an unknown one."""


@dataclass(frozen=True, slots=True)
class RowRun:
    """A run behind a printed number or claim: its folder, its capture files, and facts about it by label."""

    folder: Path
    captures: tuple[Path, ...]
    facts: tuple[tuple[str, str], ...]


def run_row(paper: str | os.PathLike[str], row: str, out: str | os.PathLike[str]) -> RowRun:
    """Do the first run behind the printed number or claim ``row`` of ``paper``; capture its packets.

    ``out`` is the folder of a reproduction, or none yet: its seeds and its measured value are used if it has them. The
    run is stored in ``out``/rows/``row``, with captures of the links that the paper measures.

    Raises EcnlabError if there is no such row, no run behind it, or ``out`` has another paper; and all that `ecnlab.run` raises.
    """
    (found, folder), target = find(paper), Path(out)
    published = read_published(folder)
    entry = _entry(published, row, folder)
    measured = _measured(target, found, published, entry)
    experiments = cache(lambda step: read_experiment(folder / f"{step}.toml").with_replicates(1))
    finder = Finder(found, published, lambda step: run_keys(experiments(step)))
    behind = finder.behind(entry)
    if not behind:
        raise EcnlabError(f"{row} of {found.name} has no runs: {published.metrics[entry.metric].definition}")
    step, where = behind[0].step, target / ROWS / row
    first = behind[0].runs.row(0, named=True)
    if stored := _stored_run(target, step, first):
        if stored["spec_hash"] == first["spec_hash"]:
            first = stored
        else:
            measured = f"not by this run: {target} has runs of another version of {step}.toml"
    scenario = _scenario(experiments(step), behind[0].runs["id"][0])
    places = _links(finder.recipes(entry.metric), published, scenario)
    run_scenario(with_captures(scenario, places), first["seed"], out=where)
    facts = (
        *_printed(entry, published, found.grid),
        ("measured", measured),
        ("experiment", str(folder / f"{step}.toml")),
        *([("arm", first["arm"])] if first["arm"] else []),
        ("point", _point(first) or "the only one"),
        ("replicate", "0, the first"),
        ("seed", str(first["seed"])),
        ("run id", first["id"]),
        ("behind the row", _counted(behind)),
    )
    return RowRun(where, tuple(sorted((where / CAPTURES).iterdir())), facts)


def _entry(published: Published, row: str, folder: Path) -> Printed:
    """The number or claim called ``row``. Raises EcnlabError if there is none, with near names."""
    entries: dict[str, Printed] = {entry.id: entry for entry in (*published.numbers, *published.claims)}
    if row in entries:
        return entries[row]
    of_row = [entry.id for entry in entries.values() if entry.row == row]
    if of_row:
        raise EcnlabError(
            f"{row} of {published.paper} has several numbers and claims: choose one of {', '.join(of_row)}"
        )
    for listed in read_file(folder / "checklist.toml", ChecklistFile).row:
        if listed.id == row:
            by = f"it is shown by {', '.join(listed.by)}" if listed.by else listed.note
            raise EcnlabError(f"{row} of {published.paper} has no number or claim that a run measures: {by}")
    beside = [entry.id for entry in entries.values() if entry.row == row.partition(".")[0]]
    near = ", ".join(get_close_matches(row, beside or entries, NEAR, 0.0))
    raise EcnlabError(
        f"{published.paper} has no printed number or claim {row!r}; the nearest are {near}; all are in {folder / 'published.toml'}"
    )


def _stored_run(target: Path, step: str, run: Mapping[str, Any]) -> dict[str, Any] | None:
    """The run of ``step`` at the same place in the reproduction ``target``; None if there is none."""
    sweep = target / "sweeps" / step
    if not ((target / RESULTS).is_file() and (sweep / MANIFEST).is_file()):
        return None
    rows = Sweep.load(sweep).runs
    for key in (key for key in run if key not in NOT_AXES and key in rows.columns):
        rows = rows.filter(pl.col(key).eq_missing(pl.lit(run[key], pl.String)))
    rows = rows.filter(pl.col("replicate") == run["replicate"])
    return rows.row(0, named=True) if rows.height else None


def _scenario(experiment: Experiment, run: str) -> Scenario:
    return next(one.scenario for one in map(experiment.run, range(len(experiment))) if one.id == run)


def _links(recipes: list[Recipe], published: Published, scenario: Scenario) -> list[str]:
    """The links that the ``recipes`` read; else those that the paper measures; else all of the scenario."""
    there = list(scenario.resolved["link"])
    everything = [published.recipe(name) for name in (*published.quantities, *published.metrics)]
    for read in (set(_links_read(recipes)), set(_links_read(everything))):
        if found := [link for link in there if link in read]:
            return found
    return there


def _links_read(recipes: list[Recipe]) -> Iterator[str]:
    for recipe in recipes:
        for link in labels_of(recipe.where.get("link", [])):
            yield link.partition("~")[0].partition("[")[0]


def _measured(target: Path, paper: Paper, published: Published, entry: Printed) -> str:
    """The measured value and its verdict in the reproduction ``target``, if it has one. Raises EcnlabError for another paper."""
    if not (target / RESULTS).is_file():
        return f"not yet: {target} has no reproduction (the command without --row makes it)"
    about = read_results(target)
    if about["paper"]["name"] != published.paper:
        raise EcnlabError(f"{target} has a reproduction of {about['paper']['name']}, not of {published.paper}")
    tables = Stored(target / "analysis", about, shapes(paper.grid, published))
    rows = tables["numbers" if isinstance(entry, Number) else "claims"].filter(id=entry.id)
    if rows.is_empty():
        return f"not in {target}"
    if not isinstance(entry, Number):
        return in_words(rows)
    number = rows.row(0, named=True)
    return f"{with_interval(number, published.metrics[entry.metric])}, {number['n']} seeds: {number['verdict']}"


def _printed(entry: Printed, published: Published, grid: Grid) -> Iterator[tuple[str, str]]:
    metric = published.metrics[entry.metric]
    source = entry.source.replace("\u00a0", " ")
    if isinstance(entry, Number):
        place = grid.place({key: label for key, label in entry.where.items() if isinstance(label, str)})
        yield entry.id, ", ".join(part for part in (metric.name, place) if part)
        about, unit = ("about " if entry.about else "", f" {entry.unit}" if entry.unit else "")
        yield "printed", f"{about}{as_printed(entry.value, metric)}{unit} ({source})"
    else:
        yield entry.id, metric.name
        yield "printed", f"{getattr(entry, 'statement', '')} ({source})"


def _point(run: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {label}" for key, label in run.items() if key not in (*NOT_AXES, "arm"))


def _counted(behind: list[Behind]) -> str:
    """The number of points and arms with runs of the row, by experiment."""
    counts = [(part.runs.height, part.step) for part in behind]
    return ", ".join(f"{count} point{'s' * (count > 1)} of {step}.toml" for count, step in counts)
