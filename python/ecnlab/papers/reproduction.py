"""From a paper's folder to its report: sweeps, analysis tables, one page."""

from __future__ import annotations

import hashlib
import math
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import polars as pl

from ecnlab._core import Experiment
from ecnlab.api.sweep import Sweep
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.base.provenance import maker
from ecnlab.base.types import Engine
from ecnlab.engines.protocol import LINUX, PACKETS
from ecnlab.folder import digests
from ecnlab.folder.ecn_fallback import fallbacks
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.names import FILES, MANIFEST, REMEDY, RESULTS
from ecnlab.folder.outputs import PAGE as PAGES
from ecnlab.folder.outputs import TABLE, write_named
from ecnlab.folder.sealed_json import read_json
from ecnlab.folder.tables import describe, table_bytes
from ecnlab.folder.verified import read_files, refuse_other_kind, write_files
from ecnlab.papers.analysis import Computed, Stored, read_results, shapes
from ecnlab.papers.behind import TABLE as ROW_RUNS
from ecnlab.papers.behind import row_runs
from ecnlab.papers.engine_rows import KERNEL
from ecnlab.papers.growing import Doing, seeds_of_points, settled, settled_in
from ecnlab.papers.index import index_page
from ecnlab.papers.layout import paper_page
from ecnlab.papers.measuring import analysis_tables, tables_of_engines
from ecnlab.papers.paper import Paper, Step
from ecnlab.papers.published import Published, read_published
from ecnlab.papers.readings import labels_on, require_labels
from ecnlab.papers.registry import PAPERS, find
from ecnlab.report import render
from ecnlab.runs.cluster import Cluster
from ecnlab.runs.engine_by_name import answerer_of
from ecnlab.runs.sweep import begun
from ecnlab.runs.sweep_doing import Progress
from ecnlab.runs.sweep_runs import first_of_each_id
from ecnlab.scenario.files import read_experiment

STORED: Final = "reproduction"
"""Value of `kind` in the ``files.json`` of a reproduction."""

ALL: Final = "reproductions"
"""Value of `kind` in the ``files.json`` of the reproductions of all papers."""

PAGE: Final = "report.html"
"""Name of the report."""

NONE: Final[Mapping[str, Sweep]] = {}


def reproduce(
    paper: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    full: bool = False,
    linux: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    cluster: str | Cluster | None = None,
) -> Path:
    """Reproduce ``paper`` (a name of `PAPERS`, or its folder) in the folder ``out``; return the report's path.

    ``out`` gets ``sweeps/`` (one per experiment), ``analysis/`` (Parquet, and CSV of the same), ``results.json`` and
    ``report.html``. Runs that ``out`` already has are not done again, so an interrupted reproduction continues and a
    ``full`` one builds on a quick one. With ``linux`` the paper's experiments for the Linux kernel run, too. ``workers``,
    ``progress`` and ``cluster`` are as for `ecnlab.sweep`; the Linux kernel runs on this machine in any case.

    Raises EcnlabError for an unknown paper, for the quick size if ``out`` holds the full one, or for ``linux`` if there is
    no kernel or no experiment for it; and all that `ecnlab.sweep` raises.
    """
    (found, folder), target = find(paper), Path(out)
    published = read_published(folder)
    if found.budget and published.together:
        raise EcnlabError(
            f"{folder / 'published.toml'}: `together`: a paper with a budget judges each place: remove one"
        )
    _refuse_other(published.paper, target)
    if not full:
        _refuse_full(found, target)
    if linux:
        _refuse_without_kernel(found)
    planned = {name: one for step in found.steps for name, one in _planned(step, folder, full=full)}
    if published.readings:
        places = (step.place for step in found.steps)
        labels = labels_on(published.readings.key, (one.experiment for one in planned.values()), places)
        require_labels(folder / "published.toml", published.readings, labels)
    if found.budget and full:
        planned = _with_seeds(
            planned, seeds_of_points(found, published, {name: one.experiment for name, one in planned.items()})
        )
    beside = {name: one for step in found.on_linux for name, one in _planned(step, folder, full=full, linux=True)}
    report_runs = progress or (lambda _done, _all: None)
    do = partial(_run, folder=target / "sweeps", workers=workers, progress=report_runs, cluster=cluster)
    quick, done = None, dict[str, Sweep]()
    experiments = {name: one.experiment for name, one in planned.items()}
    if found.budget and not full:
        quick, done = settled(found, published, experiments, Doing(target / "sweeps", workers, report_runs, cluster))
    todo = {**planned, **(beside if linux else {})}
    done |= do({name: one for name, one in todo.items() if name not in done}, done=done)
    if found.budget and full:
        quick = settled_in(found, published, experiments, done)
    sweeps = {name: done[name] for name in planned}
    drawn = found.draw(sweeps)
    looked = {"looked": True} if quick and not full else {}
    about = {**_about(found, sweeps, full=full), **looked, "linux": _kernel_of(done), **drawn.facts}
    behind = {ROW_RUNS: row_runs(found, published, {name: one.runs for name, one in sweeps.items()})}
    tables = {
        **analysis_tables(found, published, sweeps, quick, full=full),
        **behind,
        **_of_all(done),
        **drawn.tables,
    }
    if linux:
        on_kernel = {step.name: done[_on_kernel(step)] for step in found.on_linux}
        tables |= tables_of_engines(found, published, done, on_kernel)
    remake = _remake(paper, target, full=full, linux=linux)
    names = _write(target, published, tables, about)
    write_files(target, STORED, names, remake)
    report = target / PAGE
    html = render(paper_page(folder, Computed(tables, about), found))
    write_named(report, html.encode(), PAGES, own=target)
    write_files(target, STORED, [*names, report.name], remake)
    return report


