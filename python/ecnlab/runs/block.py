"""A block of runs: runs of one scenario that a process does one after the other, and stores as one part.

How many they are depends on the time that runs of the scenario take: one at first, and of short runs as many as take `SECONDS`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from ecnlab._core import ExperimentRun, LawError, RunError, Scenario
from ecnlab.base import lawcode
from ecnlab.base.types import Column
from ecnlab.engines.frames import frames, stacked_frames
from ecnlab.engines.packets import Packets
from ecnlab.engines.protocol import Answerer
from ecnlab.folder import digests, size_limits
from ecnlab.folder.finished_runs import Parts
from ecnlab.folder.part_files import MAX_RUNS, write_part, write_run
from ecnlab.folder.streamed_tables import Growing
from ecnlab.runs import scenario_files

SECONDS: Final = 0.2
"""Time of a block, in which a worker reports nothing."""

LATE: Final = 5
"""After this many `SECONDS` a block begins no further run: its runs take longer than those before them."""

SHARE: Final = 2
"""Number of blocks of each worker for which runs must be left when a block is taken."""

MAX_ROWS: Final = 1 << 14
"""Rows of the tables of finished runs that wait to be stored."""


@dataclass
class Ended:
    """The end of a block."""

    failed: dict[str, RunError] = field(default_factory=dict)
    """The errors of runs that gave no result, by id."""
    undone: set[str] = field(default_factory=set)
    """Ids of the runs that were not done, or not stored: the process died in another one, or the block took too long."""
    seconds: float = 0.0
    """Time that the process took for the others; 0 if it died."""


class Planned(Protocol):
    """A run that can be in a block."""

    @property
    def id(self) -> str:
        """Name of the run, which no other has."""

    @property
    def seed(self) -> int:
        """Seed of the run."""

    @property
    def scenario(self) -> Scenario:
        """Scenario of the run."""

    @property
    def hash(self) -> str:
        """That of the scenario."""


R = TypeVar("R", bound=Planned)

Outcome: TypeAlias = tuple[ExperimentRun, RunError | None]
"""A run that has ended, and the error if it gave no result."""


def task_of(runs: Iterable[ExperimentRun], parts: Parts) -> dict[str, Any]:
    """Return the request to `do` for ``runs``, without its folders."""
    return {
        "runs": [(run.id, run.seed) for run in runs],
        "tables": parts.tables,
        "most": size_limits.limit(),
        "seconds": LATE * SECONDS,
    }


def is_alone(scenario: Scenario) -> bool:
    """Return whether runs of ``scenario`` are never in a block with others: they have captures or user-defined laws."""
    return bool(scenario.captures or scenario_files.laws(scenario))


def do(answerer: Answerer, scenario: Scenario, task: Mapping[str, Any], begins: Callable[[], object]) -> Ended:
    """Do the ``runs`` of ``task``, as (id, seed), and store them as parts; ``begins`` is called before each run.

    None begins after the ``seconds`` of ``task``, but the first.
    Raises Cancelled, OSError, EcnlabError if the others are not done either; those that have ended are stored.
    """
    began, ended, finished = perf_counter(), Ended(), _Finished(Path(task["folder"]))
    try:
        for place, (run, seed) in enumerate(task["runs"]):
            if place and perf_counter() - began > task["seconds"]:
                ended.undone = {left for left, _ in task["runs"][place:]}
                break
            begins()
            try:
                _do_one(answerer, scenario, task, run, seed, finished)
            except BaseException as error:
                if (own := own_error(error, scenario.path)) is None:
                    raise
                ended.failed[run] = own
    finally:
        finished.store()
    ended.seconds = perf_counter() - began
    return ended


def own_error(error: BaseException, path: str) -> RunError | None:
    """Return ``error`` if it is that of a run of the scenario ``path``, or of its law; None if runs cannot continue."""
    if isinstance(error, RunError):
        return error
    if place := lawcode.place(error):
        failed = LawError(f"{path}: {place}: {line(error)}")
        failed.traceback = lawcode.lines(error)
        return failed
    return None


def line(error: BaseException) -> str:
    """Return ``error`` as the last line of a traceback shows it, if it has no other text."""
    return str(error) or type(error).__name__


def _do_one(
    answerer: Answerer, scenario: Scenario, task: Mapping[str, Any], run: str, seed: int, finished: _Finished
) -> None:
    tables, store = task["tables"], Path(task["folder"])
    folder = Path(task["captures"]) if task["captures"] else None
    with Growing(store / f".{run}.{os.getpid()}.partial", tables, task["most"]) as large:
        events = "packets" in tables
        if isinstance(answerer, Packets):
            columns = answerer.columns(scenario, seed, events=events, captures=folder, blocks=large.take, wanted=tables)
            if not folder and not large.tables:
                finished.add(run, {name: columns[name] for name in tables if name in columns})
                return
            found = frames(columns)
        else:
            found = answerer.tables(scenario, seed, events=events, captures=folder)
        for name in large.tables:
            large.add(name, found[name])
        files = {path.name: digests.of_file(path) for path in sorted(folder.iterdir())} if folder else {}
        write_run(store, run, {name: found[name] for name in tables if name in found}, files, large)


class _Finished:
    """Finished runs that wait to be stored in ``folder`` as one part."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: dict[str, Mapping[str, Mapping[str, Column]]] = {}
        self._shape: list[tuple[str, list[str]]] = []
        self._rows = 0

    def add(self, run: str, tables: Mapping[str, Mapping[str, Column]]) -> None:
        """Add ``run``; store those before it if it has other columns. Raises OSError."""
        shape = [(name, list(columns)) for name, columns in tables.items()]
        if shape != self._shape:
            self.store()
            self._shape = shape
        self._runs[run] = tables
        self._rows += sum(_height(columns) for columns in tables.values())
        if len(self._runs) == MAX_RUNS or self._rows >= MAX_ROWS:
            self.store()

    def store(self) -> None:
        """Store those that wait. Raises OSError."""
        runs, self._runs, self._rows = self._runs, {}, 0
        if runs:
            part = {name: stacked_frames([tables[name] for tables in runs.values()]) for name, _ in self._shape}
            write_part(self._folder, list(runs), part)


