"""The runs of a sweep on this machine: by several processes at a time, or each in a kernel of its own."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack

from ecnlab._core import ExperimentRun
from ecnlab.base.errors import RunError
from ecnlab.base.threads import Threads
from ecnlab.engines.protocol import PACKETS, Answerer
from ecnlab.folder.finished_runs import Parts
from ecnlab.runs.block import Ended, Outcome, Queue, do, is_alone, task_of
from ecnlab.runs.captures import Taps
from ecnlab.runs.workers import Worker, worker


class LocalPool:
    """Does runs by ``answerer``, ``workers`` at a time, and stores them in ``parts``."""

    def __init__(self, parts: Parts, tapping: Taps, answerer: Answerer, workers: int) -> None:
        self._parts, self._tapping, self._answerer, self._workers = parts, tapping, answerer, workers

    def outcomes(self, runs: Iterator[ExperimentRun], number: int) -> Generator[Outcome, None, None]:
        """Do ``runs``, of which there are ``number``; yield each as it ends."""
        queue = Queue(runs, number, self._is_single)
        busy: list[Worker] = []

        def stop() -> None:
            queue.end()
            self._answerer.stop()
            for one in busy:
                one.stop()

        def work() -> Iterator[Outcome]:
            with ExitStack() as stack:
                one = stack.enter_context(worker()) if self._answerer.engine == PACKETS else None
                if one:
                    busy.append(one)
                while block := queue.take(self._workers):
                    yield from queue.note(block, self._do(block, one))

        with Threads[Outcome](stop) as threads:
            for _ in range(min(self._workers, number)):
                threads.begin(work())
            yield from threads.values()

    def _is_single(self, run: ExperimentRun) -> bool:
        """Return whether ``run`` is never in a block with others: it needs a kernel, or see `block.is_alone`."""
        return self._answerer.engine != PACKETS or is_alone(self._tapping.tapped(run))

    def _do(self, block: list[ExperimentRun], one: Worker | None) -> Ended:
        """Do ``block``, by the worker ``one`` if there is one."""
        scenario = self._tapping.tapped(block[0])
        task = {**task_of(block, self._parts), "folder": str(self._parts.folder)}
        try:
            with self._tapping.written(block[0].id, scenario) as captures:
                task["captures"] = None if captures is None else str(captures)
                ended = one.do_block(scenario, task) if one else do(self._answerer, scenario, task, lambda: None)
                if captures and ended.failed:
                    raise ended.failed[block[0].id]
        except RunError as error:
            return Ended(dict.fromkeys((run.id for run in block), error))
        return ended