def stored_page(out: str | os.PathLike[str]) -> str:
    """Return the report of the reproduction in the folder ``out`` as HTML text, drawn again from its analysis tables.

    Raises EcnlabError for a paper that ecnlab does not have, or a text that is wrong; FolderError, OSError.
    """
    target = Path(out)
    about = read_results(target)
    found, folder = find(_paper_of(target))
    stored = Stored(target / "analysis", about, shapes(found.grid, read_published(folder)))
    return render(paper_page(folder, stored, found))


def _paper_of(target: Path) -> str:
    """Return the paper that the command in ``files.json`` names, as `_remake` writes it. Raises FolderError."""
    remake = read_files(target).remake
    try:
        return shlex.split(remake)[2]
    except (IndexError, ValueError) as error:
        raise FolderError(
            f"{target / FILES} is damaged (`wall.remake` names no paper: {remake!r}): {REMEDY}"
        ) from error


def _remake(paper: str | os.PathLike[str], target: Path, *, full: bool, linux: bool) -> str:
    """Return the command that recreates damaged files."""
    options = [*(["--full"] if full else []), *(["--linux"] if linux else [])]
    return shlex.join(["ecnlab", "reproduce", str(paper), *options, "--out", str(target)])


def reproduce_all(
    out: str | os.PathLike[str],
    *,
    full: bool = False,
    linux: bool = False,
    workers: int | None = None,
    progress: Callable[[str], Progress] | None = None,
    cluster: str | Cluster | None = None,
) -> Path:
    """Reproduce every paper, each in its own folder of ``out``; return the path of ``index.html``, which links them.

    ``progress`` makes the report of progress for a paper's name; ``linux`` is for the papers that have something for it.
    Else as `reproduce`; what is done is not done again, and the index is written when the last paper is.
    """
    target = Path(out)
    refuse_other_kind(target, ALL)
    for name, paper in PAPERS.items():
        report = progress(name) if progress else None
        reproduce(
            name,
            target / name,
            full=full,
            linux=linux and bool(paper.on_linux),
            workers=workers,
            progress=report,
            cluster=cluster,
        )
    index = target / "index.html"
    write_named(index, render(index_page(target, list(PAPERS))).encode(), PAGES, own=target)
    remake = ["ecnlab", "reproduce", "all", *(["--full"] if full else []), *(["--linux"] if linux else [])]
    write_files(target, ALL, [index.name], shlex.join([*remake, "--out", str(target)]))
    return index