def _height(columns: Mapping[str, Column]) -> int:
    """The number of rows of a table; of a long one up to eight times as many."""
    values = next(iter(columns.values()))
    if isinstance(values, tuple):
        return len(values[1] if isinstance(values[0], str) else values[0])
    return len(values)


class Queue(Generic[R]):
    """Runs that several threads take in blocks, in their order."""

    def __init__(self, runs: Iterator[R], number: int, single: Callable[[R], bool]):
        """``number`` is that of ``runs``; runs for which ``single`` is true are not put into blocks."""
        self._runs, self._left, self._single = runs, number, single
        self._back: deque[R] = deque()
        self._alone = set[str]()
        self._seconds: dict[str, float] = {}
        self._lock = Lock()

    @property
    def timed(self) -> bool:
        """A block has ended, so that the time of the next ones can be estimated."""
        return bool(self._seconds)

    def add(self, runs: Sequence[R]) -> None:
        """Add ``runs`` to a queue whose iterator has ended."""
        with self._lock:
            self._back.extend(runs)
            self._left += len(runs)

    def take(self, workers: int) -> list[R]:
        """Return the next block for one of ``workers``; empty if there are no more runs."""
        with self._lock:
            if not (first := self._next()):
                return []
            block, most = [first], self._size(first, workers)
            while len(block) < most and (run := self._next()):
                if run.hash != first.hash or run.id in self._alone:
                    self._back.appendleft(run)
                    break
                block.append(run)
            self._left -= len(block)
            return block

    def _next(self) -> R | None:
        return self._back.popleft() if self._back else next(self._runs, None)

    def note(self, block: Sequence[R], ended: Ended) -> list[tuple[R, RunError | None]]:
        """Learn the time of ``block``, and take its undone runs back; return the others.

        If none is done, each is taken alone from then on: one of them may have prevented the others.
        """
        undone = [run for run in block if run.id in ended.undone]
        with self._lock:
            if ended.seconds:
                self._seconds[block[0].hash] = ended.seconds / (len(block) - len(undone))
            if len(undone) == len(block):
                self._alone |= ended.undone
            self._back.extendleft(reversed(undone))
            self._left += len(undone)
        return [(run, ended.failed.get(run.id)) for run in block if run.id not in ended.undone]

    def end(self) -> None:
        """Leave the remaining runs undone."""
        with self._lock:
            self._runs = iter(())
            self._back.clear()
            self._left = 0

    def _size(self, run: R, workers: int) -> int:
        """Return how many runs a block that begins with ``run`` has."""
        # Another scenario of the experiment probably takes no longer than the slowest one so far.
        seconds = self._seconds.get(run.hash) or max(self._seconds.values(), default=SECONDS)
        most = min(MAX_RUNS, self._left // (SHARE * workers), int(SECONDS / max(seconds, 1e-6)))
        return 1 if most < 2 or run.id in self._alone or self._single(run) else most
