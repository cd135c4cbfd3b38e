"""A sweep: all runs of an experiment, on all cores, stored so that an interruption costs only what was running."""

from __future__ import annotations

import gc
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from ecnlab._core import Experiment, ExperimentRun, Scenario, available_memory
from ecnlab.base.errors import EcnlabError, FolderError, LawError, RunError
from ecnlab.base.lazy_imports import np, pl
from ecnlab.base.threads import ticks
from ecnlab.base.types import Engine, Instead
from ecnlab.engines.protocol import PACKETS, Answerer, refuse_unless_random, signature
from ecnlab.folder import digests, size_limits
from ecnlab.folder.columns import SUMMARY, TABLES
from ecnlab.folder.differences import differences
from ecnlab.folder.finished_runs import Parts, numbers
from ecnlab.folder.manifest import MOST_DIFFERENCES, read_manifest, refuse_other
from ecnlab.folder.names import CAPTURES, FORMAT, MADE, MANIFEST
from ecnlab.folder.replaced import only_writer, restore_folder, whole_folder
from ecnlab.folder.sealed_json import read_json, write_entries, write_json
from ecnlab.folder.streamed_tables import Growing
from ecnlab.folder.tables import describe_stored, missing_table, pieces
from ecnlab.folder.verified import Files, StoredTables, digests_of
from ecnlab.runs import captures
from ecnlab.runs.captures import Taps
from ecnlab.runs.engine_by_name import answerer_of
from ecnlab.runs.workers import Worker, do, worker
from ecnlab.scenario import metrics
from ecnlab.scenario.files import read_experiment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecnlab.plots.sweep import SweepPlots

Progress = Callable[[int, int], None]
"""Called with (runs done, runs in all): once at the start and after each run."""

SPECS: Final = "specs.json"

MOST_TOLD: Final = 10
"""Runs without a result that are named; of more, the number is told."""

MERGED_ROWS: Final = 1 << 9
"""Rows of a merged table that are written at a time: a sweep of many runs needs no more memory than one of few."""

ROWS_AT_A_TIME: Final = 512
"""Runs whose names are put beside their metrics at a time."""