def _refuse_other(paper: str, target: Path) -> None:
    """Raise FolderError if ``target`` has another result than a reproduction of ``paper``."""
    refuse_other_kind(target, STORED)
    if not (target / RESULTS).is_file():
        return
    try:
        there = read_json(target / RESULTS)["paper"]["name"]
    except (FolderError, KeyError, TypeError):
        return  # damaged: it is written again
    if there != paper:
        raise FolderError(f"{target} has a reproduction of {there}, not of {paper}: choose another folder with --out")


def _refuse_full(paper: Paper, target: Path) -> None:
    """Raise EcnlabError if ``target`` has, or has begun, more seeds than the quick size."""
    for step in (*paper.steps, *paper.on_linux):
        manifest = target / "sweeps" / step.name / MANIFEST
        stored = read_manifest(manifest.parent) if manifest.exists() else {}
        if stored and (min(stored["seeds"]) >= step.full if "seeds" in stored else stored["replicates"] > step.quick):
            raise EcnlabError(f"{target} holds the full size of {paper.name}: give --full, or choose another folder")


def _refuse_without_kernel(paper: Paper) -> None:
    """Raise EcnlabError if there is no kernel, or no step for it."""
    if not paper.on_linux:
        having = ", ".join(name for name, other in PAPERS.items() if other.on_linux)
        raise EcnlabError(
            f"{paper.name} has no experiments for the Linux kernel: leave --linux out; {having} have some"
        )
    _ = answerer_of(LINUX).build


@dataclass(frozen=True, slots=True)
class _Planned:
    """A sweep to make."""

    experiment: Experiment
    keep: tuple[str, ...]
    engine: Engine
    seeds: list[int] | None = None
    """Those of each point and arm, if they are not all."""


def _planned(step: Step, folder: Path, *, full: bool, linux: bool = False) -> Iterator[tuple[str, _Planned]]:
    """The sweeps of a step by their names."""
    experiment = read_experiment(folder / f"{step.name}.toml").with_replicates(step.full if full else step.quick)
    yield step.name, _Planned(experiment, step.keep, PACKETS)
    if linux:
        yield _on_kernel(step), _Planned(experiment, step.keep, LINUX)


def _with_seeds(planned: Mapping[str, _Planned], seeds: Mapping[str, list[int]]) -> dict[str, _Planned]:
    """The sweeps with the ``seeds`` of each point by step; a step without has those of its experiment."""
    found = dict(planned)
    for step, of in seeds.items():
        if max(of) > min(of):
            found[step] = replace(found[step], experiment=found[step].experiment.with_replicates(max(of)), seeds=of)
    return found


def _on_kernel(step: Step) -> str:
    return f"{step.name}-{KERNEL}"


def _run(
    planned: Mapping[str, _Planned],
    folder: Path,
    workers: int | None,
    progress: Progress,
    cluster: str | Cluster | None,
    done: Mapping[str, Sweep] = NONE,
) -> dict[str, Sweep]:
    """Do the ``planned`` sweeps. The progress includes the runs of those that are ``done``."""
    before = sum(one.runs["id"].n_unique() for one in done.values())
    sizes = {name: len(first_of_each_id(one.experiment, one.seeds)) for name, one in planned.items()}
    total = before + sum(sizes.values())
    sweeps = {}
    for name, one in planned.items():
        shifted = _shifted(progress, before, total)
        with begun(
            one.experiment,
            folder / name,
            workers=workers,
            keep=one.keep,
            engine=one.engine,
            cluster=cluster if one.engine == PACKETS else None,
            seeds=one.seeds,
        ) as sweep:
            sweep.do(one.seeds, shifted)
            sweeps[name] = sweep.finish(one.seeds)
        before += sizes[name]
    return sweeps


def _kernel_of(done: Mapping[str, Sweep]) -> dict[str, Any] | None:
    """Return the kernel named in the manifests; None if none was used."""
    return next((one.manifest["linux"] for one in done.values() if one.manifest["engine"] == LINUX), None)


