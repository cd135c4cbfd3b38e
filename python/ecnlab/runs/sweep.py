"""A sweep: all runs of an experiment, on all cores, stored so that an interruption loses only the runs in progress."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from ecnlab._core import Experiment
from ecnlab.api.sweep import Sweep
from ecnlab.base import address_space
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.base.lazy_imports import np, pl
from ecnlab.base.types import Engine, Instead
from ecnlab.engines.protocol import PACKETS, Answerer, refuse_on_cluster, refuse_unless_random, signature
from ecnlab.folder import digests, size_limits
from ecnlab.folder.cache import opened
from ecnlab.folder.columns import SUMMARY, TABLES
from ecnlab.folder.differences import differences
from ecnlab.folder.finished_runs import Parts
from ecnlab.folder.manifest import MAX_DIFFERENCES, read_manifest, refuse_other
from ecnlab.folder.names import CAPTURES, FORMAT, MANIFEST, SPECS
from ecnlab.folder.replaced import only_writer
from ecnlab.folder.sealed_json import read_json, write_entries, write_json
from ecnlab.folder.tables import describe_stored, missing_table, stacked
from ecnlab.folder.verified import digests_of
from ecnlab.runs.captures import Taps
from ecnlab.runs.cluster import Cluster, ClusterPool, connected
from ecnlab.runs.engine_by_name import answerer_of
from ecnlab.runs.local_pool import LocalPool
from ecnlab.runs.remembered import Remembered
from ecnlab.runs.sweep_doing import Executor, Progress, Todo, cores, do_runs, workers_that_fit
from ecnlab.runs.sweep_merge import merge
from ecnlab.runs.sweep_runs import chosen, first_of_each_id, one_of_each, run_ids, run_keys
from ecnlab.runs.workers import begin
from ecnlab.scenario import metrics
from ecnlab.scenario.files import read_experiment

HELD: Final = 64 * 10**6
"""Bytes of the tables of a sweep that are kept from their first reading to the merge."""


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
    cluster: str | Cluster | None = None,
    cache: bool = True,
) -> Sweep:
    """Do all runs of ``experiment`` (a file, or one already read), store them in the folder ``out``, return them.

    Runs that ``out`` already has, of the same specification, seed and build of ecnlab, are not done again: an
    interrupted sweep continues, and one with more ``replicates`` adds only those; what is damaged is done again.
    ``workers`` processes work at a time (default: one a core); their number does not change a byte of the tables. ``keep`` names tables to store besides
    the flows, queues and links and those that metrics read; ``capture`` names links and nodes where the packets of every
    run are captured, besides those of the scenario; ``progress`` is called for each finished run. With
    ``engine="linux"`` the Linux kernel does the runs, one kernel for each of the workers; a model does none. ``cluster`` is
    the address of a Dask scheduler, or ``"local"``: its workers do the runs, with the same results (``docs/cluster.md``).
    Runs of the simulator that the user's cache has are not done, unless ``cache`` is false (``docs/cache.md``).

    Raises SpecError and MetricError for an experiment that is not possible, EcnlabError if the engine cannot do it or no
    Linux kernel has been built, FolderError if ``out`` holds something else, OSError if it cannot be written. RunError
    if a run gave no result: the simulator found its own books not balanced, its process died, or a kernel failed. The
    others are done and stored all the same.
    """
    with begun(
        experiment,
        out,
        workers=workers,
        replicates=replicates,
        keep=keep,
        capture=capture,
        engine=engine,
        cluster=cluster,
        cache=cache,
    ) as one:
        one.do(None, progress or (lambda _done, _all: None))
        return one.finish(None)


@contextmanager
def begun(
    experiment: str | os.PathLike[str] | Experiment,
    out: str | os.PathLike[str],
    *,
    workers: int | None = None,
    replicates: int | None = None,
    keep: Iterable[str] = (),
    capture: Iterable[str] = (),
    engine: Engine = PACKETS,
    cluster: str | Cluster | None = None,
    cache: bool = True,
    seeds: Sequence[int] | None = None,
) -> Iterator[Begun]:
    """A sweep whose runs are done some seeds at a time, and merged at the end. Arguments and errors as `sweep`.

    ``seeds`` are the replicates of each point and arm to begin with, in the order of the experiment, if they are not all.
    """
    address_space.refuse_too_little()
    refuse_unless_random(engine, "a sweep")
    if cluster is not None:
        refuse_on_cluster(engine)
    question = experiment if isinstance(experiment, Experiment) else read_experiment(experiment)
    if replicates is not None:
        question = question.with_replicates(replicates)
    wanted = _tables_to_keep(question, keep)
    folder = Path(out)
    refuse_other(folder, {"kind": "sweep", "engine": engine})
    answerer = answerer_of(engine)
    if engine == PACKETS:
        size_limits.refuse_any_too_large((run.scenario for run in one_of_each(question)), folder, wanted)
    else:
        for scenario in question.scenarios:
            answerer.check(scenario)
    folder.mkdir(parents=True, exist_ok=True)
    with only_writer(folder), opened(use=cache and engine == PACKETS) as results:
        clock, began = perf_counter(), datetime.now(UTC)
        parts, tapping = Parts(folder, wanted, answerer.build), Taps(folder, capture)
        remembered = Remembered(results, question, parts, tapping)
        new = engine == PACKETS and cluster is None and not (folder / MANIFEST).exists()
        if new and not remembered.has_first():
            _begin_workers(question, workers)
        parts.clean()
        tapping.clean()
        _refuse_other(folder, parts, question)
        _write_question(folder, question, wanted, answerer, seeds)

        def executor(todo: Todo) -> AbstractContextManager[Executor]:
            return _executor(todo, parts, tapping, answerer, workers, cluster)

        def manifest(chosen: Sequence[int] | None, tables: Mapping[str, Path], cached: int) -> dict[str, Any]:
            return _manifest(question, wanted, answerer, chosen) | {
                "complete": True,
                "instead": _instead(question, answerer),
                "tables": describe_stored(tables),
                "files": _files(folder, parts),
                "wall": {
                    "began": began.isoformat(timespec="seconds"),
                    "seconds": round(perf_counter() - clock, 3),
                    "cached": cached,
                    "remake": _remake(question, engine, wanted, capture, replicates, folder),
                },
            }

        yield Begun(folder, question, parts, tapping, remembered, executor, manifest)


class Begun:
    """A sweep in progress."""

    def __init__(
        self,
        folder: Path,
        question: Experiment,
        parts: Parts,
        tapping: Taps,
        remembered: Remembered,
        executor: Callable[[Todo], AbstractContextManager[Executor]],
        manifest: Callable[[Sequence[int] | None, Mapping[str, Path], int], dict[str, Any]],
    ) -> None:
        self._folder, self._question, self._parts, self._tapping = folder, question, parts, tapping
        self._remembered, self._executor, self._manifest = remembered, executor, manifest
        self._usable = parts.usable()
        self._done, self._cached = np.empty(0, np.uint64), 0
        self._read, self._read_ids, self._read_bytes = list[Mapping[str, pl.DataFrame]](), set[str](), 0

    def do(self, seeds: Sequence[int] | None, progress: Progress) -> None:
        """Do the first ``seeds`` runs of each point and arm, or all, as far as they are missing. ``progress`` counts those done earlier."""
        distinct = first_of_each_id(self._question, seeds)
        ids = run_ids(self._question, distinct)
        there, new = self._done.size, ~np.isin(ids, self._done)
        todo = Todo(self._question, self._parts, self._tapping, self._usable, distinct[new])
        self._cached += self._remembered.recall(todo)
        with self._executor(todo) as executor:
            do_runs(todo, self._remembered.noting(executor), lambda done, of: progress(there + done, there + of))
        self._done = np.concatenate([self._done, ids[new]])
        self._usable = np.union1d(self._usable, self._done)

    def rows(self, seeds: Sequence[int], without: Sequence[int]) -> Rows:
        """The tables of the first ``seeds`` runs of each point and arm, less the first ones ``without``; all are done.

        They stay in memory until the sweep is finished, if they have at most `HELD` bytes.
        """
        keys = run_keys(self._question, chosen(self._question, seeds, without))
        self._parts.take_stock()
        batches = []
        for ids, tables in self._parts.batches(keys["id"].unique(maintain_order=True)):
            batches.append({name: rows.collect() for name, rows in tables.items()})
            self._keep(ids, batches[-1])
        names = dict.fromkeys(name for tables in batches for name in tables)
        found = {name: stacked(name, [tables[name] for tables in batches if name in tables]) for name in names}
        return Rows(keys, found)

    def _keep(self, ids: Sequence[str], tables: Mapping[str, pl.DataFrame]) -> None:
        """Keep the ``tables`` of the runs ``ids`` for the merge, which reads those again that are not kept."""
        new = set(ids) - self._read_ids
        self._read_ids |= new
        self._read_bytes += int(sum(rows.estimated_size() for rows in tables.values()))
        if self._read_bytes > HELD or any(map(self._parts.is_large, tables)):
            self._read, self._read_bytes = [], HELD
        elif new:
            whole, only = len(new) == len(ids), pl.col("id").is_in(new)
            self._read.append(tables if whole else {name: rows.filter(only) for name, rows in tables.items()})

    def finish(self, seeds: Sequence[int] | None) -> Sweep:
        """Merge the first ``seeds`` runs of each point and arm, or all; they are done."""
        tables = merge(self._folder, self._question, self._parts, seeds, self._read)
        self._read = []
        manifest = self._manifest(seeds, tables, self._cached)
        write_json(self._folder / MANIFEST, manifest)
        self._parts.forget()
        return Sweep(self._folder, manifest)


@dataclass(frozen=True, slots=True)
class Rows:
    """The tables of some runs of a sweep in progress."""

    keys: pl.DataFrame
    """As `Sweep.runs`."""
    tables: Mapping[str, pl.DataFrame]

    def table(self, name: str) -> pl.LazyFrame:
        """As `Sweep.table`. Raises FolderError if no run has the table."""
        if name not in self.tables:
            raise missing_table(name, dict.fromkeys(self.tables))
        rows = self.tables[name].lazy()
        return self.keys.lazy().join(rows, on="id", how="inner", suffix="_recorded", maintain_order="left_right")


def _begin_workers(question: Experiment, workers: int | None) -> None:
    """Start the workers for a sweep without finished runs, while this process loads NumPy and Polars."""
    fit = workers_that_fit(run.scenario for run in one_of_each(question))
    begin(min(workers or cores(), fit, len(question)))


@contextmanager
def _executor(
    todo: Todo,
    parts: Parts,
    tapping: Taps,
    answerer: Answerer,
    workers: int | None,
    cluster: str | Cluster | None,
) -> Iterator[Executor]:
    """Yield what does the runs of ``todo``: processes or kernels of this machine, or the workers of ``cluster``."""
    if isinstance(cluster, str):
        with connected(cluster, workers) as connection:
            yield ClusterPool(todo, parts, tapping, connection)
    elif cluster is not None:
        yield ClusterPool(todo, parts, tapping, cluster)
    else:
        at_a_time = workers or cores()
        if answerer.engine == PACKETS:
            at_a_time = min(at_a_time, workers_that_fit(todo.scenarios()))
        yield LocalPool(parts, tapping, answerer, at_a_time)


def _files(folder: Path, parts: Parts) -> dict[str, str]:
    """The digest of each file of the sweep."""
    captures = {
        f"{CAPTURES}/{run}/{name}": digest
        for run, files in sorted(parts.captures().items())
        for name, digest in files.items()
    }
    return {SPECS: digests.of_file(folder / SPECS), **digests_of(folder / "tables", "tables/"), **captures}


def _remake(
    question: Experiment,
    engine: Engine,
    keep: Iterable[str],
    capture: Iterable[str],
    replicates: int | None,
    folder: Path,
) -> str:
    """Return the command that recreates damaged files."""
    words = ["ecnlab", "sweep", question.path]
    words += [] if replicates is None else ["--replicates", str(replicates)]
    words += [word for table in keep if table not in SUMMARY for word in ("--keep", table)]
    words += [word for place in capture for word in ("--capture", place)]
    words += [] if engine == PACKETS else ["--engine", engine]
    return shlex.join([*words, "--out", str(folder)])


def _tables_to_keep(experiment: Experiment, keep: Iterable[str]) -> list[str]:
    metrics.refuse(experiment)
    requested = set(keep)
    if unknown := requested - TABLES.keys():
        raise EcnlabError(f"no table is called {min(unknown)!r}; there are {', '.join(TABLES)}")
    return [name for name in TABLES if name in {*SUMMARY, *requested, *metrics.tables(experiment.metrics)}]


def _refuse_other(folder: Path, parts: Parts, experiment: Experiment) -> None:
    """Raise FolderError if the sweep in ``folder`` is not a part of the requested one."""
    held = parts.held()
    strange = np.setdiff1d(held, run_ids(experiment)).size if held.size else 0
    if not strange:
        return
    there = read_manifest(folder, "sweep")
    remedy = "choose another folder, or remove that one first"
    if there["title"] == experiment.title and there["replicates"] > experiment.replicates:
        remedy = f"use its {there['replicates']} replicates, or choose another folder"
    requested = {"title": experiment.title, "seed": experiment.seed, "axes": experiment.axes}
    changed = "; ".join(differences({key: there[key] for key in requested}, requested))
    if not changed:
        changed = ", ".join(_fewest_changes(folder, experiment)) or "fewer points or replicates"
    raise FolderError(
        f"{folder} holds another sweep ({there['title']!r}): {strange} of its {len(held)} runs are not in this "
        f"experiment (stored against requested: {changed}); {remedy}"
    )


def _fewest_changes(folder: Path, experiment: Experiment) -> list[str]:
    """Where the first stored specification that is not requested differs from the nearest one that is.

    The nearest is that of the same point, unless points were replaced.
    """
    requested = {run.hash: run.scenario.resolved for run in one_of_each(experiment)}
    lost = next((one["spec"] for at, one in read_json(folder / SPECS).items() if at not in requested), None)
    found = ([] if lost is None else list(differences(lost, spec)) for spec in requested.values())
    return min(found, key=len)[:MAX_DIFFERENCES]


def _write_question(
    folder: Path, experiment: Experiment, wanted: list[str], answerer: Answerer, requested: Sequence[int] | None
) -> None:
    """Write the specification before the first run, so that an interrupted sweep is recognised."""
    write_json(
        folder / MANIFEST, _manifest(experiment, wanted, answerer, requested) | {"complete": False, "tables": {}}
    )
    seen: set[str] = set()

    def specs() -> Iterator[tuple[str, Any]]:
        for run in one_of_each(experiment):
            if run.hash not in seen:
                seen.add(run.hash)
                yield (
                    run.hash,
                    {
                        "spec": run.scenario.resolved,
                        "in_force": run.scenario.in_force(run.seed),
                        "departures": run.scenario.departures,
                    },
                )

    write_entries(folder / SPECS, specs())


def _manifest(
    experiment: Experiment, wanted: list[str], answerer: Answerer, seeds: Sequence[int] | None
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": "sweep",
        **signature(answerer, experiment.title, experiment.seed),
        "replicates": experiment.replicates,
        **({} if seeds is None else {"seeds": list(seeds)}),
        "axes": experiment.axes,
        "metrics": experiment.metrics,
        "report": experiment.report,
        "keep": wanted,
    }


def _instead(experiment: Experiment, answerer: Answerer) -> list[Instead]:
    """Every value of a scenario of the experiment that the engine replaced by its own, each once."""
    found: list[Instead] = []
    for scenario in () if answerer.engine == PACKETS else experiment.scenarios:
        found += [entry for entry in answerer.instead(scenario) if entry not in found]
    return found