class Sweep:
    """The result of an experiment: its runs, their metrics and their tables."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        """Where it is stored."""
        self.manifest = manifest
        """What was asked and who answered; see ``docs/run-folder.md``."""
        self._files = Files(folder, manifest)
        self._tables = StoredTables(self._files, ["runs", "metrics", *manifest["tables"]], "tables/")

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

        ``low`` and ``high`` bound the 95 % interval (Student's t, clipped to the range of the metric), null where there
        is one value; ``n`` counts the replicates in which the metric is defined.
        """
        from ecnlab.base.stats import mean_interval  # SciPy takes a second to load
        from ecnlab.scenario.metric_ranges import of_metric

        keys = ["arm", *self.axes, "metric"]
        bounds = {name: of_metric(self.manifest["metrics"], name) for name in self.manifest["metrics"]}
        rows = []
        for key, group in self.metrics.group_by(keys, maintain_order=True):
            values = group["value"].drop_nulls()
            found = mean_interval(values) if values.len() else None
            ends = bounds[str(key[-1])].clip(found) if found and found.n > 1 else None
            rows.append(
                (
                    *key,
                    found.mean if found else None,
                    ends.low if ends else None,
                    ends.high if ends else None,
                    values.len(),
                )
            )
        types = {**dict.fromkeys(keys, pl.String), **dict.fromkeys(("mean", "low", "high"), pl.Float64), "n": pl.UInt32}
        return pl.DataFrame(rows, schema=types, orient="row")

    @property
    def plot(self) -> SweepPlots:
        """Its figures: ``sweep.plot.effect("goodput", by="max_p")``, see ``docs/plots.md``."""
        from ecnlab.plots.sweep import SweepPlots  # for those who draw

        return SweepPlots(self)

    @property
    def specs(self) -> dict[str, Any]:
        """The full specification of each ``spec_hash``: ``{"spec": ..., "departures": ...}``."""
        return read_json(self._files.path(SPECS))

    @property
    def captures(self) -> dict[str, tuple[Path, ...]]:
        """The capture files of each run that has any, by its ``id``; see ``docs/captures.md``."""
        return captures.found(self._files)

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
            raise missing_table(name, dict.fromkeys(self.tables))
        rows = pl.scan_parquet(self._tables.path(name))
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
    interrupted sweep continues, and one with more ``replicates`` adds only those; what is damaged is done again.
    ``workers`` processes work at a time (default: one a core); their number does not change a byte of the tables. ``keep`` names tables to store besides
    the flows, queues and links and those that metrics read; ``capture`` names links and nodes where the packets of every
    run are captured, besides those that the scenario says; ``progress`` is told of each finished run. With
    ``engine="linux"`` the Linux kernel does the runs, one kernel for each of the workers; a model does none.

    Raises SpecError and MetricError for an experiment that is not possible, EcnlabError if the engine cannot do it or no
    Linux kernel has been built, FolderError if ``out`` holds something else, OSError if it cannot be written. RunError
    if a run gave no result: the simulator found its own books not balanced, its process died, or a kernel failed. The
    others are done and stored all the same.
    """
    refuse_unless_random(engine, "a sweep")
    question = experiment if isinstance(experiment, Experiment) else read_experiment(experiment)
    if replicates is not None:
        question = question.with_replicates(replicates)
    wanted = _tables_to_keep(question, keep)
    folder = Path(out)
    refuse_other(folder, {"kind": "sweep", "engine": engine})
    answerer = answerer_of(engine)
    if engine == PACKETS:
        size_limits.refuse_any_too_large((run.scenario for run in _one_of_each(question)), folder, wanted)
    folder.mkdir(parents=True, exist_ok=True)
    with only_writer(folder):
        clock, began = perf_counter(), datetime.now(UTC)
        parts, tapping = Parts(folder, wanted, answerer.build), Taps(folder, capture)
        parts.clean()
        tapping.clean()
        _refuse_other(folder, parts, question)
        _write_question(folder, question, wanted, answerer)
        todo = _Todo(question, parts, tapping)
        at_a_time = workers or _cores()
        if engine == PACKETS:
            at_a_time = min(at_a_time, _workers_that_fit(todo.scenarios()))
        _do(todo, parts, tapping, answerer, at_a_time, progress or (lambda _done, _all: None))
        tables = _merge(folder, question, parts)
        manifest = _manifest(question, wanted, answerer) | {
            "complete": True,
            "instead": _instead(question, answerer),
            "tables": describe_stored(tables),
            "files": _files(folder, parts),
            "wall": {
                "began": began.isoformat(timespec="seconds"),
                "seconds": round(perf_counter() - clock, 3),
                "remake": _remake(question, engine, wanted, capture, replicates, folder),
            },
        }
        write_json(folder / MANIFEST, manifest)
        parts.forget()
    return Sweep(folder, manifest)


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
    """The command that makes what is damaged again."""
    words = ["ecnlab", "sweep", question.path]
    words += [] if replicates is None else ["--replicates", str(replicates)]
    words += [word for table in keep if table not in SUMMARY for word in ("--keep", table)]
    words += [word for place in capture for word in ("--capture", place)]
    words += [] if engine == PACKETS else ["--engine", engine]
    return shlex.join([*words, "--out", str(folder)])


def load_sweep(folder: str | os.PathLike[str]) -> Sweep:
    """The sweep stored in ``folder``. Raises FolderError if it is not complete, or no sweep; OSError."""
    path = Path(folder)
    restore_folder(path / "tables")
    manifest = read_manifest(path, "sweep")
    if not manifest["complete"]:
        raise FolderError(f"the sweep in {path} is not complete: the command that began it continues it")
    Files(path, manifest).path(f"tables/{MADE}")
    return Sweep(path, manifest)


@dataclass(frozen=True)
class Unfinished:
    """A sweep that is not complete."""

    manifest: dict[str, Any]
    finished: int
    """How many runs are finished."""
    missing: int
    flows: pl.DataFrame | None
    """The flows of the finished runs that are not merged, with the run's ``id``; None if there are none."""


def load_unfinished(folder: str | os.PathLike[str]) -> Unfinished | None:
    """What the sweep in ``folder`` has so far; None if it is complete, or a run. Raises FolderError, OSError."""
    path = Path(folder)
    manifest = read_manifest(path)
    if manifest["kind"] != "sweep" or manifest["complete"]:
        return None
    parts = Parts(path, manifest["keep"], "")
    parts.take_stock()
    held = [f"{run:016x}" for run in parts.held()]
    flows = [tables["flows"].collect() for _, tables in parts.batches(held) if "flows" in tables]
    runs = len(read_json(path / SPECS)) * manifest["replicates"]
    return Unfinished(manifest, len(held), runs - len(held), pl.concat(flows) if flows else None)


