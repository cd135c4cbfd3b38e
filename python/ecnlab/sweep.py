"""A sweep: all runs of an experiment, on all cores, stored so that an interruption costs only what was running."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple

import polars as pl

from ecnlab import metrics, store, taps
from ecnlab._core import Experiment, ExperimentRun, Scenario
from ecnlab.columns import SUMMARY, TABLES
from ecnlab.differences import differences
from ecnlab.engines import PACKETS, Answerer, answerer_of, refuse_unless_random, signature
from ecnlab.errors import EcnlabError, FolderError, RunError
from ecnlab.parts import Parts
from ecnlab.scenario import read_experiment
from ecnlab.taps import Taps
from ecnlab.threads import as_finished
from ecnlab.types import Engine

Progress = Callable[[int, int], None]
"""Called with (runs done, runs in all): once at the start and after each run."""

SPECS: Final = "specs.json"


class Sweep:
    """The result of an experiment: its runs, their metrics and their tables."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        """Where it is stored."""
        self.manifest = manifest
        """What was asked and who answered; see ``docs/run-folder.md``."""
        self._tables = store.StoredTables(folder / "tables", ["runs", "metrics", *manifest["tables"]])

    def __repr__(self) -> str:
        return f"Sweep({self.manifest['title']!r}, runs={self.runs.height}, folder={str(self.folder)!r})"

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes of the grid, which are columns of ``runs`` and ``metrics``."""
        return tuple(self.manifest["axes"])

    @property
    def runs(self) -> pl.DataFrame:
        """One row a run: ``arm``, a label for each axis, ``replicate``, ``seed``, ``id``, ``spec_hash``."""
        return self._tables["runs"]

    @property
    def metrics(self) -> pl.DataFrame:
        """One row a run and metric: ``arm``, the axes, ``replicate``, ``metric``, ``value`` (null: not defined)."""
        return self._tables["metrics"]

    def summary(self) -> pl.DataFrame:
        """Each metric over its replicates: ``arm``, the axes, ``metric``, ``mean``, ``low``, ``high`` and ``n``.

        ``low`` and ``high`` bound the 95 % interval (Student's t), null where one value says nothing of it; ``n``
        counts the replicates in which the metric is defined.
        """
        from ecnlab.stats import mean_interval  # SciPy takes a second to load

        keys = ["arm", *self.axes, "metric"]
        rows = []
        for key, group in self.metrics.group_by(keys, maintain_order=True):
            values = group["value"].drop_nulls()
            found = mean_interval(values) if values.len() else None
            numbers = (found.mean, found.low, found.high, found.n) if found else (None, None, None, 0)
            rows.append((*key, *(x if x is not None and isfinite(x) else None for x in numbers)))
        types = {**dict.fromkeys(keys, pl.String), **dict.fromkeys(("mean", "low", "high"), pl.Float64), "n": pl.UInt32}
        return pl.DataFrame(rows, schema=types, orient="row")

    @property
    def specs(self) -> dict[str, Any]:
        """The full specification of each ``spec_hash``: ``{"spec": ..., "departures": ...}``."""
        specs: dict[str, Any] = store.read_json(self.folder / SPECS)
        return specs

    @property
    def captures(self) -> dict[str, tuple[Path, ...]]:
        """The capture files of each run that has any, by its ``id``; see ``docs/captures.md``."""
        return taps.found(self.folder)

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that were kept."""
        return tuple(self.manifest["tables"])

    def table(self, name: str) -> pl.LazyFrame:
        """The table ``name`` of all runs under each other, with the columns of ``runs`` in front.

        A column of the table that has the name of an axis gets ``_recorded`` behind it. Raises FolderError, saying how
        to get it, if the table was not kept.
        """
        if name not in self.tables:
            raise store.missing_table(name, dict.fromkeys(self.tables))
        path = self.folder / "tables" / f"{name}.parquet"
        store.insist_on_table(path)
        rows = pl.scan_parquet(path)
        return self.runs.lazy().join(rows, on="id", how="inner", suffix="_recorded", maintain_order="left_right")


def sweep(
    experiment: str | os.PathLike[str] | Experiment,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    replicates: int | None = None,
    keep: Iterable[str] = (),
    capture: Iterable[str] = (),
    engine: Engine = PACKETS,
    progress: Progress | None = None,
) -> Sweep:
    """Do all runs of ``experiment`` (a file, or one already read), store them in the folder ``out``, return them.

    Runs that ``out`` already has, of the same specification, seed and build of ecnlab, are not done again: an
    interrupted sweep continues, and one with more ``replicates`` adds only those. ``workers`` threads work at a time
    (default: one a core); their number does not change a byte of the tables. ``keep`` names tables to store besides
    the flows, queues and links and those that metrics read; ``capture`` names links and nodes where the packets of every
    run are captured, besides those that the scenario says; ``progress`` is told of each finished run. With
    ``engine="linux"`` the Linux kernel does the runs, one kernel for each of the workers; a model does none.

    Raises SpecError and MetricError for an experiment that is not possible, EcnlabError if the engine cannot do it or no
    Linux kernel has been built, FolderError if ``out`` holds something else, OSError if it cannot be written, RunError
    if the simulator finds its own books not balanced or a kernel fails.
    """
    refuse_unless_random(engine, "a sweep")
    question = experiment if isinstance(experiment, Experiment) else read_experiment(experiment)
    if replicates is not None:
        question = question.with_replicates(replicates)
    wanted = _tables_to_keep(question, keep)
    keys = run_keys(question)
    folder = Path(out)
    store.refuse_other(folder, {"kind": "sweep", "engine": engine})
    answerer = answerer_of(engine)
    folder.mkdir(parents=True, exist_ok=True)
    with store.only_writer(folder):
        clock, began = perf_counter(), datetime.now(UTC)
        parts, tapping = Parts(folder, wanted, answerer.build), Taps(folder, capture)
        parts.clean()
        tapping.clean()
        _refuse_other(folder, parts, question, keys)
        _write_question(folder, question, wanted, answerer)
        todo = _todo(question.runs, parts, tapping)
        _do(todo, parts, tapping, answerer, workers or _cores(), progress or (lambda _done, _all: None))
        tables = _merge(folder, question, parts, keys)
        manifest = _manifest(question, wanted, answerer) | {
            "complete": True,
            "tables": store.describe(tables),
            "wall": {"began": began.isoformat(timespec="seconds"), "seconds": round(perf_counter() - clock, 3)},
        }
        store.write_json(folder / store.MANIFEST, manifest)
        parts.forget()
    return Sweep(folder, manifest)


def load_sweep(folder: str | os.PathLike[str]) -> Sweep:
    """The sweep stored in ``folder``. Raises FolderError if it is not complete, or no sweep; OSError."""
    path = Path(folder)
    store.restore_folder(path / "tables")
    manifest = store.read_manifest(path, "sweep")
    if not manifest["complete"]:
        raise FolderError(f"the sweep in {path} is not complete: the command that began it continues it")
    return Sweep(path, manifest)


def run_keys(experiment: Experiment) -> pl.DataFrame:
    """One row a run of ``experiment``, in its order: arm, axes, replicate, seed, id, spec_hash."""
    axes = experiment.axes
    rows = [
        {"arm": run.arm, **run.point, "replicate": run.replicate, "seed": run.seed, "id": run.id, "spec_hash": run.hash}
        for run in experiment.runs
    ]
    types = {
        "arm": pl.String,
        **dict.fromkeys(axes, pl.String),
        "replicate": pl.UInt32,
        "seed": pl.UInt64,
        "id": pl.String,
        "spec_hash": pl.String,
    }
    return pl.DataFrame(rows, schema=types)


def _tables_to_keep(experiment: Experiment, keep: Iterable[str]) -> list[str]:
    metrics.refuse(experiment)
    asked = set(keep)
    if unknown := asked - TABLES.keys():
        raise EcnlabError(f"no table is called {min(unknown)!r}; there are {', '.join(TABLES)}")
    return [name for name in TABLES if name in {*SUMMARY, *asked, *metrics.tables(experiment.metrics)}]


def _refuse_other(folder: Path, parts: Parts, experiment: Experiment, keys: pl.DataFrame) -> None:
    """Raise FolderError if the sweep in ``folder`` is not a beginning of the one asked for."""
    held = parts.held()
    strange = held - set(keys["id"])
    if not strange:
        return
    there = store.read_manifest(folder, "sweep")
    remedy = "choose another folder, or remove that one first"
    if there["title"] == experiment.title and there["replicates"] > experiment.replicates:
        remedy = f"ask for its {there['replicates']} replicates, or choose another folder"
    asked = {"title": experiment.title, "seed": experiment.seed, "axes": experiment.axes}
    changed = "; ".join(differences({key: there[key] for key in asked}, asked))
    if not changed:
        specs = store.read_json(folder / SPECS)
        lost = next((specs[x]["spec"] for x in specs if x not in {run.hash for run in experiment.runs}), None)
        first = differences(lost, experiment.runs[0].scenario.resolved) if lost else iter(())
        changed = ", ".join(list(first)[: store.MOST_TOLD]) or "fewer points or replicates"
    raise FolderError(
        f"{folder} holds another sweep ({there['title']!r}): {len(strange)} of its {len(held)} runs are not in this "
        f"experiment (there against asked for: {changed}); {remedy}"
    )


def _write_question(folder: Path, experiment: Experiment, wanted: list[str], answerer: Answerer) -> None:
    """Say what the folder is for before the first run, so that an interrupted sweep is recognised."""
    store.write_json(
        folder / store.MANIFEST, _manifest(experiment, wanted, answerer) | {"complete": False, "tables": {}}
    )
    one_of_each = {run.hash: run.scenario for run in experiment.runs}
    specs = {hash_: {"spec": x.resolved, "departures": x.departures} for hash_, x in one_of_each.items()}
    store.write_json(folder / SPECS, specs)


def _manifest(experiment: Experiment, wanted: list[str], answerer: Answerer) -> dict[str, Any]:
    return {
        "format": store.FORMAT,
        "kind": "sweep",
        **signature(answerer, experiment.title, experiment.seed),
        "replicates": experiment.replicates,
        "axes": experiment.axes,
        "metrics": experiment.metrics,
        "keep": wanted,
    }


class _Asked(NamedTuple):
    """A run, its scenario with all captures, and whether the folder has its tables and captures."""

    run: ExperimentRun
    scenario: Scenario
    there: bool


def _todo(runs: Sequence[ExperimentRun], parts: Parts, tapping: Taps) -> dict[str, _Asked]:
    """Each run once, by its id, although it may be asked for twice. Raises SpecError for a place there is none of."""
    have = parts.usable()
    distinct = {run.id: run for run in runs}
    tapped = {id_: tapping.tapped(run) for id_, run in distinct.items()}
    return {
        id_: _Asked(run, tapped[id_], id_ in have and not tapping.lack(id_, tapped[id_]))
        for id_, run in distinct.items()
    }


def _do(
    runs: Mapping[str, _Asked], parts: Parts, tapping: Taps, answerer: Answerer, workers: int, progress: Progress
) -> None:
    """Do those of ``runs`` that are not there yet, ``workers`` at a time."""
    todo = [asked for asked in runs.values() if not asked.there]
    done, total = len(runs) - len(todo), len(runs)
    for asked in {asked.run.hash: asked for asked in todo}.values():
        answerer.check(asked.run.scenario)
    progress(done, total)
    with ThreadPoolExecutor(workers) as pool:
        try:
            futures = [pool.submit(_do_one, asked, parts, tapping, answerer) for asked in todo]
            for _ in as_finished(futures):
                done += 1
                progress(done, total)
        except BaseException:
            answerer.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _do_one(asked: _Asked, parts: Parts, tapping: Taps, answerer: Answerer) -> None:
    run = asked.run
    try:
        with tapping.written(run.id, asked.scenario) as captures:
            tables = answerer.tables(asked.scenario, run.seed, events="packets" in parts.tables, captures=captures)
    except RunError as error:
        point = ", ".join(f"{axis} = {label}" for axis, label in run.point.items())
        raise RunError(f"run {run.id} (arm {run.arm}, {point}, seed {run.seed}): {error}") from error
    parts.add(run.id, {name: tables[name] for name in parts.tables if name in tables})


def _merge(folder: Path, experiment: Experiment, parts: Parts, keys: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Write the tables of the whole sweep, and return those of its runs."""
    ids = keys["id"].unique(maintain_order=True).to_list()
    tables = parts.merged(ids)

    def table(name: str) -> pl.LazyFrame:
        if name not in tables:
            raise store.missing_table(name, tables)
        return tables[name].lazy()

    values = metrics.evaluate(experiment.metrics, table, ids)
    with store.whole_folder(folder / "tables") as scratch:
        store.write_json(scratch / store.MADE, parts.made())
        for name, frame in {"runs": keys, "metrics": _keyed(keys, values), **tables}.items():
            store.write_table(scratch / f"{name}.parquet", frame)
    return tables


def _keyed(keys: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """``values`` of runs under the names of the experiment, in its order."""
    return keys.drop("seed", "spec_hash").join(values, on="id", maintain_order="left_right").drop("id")


def _cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
