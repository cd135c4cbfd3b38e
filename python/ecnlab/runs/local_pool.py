"""The runs of a sweep on this machine: several at a time, each in a process of its own (or in a kernel of its own)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack
from threading import Lock

from ecnlab._core import ExperimentRun
from ecnlab.base.errors import RunError
from ecnlab.base.threads import Threads
from ecnlab.engines.protocol import PACKETS, Answerer
from ecnlab.folder.finished_runs import Parts
from ecnlab.runs.captures import Taps
from ecnlab.runs.sweep_doing import Outcome, task_of
from ecnlab.runs.workers import Worker, do, worker


class LocalPool:
    """Does runs by ``answerer``, ``workers`` at a time, and stores them in ``parts``."""

    def __init__(self, parts: Parts, tapping: Taps, answerer: Answerer, workers: int) -> None:
        self._parts, self._tapping, self._answerer, self._workers = parts, tapping, answerer, workers

    def outcomes(self, runs: Iterator[ExperimentRun], number: int) -> Generator[Outcome, None, None]:
        """Do ``runs``, of which there are ``number``; yield each as it ends."""
        taken = Lock()
        busy: list[Worker] = []

        def next_run() -> ExperimentRun | None:
            with taken:
                return next(runs, None)

        def stop() -> None:
            nonlocal runs
            with taken:
                runs = iter(())
            self._answerer.stop()
            for one in busy:
                one.stop()

        def work() -> Iterator[Outcome]:
            with ExitStack() as stack:
                one = stack.enter_context(worker()) if self._answerer.engine == PACKETS else None
                if one:
                    busy.append(one)
                while run := next_run():
                    yield run, self._do_one(run, one)

        with Threads[Outcome](stop) as threads:
            for _ in range(min(self._workers, number)):
                threads.begin(work())
            yield from threads.values()

    def _do_one(self, run: ExperimentRun, one: Worker | None) -> RunError | None:
        """Do ``run``, by the worker ``one`` if there is one. Return the error that it ended with, if that is its own."""
        scenario = self._tapping.tapped(run)
        task = {**task_of(run, self._parts), "folder": str(self._parts.folder)}
        try:
            with self._tapping.written(run.id, scenario) as captures:
                task["captures"] = None if captures is None else str(captures)
                if one:
                    one.do(scenario, task)
                else:
                    do(self._answerer, scenario, task)
        except RunError as error:
            return error
        return None
