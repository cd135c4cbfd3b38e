"""The runs of a sweep that are still to do, and the progress and errors of an executor that does them."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Final, Protocol

from ecnlab._core import Experiment, ExperimentRun, Scenario, available_memory
from ecnlab.base.errors import LawError, RunError
from ecnlab.base.lazy_imports import np
from ecnlab.folder.finished_runs import Parts
from ecnlab.runs.block import Outcome
from ecnlab.runs.captures import Taps
from ecnlab.runs.sweep_runs import one_of_each, run_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

Progress = Callable[[int, int], None]
"""Called with (runs done, runs in all): once at the start and after each run."""

MAX_FAILURES: Final = 10
"""Maximum number of failed runs that are listed; of more, the number is given."""


class Todo:
    """The missing runs of an experiment, each once by its id, even if several points share it."""

    def __init__(
        self,
        experiment: Experiment,
        parts: Parts,
        tapping: Taps,
        usable: NDArray[np.uint64],
        distinct: NDArray[np.intp],
    ) -> None:
        """``usable`` are the ids of finished runs, ``distinct`` the runs wanted. Raises SpecError for an unknown capture place."""
        self._experiment = experiment
        self.file = experiment.path
        """The experiment's."""
        self.all = len(distinct)
        """How many runs there are."""
        captures = [bool(tapping.tapped(run).captures) for run in one_of_each(experiment)]
        self._captured = any(captures)
        there = np.isin(run_ids(experiment, distinct), usable)
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


class Executor(Protocol):
    """Does the runs of a sweep and stores them: on this machine (`local_pool`) or on a cluster (`cluster`)."""

    def outcomes(self, runs: Iterator[ExperimentRun], number: int, /) -> Generator[Outcome, None, None]:
        """Do ``runs``, of which there are ``number``, store them as parts, and yield each as it ends.

        Closing the iterator cancels the runs in progress. Raises Cancelled, OSError, EcnlabError if the sweep cannot
        continue.
        """


def do_runs(todo: Todo, executor: Executor, progress: Progress) -> None:
    """Do the runs of ``todo`` by ``executor``. Raises RunError at the end if any failed."""
    number = len(todo.indices)
    done, failed = todo.all - number, list[RunError]()
    progress(done, todo.all)
    with closing(executor.outcomes(todo.runs(), number)) as outcomes:
        for run, error in outcomes:
            failed += [_named(error, run, todo.file)] if error else []
            done += 1
            progress(done, todo.all)
    if failed:
        more = f"\nand {len(failed) - MAX_FAILURES} more" if len(failed) > MAX_FAILURES else ""
        kind = LawError if all(isinstance(error, LawError) for error in failed) else RunError
        raise kind("\n".join(map(str, failed[:MAX_FAILURES])) + more)


def _named(error: RunError, run: ExperimentRun, file: str) -> RunError:
    """Return ``error`` with its run, and the command that repeats only this run of the experiment ``file``."""
    point = ", ".join(f"{axis} = {label}" for axis, label in run.point.items())
    alone = shlex.join(["ecnlab", "sweep", file, "--only", run.id])
    named = f"run {run.id} (arm {run.arm}, {point}, seed {run.seed}): {error}; `{alone}` repeats only this run"
    return type(error)(named)


def workers_that_fit(scenarios: Iterable[Scenario]) -> int:
    """Return how many runs of the largest size fit into memory at once; larger scenarios are rejected when read."""
    available = available_memory()
    largest = max((scenario.memory for scenario in scenarios), default=0)
    return max(1, available // largest) if available and largest else sys.maxsize


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
