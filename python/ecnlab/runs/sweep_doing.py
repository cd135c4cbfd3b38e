"""The runs of a sweep that are still to do, done by several workers at a time."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from queue import SimpleQueue
from threading import Lock
from typing import Final

from ecnlab._core import Experiment, ExperimentRun, Scenario, available_memory
from ecnlab.base.errors import LawError, RunError
from ecnlab.base.lazy_imports import futures, np
from ecnlab.base.threads import ticks
from ecnlab.engines.protocol import PACKETS, Answerer
from ecnlab.folder import size_limits
from ecnlab.folder.finished_runs import Parts
from ecnlab.runs.captures import Taps
from ecnlab.runs.sweep_runs import first_of_each_id, one_of_each, run_ids
from ecnlab.runs.workers import Worker, do, worker

Progress = Callable[[int, int], None]
"""Called with (runs done, runs in all): once at the start and after each run."""

MOST_TOLD: Final = 10
"""Maximum number of failed runs that are listed; of more, the number is given."""


class Todo:
    """The missing runs of an experiment, each once by its id, even if several points share it."""

    def __init__(self, experiment: Experiment, parts: Parts, tapping: Taps) -> None:
        """Raises SpecError for an unknown capture place."""
        self._experiment = experiment
        self.file = experiment.path
        """The experiment's."""
        distinct = first_of_each_id(experiment)
        self.all = len(distinct)
        """How many runs there are."""
        captures = [bool(tapping.tapped(run).captures) for run in one_of_each(experiment)]
        self._captured = any(captures)
        there = np.isin(run_ids(experiment)[distinct], parts.usable())
        if self._captured:
            known = parts.stored_captures()
            whole = (self._has_captures(int(index), known, tapping) for index in distinct[there])
            there[there] = np.fromiter(whole, np.bool_, there.sum())
        self.indices = distinct[~there]
        """Number of runs to do."""

    def _has_captures(self, index: int, known: Mapping[str, Mapping[str, str]], tapping: Taps) -> bool:
        run = self._experiment.run(index)
        return not tapping.lack(run.id, tapping.tapped(run), known.get(run.id, {}))

    def runs(self) -> Iterator[ExperimentRun]:
        """Return the runs to do."""
        return (self._experiment.run(int(index)) for index in self.indices)

    def scenarios(self) -> Iterator[Scenario]:
        """Return the distinct scenarios of the runs to do."""
        cells = dict.fromkeys(int(index) // self._experiment.replicates for index in self.indices)
        return (self._experiment.run(cell * self._experiment.replicates).scenario for cell in cells)


def do_runs(todo: Todo, parts: Parts, tapping: Taps, answerer: Answerer, workers: int, progress: Progress) -> None:
    """Do the runs of ``todo``, ``workers`` at a time. Raises RunError at the end if any failed."""
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
    with futures.ThreadPoolExecutor(workers) as pool:
        try:
            working = [pool.submit(work) for _ in range(min(workers, len(todo.indices)))]
            for _ in ticks(working):
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
    return f"; `{shlex.join(['ecnlab', 'sweep', file, '--only', run])}` repeats only this run"


def workers_that_fit(scenarios: Iterable[Scenario]) -> int:
    """Return how many runs of the largest size fit into memory at once; larger scenarios are rejected when read."""
    available = available_memory()
    largest = max((scenario.memory for scenario in scenarios), default=0)
    return max(1, available // largest) if available and largest else sys.maxsize


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