def _shifted(progress: Progress, before: int, total: int) -> Callable[[int, int], None]:
    return lambda done, _of: progress(before + done, total)


def _of_all(sweeps: Mapping[str, Sweep]) -> dict[str, pl.DataFrame]:
    return {"departures": _departures(sweeps), "experiments": _experiments(sweeps)}


def _write(
    target: Path, published: Published, tables: Mapping[str, pl.DataFrame], about: Mapping[str, Any]
) -> list[str]:
    """Write tables and results; return the files' names."""
    folder = target / "analysis"
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        write_named(folder / f"{name}.parquet", table_bytes(table), TABLE, own=target)
        write_named(folder / f"{name}.csv", _flat(table).write_csv().encode(), (".csv",), own=target)
    results = {
        "format": 1,
        "paper": {
            "name": published.paper,
            "title": published.title,
            "authors": published.authors,
            "date": published.date,
        },
        **about,
        "apart": published.apart,
        "tables": {name: about_table["types"] for name, about_table in describe(tables).items()},
        "numbers": _plain(tables["numbers"]),
        "claims": _plain(tables["claims"]),
    }
    write_named(target / RESULTS, digests.seal(results), (".json",), own=target)
    return [RESULTS, *(f"analysis/{name}.{kind}" for name in tables for kind in ("parquet", "csv"))]


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """Return ``table`` with lists as text, because CSV has no lists."""
    lists = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    return table.with_columns(pl.col(lists).cast(pl.List(pl.String)).list.join(" ")) if lists else table


def _plain(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows as JSON values; an unbounded end of an interval is null."""
    return [{key: _bounded(value) for key, value in row.items()} for row in table.iter_rows(named=True)]


def _bounded(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _about(paper: Paper, sweeps: Mapping[str, Sweep], *, full: bool) -> dict[str, Any]:
    """Return the origin of the results: version, inputs and size."""
    replicates = sorted({n for step in paper.steps if not step.drawn for n in _seeds(sweeps[step.name])})
    seconds = sum(_simulated(s) for s in sweeps.values())
    return {
        "ecnlab": maker(),
        "full": full,
        "seed": next(iter(sweeps.values())).manifest["seed"],
        "runs": sum(s.runs["id"].n_unique() for s in sweeps.values()),
        "simulated_s": seconds,
        "ecn_fallback": {name: text for name, s in sweeps.items() if (text := fallbacks(s.table("flows").collect()))},
        "replicates": " to ".join(map(str, dict.fromkeys((replicates[0], replicates[-1])))),
    }


def _seeds(found: Sweep) -> list[int]:
    """The seeds of each point, or the number that all have."""
    seeds: list[int] = found.manifest.get("seeds", [found.manifest["replicates"]])
    return seeds


def _simulated(found: Sweep) -> float:
    durations = {key: float(entry["spec"]["duration"].removesuffix(" s")) for key, entry in found.specs.items()}
    return sum(durations[key] for key in found.runs["spec_hash"])


def _departures(sweeps: Mapping[str, Sweep]) -> pl.DataFrame:
    """Each TCP setting that departs from its profile, once, with the experiments that use it."""
    found: dict[tuple[str, ...], set[str]] = {}
    for name, result in sweeps.items():
        for entry in result.specs.values():
            for d in entry["departures"]:
                row = (d["key"], d["profile"], str(d["profile_value"]), str(d["value"]), d["source"])
                found.setdefault(row, set()).add(name)
    columns = ["key", "profile", "profile_value", "value", "source"]
    rows = [
        {**dict(zip(columns, key, strict=True)), "used_in": ", ".join(sorted(names))}
        for key, names in sorted(found.items())
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys([*columns, "used_in"], pl.String))


def _experiments(sweeps: Mapping[str, Sweep]) -> pl.DataFrame:
    rows = [
        {
            "experiment": name,
            "title": result.manifest["title"],
            "runs": result.runs.height,
            "replicates": max(_seeds(result)),
            "spec": hashlib.sha256("".join(sorted(result.specs)).encode()).hexdigest()[:16],
        }
        for name, result in sweeps.items()
    ]
    return pl.DataFrame(rows)