def run_keys(experiment: Experiment, first: int = 0, last: int | None = None) -> pl.DataFrame:
    """One row a run of ``experiment``, in its order: arm, axes, replicate, seed, id, spec_hash.

    Of those from ``first`` to before ``last``, if given.
    """
    axes = experiment.axes
    rows = [
        {"arm": run.arm, **run.point, "replicate": run.replicate, "seed": run.seed, "id": run.id, "spec_hash": run.hash}
        for run in map(experiment.run, range(first, len(experiment) if last is None else last))
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


def _one_of_each(experiment: Experiment) -> Iterator[ExperimentRun]:
    """A run of every point and arm."""
    return map(experiment.run, range(0, len(experiment), experiment.replicates))


def _refuse_other(folder: Path, parts: Parts, experiment: Experiment) -> None:
    """Raise FolderError if the sweep in ``folder`` is not a beginning of the one asked for."""
    held = parts.held()
    strange = np.setdiff1d(held, _ids(experiment)).size
    if not strange:
        return
    there = read_manifest(folder, "sweep")
    remedy = "choose another folder, or remove that one first"
    if there["title"] == experiment.title and there["replicates"] > experiment.replicates:
        remedy = f"ask for its {there['replicates']} replicates, or choose another folder"
    asked = {"title": experiment.title, "seed": experiment.seed, "axes": experiment.axes}
    changed = "; ".join(differences({key: there[key] for key in asked}, asked))
    if not changed:
        specs, asked_for = read_json(folder / SPECS), {run.hash for run in _one_of_each(experiment)}
        lost = next((specs[x]["spec"] for x in specs if x not in asked_for), None)
        first = differences(lost, experiment.run(0).scenario.resolved) if lost else iter(())
        changed = ", ".join(list(first)[:MOST_DIFFERENCES]) or "fewer points or replicates"
    raise FolderError(
        f"{folder} holds another sweep ({there['title']!r}): {strange} of its {len(held)} runs are not in this "
        f"experiment (there against asked for: {changed}); {remedy}"
    )


def _ids(experiment: Experiment) -> NDArray[np.uint64]:
    """The ids of all runs, in their order, as numbers: a sweep may have very many."""
    return np.fromiter((int(experiment.id(i), 16) for i in range(len(experiment))), np.uint64, len(experiment))


def _distinct(experiment: Experiment) -> NDArray[np.intp]:
    """The index of the first run of each id, in the order of the experiment."""
    return np.sort(np.unique(_ids(experiment), return_index=True)[1])


def _write_question(folder: Path, experiment: Experiment, wanted: list[str], answerer: Answerer) -> None:
    """Say what the folder is for before the first run, so that an interrupted sweep is recognised."""
    write_json(folder / MANIFEST, _manifest(experiment, wanted, answerer) | {"complete": False, "tables": {}})
    seen: set[str] = set()

    def specs() -> Iterator[tuple[str, Any]]:
        for run in _one_of_each(experiment):
            if run.hash not in seen:
                seen.add(run.hash)
                yield run.hash, {"spec": run.scenario.resolved, "departures": run.scenario.departures}

    write_entries(folder / SPECS, specs())


def _manifest(experiment: Experiment, wanted: list[str], answerer: Answerer) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": "sweep",
        **signature(answerer, experiment.title, experiment.seed),
        "replicates": experiment.replicates,
        "axes": experiment.axes,
        "metrics": experiment.metrics,
        "keep": wanted,
    }


def _instead(experiment: Experiment, answerer: Answerer) -> list[Instead]:
    """Every value of a scenario of the experiment that the engine replaced by its own, each once."""
    found: list[Instead] = []
    for scenario in () if answerer.engine == PACKETS else experiment.scenarios:
        found += [entry for entry in answerer.instead(scenario) if entry not in found]
    return found


class _Todo:
    """The runs of an experiment that are not there yet, each once by its id, although it may be asked for twice."""

    def __init__(self, experiment: Experiment, parts: Parts, tapping: Taps) -> None:
        """Raises SpecError for a place to capture at that there is none of."""
        self._experiment = experiment
        self.file = experiment.path
        """The experiment's."""
        distinct = _distinct(experiment)
        self.all = len(distinct)
        """How many runs there are."""
        captures = [bool(tapping.tapped(run).captures) for run in _one_of_each(experiment)]
        self._captured = any(captures)
        there = np.isin(_ids(experiment)[distinct], parts.usable())
        if self._captured:
            known = parts.stored_captures()
            whole = (self._has_captures(int(index), known, tapping) for index in distinct[there])
            there[there] = np.fromiter(whole, np.bool_, there.sum())
        self.indices = distinct[~there]
        """Of the runs to do."""

    def _has_captures(self, index: int, known: Mapping[str, Mapping[str, str]], tapping: Taps) -> bool:
        run = self._experiment.run(index)
        return not tapping.lack(run.id, tapping.tapped(run), known.get(run.id, {}))

    def runs(self) -> Iterator[ExperimentRun]:
        """Those to do."""
        return (self._experiment.run(int(index)) for index in self.indices)

    def scenarios(self) -> Iterator[Scenario]:
        """Those of the runs to do, each once."""
        cells = dict.fromkeys(int(index) // self._experiment.replicates for index in self.indices)
        return (self._experiment.run(cell * self._experiment.replicates).scenario for cell in cells)


def _do(todo: _Todo, parts: Parts, tapping: Taps, answerer: Answerer, workers: int, progress: Progress) -> None:
    """Do the runs of ``todo``, ``workers`` at a time. Raises RunError at the end if any gave no result."""
    done, total = todo.all - len(todo.indices), todo.all
    if answerer.engine != PACKETS:
        for scenario in todo.scenarios():
            answerer.check(scenario)
    progress(done, total)
    runs, taken, results = todo.runs(), Lock(), SimpleQueue[RunError | None]()
    busy: list[Worker] = []

    def next_run() -> ExperimentRun | None:
        with taken:
            return next(runs, None)

    def work() -> None:
        with ExitStack() as stack:
            one = stack.enter_context(worker()) if answerer.engine == PACKETS else None
            if one:
                busy.append(one)
            while run := next_run():
                error = _do_one(run, parts, tapping, answerer, one)
                results.put(type(error)(f"{error}{_alone(todo.file, run.id)}") if error else None)

    failed: list[RunError] = []
    with ThreadPoolExecutor(workers) as pool:
        try:
            futures = [pool.submit(work) for _ in range(min(workers, len(todo.indices)))]
            for _ in ticks(futures):
                while not results.empty():
                    error = results.get()
                    failed += [error] if error else []
                    done += 1
                    progress(done, total)
        except BaseException:
            with taken:
                runs = iter(())
            answerer.stop()
            for one in busy:
                one.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if failed:
        more = f"\nand {len(failed) - MOST_TOLD} more" if len(failed) > MOST_TOLD else ""
        kind = LawError if all(isinstance(error, LawError) for error in failed) else RunError
        raise kind("\n".join(map(str, failed[:MOST_TOLD])) + more)


def _do_one(run: ExperimentRun, parts: Parts, tapping: Taps, answerer: Answerer, one: Worker | None) -> RunError | None:
    """Do ``run``, by the worker ``one`` if there is one. The error that it ended with, if that is its own."""
    scenario = tapping.tapped(run)
    task = {
        "id": run.id,
        "seed": run.seed,
        "tables": parts.tables,
        "folder": str(parts.folder),
        "most": size_limits.limit(),
    }
    try:
        with tapping.written(run.id, scenario) as captures:
            task["captures"] = None if captures is None else str(captures)
            if one:
                one.do(scenario, task)
            else:
                do(answerer, scenario, task)
    except RunError as error:
        point = ", ".join(f"{axis} = {label}" for axis, label in run.point.items())
        return type(error)(f"run {run.id} (arm {run.arm}, {point}, seed {run.seed}): {error}")
    return None


def _alone(file: str, run: str) -> str:
    return f"; `{shlex.join(['ecnlab', 'sweep', file, '--only', run])}` does it alone"


def _merge(folder: Path, experiment: Experiment, parts: Parts) -> dict[str, Path]:
    """Write the tables of the whole sweep, some runs at a time, and return those of its runs."""
    parts.take_stock()
    values = _Values(list(experiment.metrics))
    with whole_folder(folder / "tables") as scratch, _only_new_garbage():
        blocks = scratch / ".blocks"
        growing = Growing(blocks, most=inf, block_rows=MERGED_ROWS)
        for ids, tables in parts.batches(map(experiment.id, map(int, _distinct(experiment)))):
            frames = {name: rows.collect().rechunk() for name, rows in tables.items() if not parts.is_large(name)}
            values.add(metrics.evaluate_wide(experiment.metrics, _Batch(frames, tables), ids))
            for name, rows in tables.items():
                for piece in [frames[name]] if name in frames else pieces(rows):
                    growing.add(name, piece)
            # What Polars has read is held in circles, which Python breaks too late for a sweep of many runs.
            gc.collect()
        made = [name for name in parts.tables if name in growing.tables]
        _refuse_missing(experiment, made)
        _add_keyed(experiment, values, growing)
        for name in ("runs", "metrics", *made):
            growing.finish(name, scratch / f"{name}.parquet")
        shutil.rmtree(blocks, ignore_errors=True)
        write_json(scratch / MADE, {**parts.made(), "files": digests_of(scratch), "captures": parts.captures()})
    return {name: folder / "tables" / f"{name}.parquet" for name in made}


@contextmanager
def _only_new_garbage() -> Iterator[None]:
    """What is there now is not looked through when garbage is collected: that would take longer than to merge."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Batch:
    """Gives metrics the tables of some runs; one that none of them has is empty."""

    def __init__(self, frames: Mapping[str, pl.DataFrame], tables: Mapping[str, pl.LazyFrame]) -> None:
        self._frames, self._tables = frames, tables

    def __call__(self, name: str) -> pl.LazyFrame:
        if name in self._frames:
            return self._frames[name].lazy()
        if name in self._tables:
            return self._tables[name]
        return pl.LazyFrame(schema={"id": pl.String, **dict.fromkeys(TABLES[name], pl.Null)})


def _refuse_missing(experiment: Experiment, made: Sequence[str]) -> None:
    """Raise FolderError if a metric reads a table that no run has."""
    for name in sorted(metrics.tables(experiment.metrics)):
        if name not in made:
            raise missing_table(name, dict.fromkeys(made))


class _Values:
    """The metrics of runs, as arrays: frames would take several times the memory, and a join of each part its time."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._ids: list[NDArray[np.uint64]] = []
        self._values: list[NDArray[np.float64]] = []

    def add(self, wide: pl.DataFrame) -> None:
        """The next runs: ``id`` and a column for each metric."""
        self._ids.append(numbers(wide["id"]))
        columns = [wide[name].fill_null(float("nan")).to_numpy() for name in self._names]
        self._values.append(np.array(columns).reshape(len(self._names), wide.height))

    def by_id(self) -> Callable[[pl.Series], pl.DataFrame]:
        """Gives the rows of runs by their ids."""
        ids, values = np.concatenate(self._ids), np.concatenate(self._values, axis=1)
        order = np.argsort(ids)

        def of(runs: pl.Series) -> pl.DataFrame:
            places = order[np.searchsorted(ids, numbers(runs), sorter=order)]
            columns = [
                pl.Series(name, found[places]).fill_nan(None) for name, found in zip(self._names, values, strict=True)
            ]
            return pl.DataFrame([runs, *columns])

        return of


def _add_keyed(experiment: Experiment, values: _Values, growing: Growing) -> None:
    """The tables ``runs`` and ``metrics``: ids and ``values`` of runs under the names of the experiment, in its order."""
    of = values.by_id()
    for first in range(0, len(experiment), ROWS_AT_A_TIME):
        keys = run_keys(experiment, first, min(first + ROWS_AT_A_TIME, len(experiment)))
        growing.add("runs", keys)
        rows = metrics.long(of(keys["id"].unique(maintain_order=True)))
        growing.add(
            "metrics", keys.drop("seed", "spec_hash").join(rows, on="id", maintain_order="left_right").drop("id")
        )


def _workers_that_fit(scenarios: Iterable[Scenario]) -> int:
    """How many of the runs, each as large as the largest, the memory holds at a time; a scenario too large is refused when read."""
    available = available_memory()
    largest = max((scenario.memory for scenario in scenarios), default=0)
    return max(1, available // largest) if available and largest else sys.maxsize


def _cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
