"""The runs of a sweep on the workers of a Dask cluster (``docs/cluster.md``).

The client, which is this process, is the only one that writes into the sweep's folder. It sends each block of runs (`block`)
to the scheduler as a task, stores the answer as a local block is stored, and releases the task, so that the scheduler holds
no results.
"""

from __future__ import annotations

import atexit
import logging
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ecnlab._core import ExperimentRun
from ecnlab.base.errors import EcnlabError, LawError, RunError
from ecnlab.base.extras import install
from ecnlab.base.threads import LOOK_SECONDS, in_another_thread, interruptible
from ecnlab.folder.finished_runs import Parts
from ecnlab.runs import cluster_task
from ecnlab.runs.block import Ended, Outcome, Queue, is_alone, task_of
from ecnlab.runs.captures import Taps
from ecnlab.runs.sweep_doing import Todo, cores, workers_that_fit

if TYPE_CHECKING:
    from ecnlab.runs.cluster_answer import Answer, Failure

Client: TypeAlias = Any
"""`distributed.Client`; most of its methods have no types."""

Future: TypeAlias = Any
"""`distributed.Future`."""

LOCAL: Final = "local"
"""Address that stands for a scheduler and workers in this process, which are started and closed."""

SCHEMES: Final = ("tcp://", "tls://")
"""Transports to a scheduler."""

CONNECT_SECONDS: Final = 10
"""Time to find the scheduler, and to stop a local cluster; one that takes longer ends with this process."""

MIN_AHEAD: Final = 100
"""Minimum number of runs that wait at the scheduler or are in progress: an adaptive cluster grows by them."""

LEARN_SECONDS: Final = 5.0
"""Time in which the scheduler has fewer runs until a block has ended, whose time states how many runs a block has."""

COUNT_SECONDS: Final = 1.0
"""Interval at which the threads of the workers are counted."""


class Cluster:
    """A connection to a Dask scheduler, for any number of sweeps."""

    def __init__(self, client: Client, address: str, dashboard: str | None, most: int | None, *, local: bool) -> None:
        self.client = client
        self.address = address
        self.dashboard = dashboard
        """URL of the scheduler's dashboard; None if it has none."""
        self.most = most
        """Maximum number of runs at a time; None if all workers are used."""
        self.local = local
        """All workers are on this machine, and have been started for this connection."""

    @property
    def workers(self) -> int:
        """Number of workers that the scheduler has at the moment."""
        return len(interruptible(self.client.nthreads))


@contextmanager
def connected(address: str, workers: int | None = None) -> Iterator[Cluster]:
    """Connect to the scheduler at ``address``, or start a cluster of processes on this machine for `LOCAL`.

    ``workers`` limits the number of runs at a time (default: all workers; a local cluster has one a core). Raises EcnlabError
    if Dask distributed is not installed, or no scheduler answers.
    """
    if find_spec("distributed") is None:
        raise EcnlabError(
            f"`--cluster` needs Dask distributed, which is not installed: {install('distributed')} adds it"
        )
    if address != LOCAL and not address.startswith(SCHEMES):
        raise EcnlabError(
            f"{address!r} is not the address of a Dask scheduler: write {LOCAL!r}, or an address such as "
            f"tcp://10.0.0.1:8786 or tls://10.0.0.1:8786, which the scheduler prints when it starts"
        )
    opened = _local(workers or cores()) if address == LOCAL else _client(address)
    with in_another_thread(opened, CONNECT_SECONDS, _give_up) as client:
        local = address == LOCAL
        yield Cluster(client, address, None if local else _dashboard(client), workers, local=local)


def _give_up() -> None:
    """Do not wait for clusters when the process ends, as Dask does: its workers end with it."""
    atexit.unregister(import_module("distributed.deploy.spec").close_clusters)


@contextmanager
def _local(workers: int) -> Iterator[Client]:
    """Start a scheduler and ``workers`` in threads of this process; yield their client."""
    local: Any = import_module("ecnlab.runs.cluster_local")
    with _quiet(), local.started(workers) as started, _client(started.scheduler_address) as client:
        yield client


@contextmanager
def _client(address: str) -> Iterator[Client]:
    distributed: Any = import_module("distributed")
    comm: Any = import_module("ecnlab.runs.cluster_comm")
    with _quiet():
        try:
            # Directly from a worker, data would come over a transport of Dask, which unpickles.
            client = distributed.Client(
                comm.guarded(address), timeout=CONNECT_SECONDS, set_as_default=False, direct_to_workers=False
            )
        except (OSError, ValueError) as error:
            raise EcnlabError(
                f"no Dask scheduler answers at {address} ({error}): start one with `dask scheduler`, and workers with "
                f"`dask worker {address}`; then run the same command again"
            ) from error
        try:
            yield client
        finally:
            client.close(timeout=CONNECT_SECONDS)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the log of distributed from standard error: `ClusterPool` reports what matters."""
    loggers = [logging.getLogger(name) for name in ("asyncio", "tornado.application", "distributed", *_children())]
    levels = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for one, level in zip(loggers, levels, strict=True):
            one.setLevel(level)


def _children() -> list[str]:
    return [name for name in logging.root.manager.loggerDict if name.startswith("distributed.")]


def _dashboard(client: Client) -> str | None:
    """The address of the dashboard, which exists if the scheduler has Bokeh."""
    try:
        bokeh = interruptible(lambda: client.run_on_scheduler(cluster_task.bokeh))
        link = str(client.dashboard_link)
    except Exception:  # a scheduler may have neither an HTTP server nor this Python
        return None
    return link if bokeh == b"installed" and link.isprintable() else None


class ClusterPool:
    """Does runs on the workers of ``cluster``, and stores them in ``parts``."""

    def __init__(self, todo: Todo, parts: Parts, tapping: Taps, cluster: Cluster) -> None:
        """``todo`` states the memory that runs need, which limits how many a cluster on this machine does at a time."""
        self._parts, self._tapping, self._cluster = parts, tapping, cluster
        self._most = cluster.most
        if cluster.local:
            self._most = min(cluster.most or cores(), workers_that_fit(todo.scenarios()))
        self._threads, self._counted, self._began = 0, float("-inf"), monotonic()

    def outcomes(self, runs: Iterator[ExperimentRun], number: int) -> Generator[Outcome, None, None]:
        """Do ``runs``, of which there are ``number``; yield each as it ends."""
        queue = Queue(runs, number, lambda run: is_alone(self._tapping.tapped(run)))
        ended: SimpleQueue[Future] = SimpleQueue()
        waiting: dict[str, tuple[list[ExperimentRun], Future]] = {}
        try:
            while True:
                while self._has_room([len(block) for block, _ in waiting.values()], queue):
                    if not (block := queue.take(self._workers())):
                        break
                    future = self._submit(block)
                    waiting[future.key] = block, future
                    future.add_done_callback(ended.put)
                if not waiting:
                    return
                if future := self._next(ended):
                    block, future = waiting.pop(future.key)
                    yield from queue.note(block, self._ended(block, future))
        finally:
            for _, future in waiting.values():
                future.release()

    def _has_room(self, sizes: Sequence[int], queue: Queue) -> bool:
        """Return whether another block may be at the scheduler, besides those of these ``sizes``."""
        if self._most is not None:
            return len(sizes) < self._most
        learns = not queue.timed and monotonic() - self._began < LEARN_SECONDS
        return len(sizes) < 2 * self._workers() or (sum(sizes) < MIN_AHEAD and not learns)

    def _workers(self) -> int:
        """Return how many blocks the cluster does at a time; at least one."""
        if self._most is None and monotonic() - self._counted > COUNT_SECONDS:
            with self._connection():
                self._threads = sum(interruptible(self._cluster.client.nthreads).values())
            self._counted = monotonic()
        return self._most or max(1, self._threads)

    def _submit(self, block: Sequence[ExperimentRun]) -> Future:
        request = cluster_task.request(self._tapping.tapped(block[0]), task_of(block, self._parts))
        with self._connection():
            return self._cluster.client.submit(cluster_task.answer, request, pure=False)

    def _next(self, ended: SimpleQueue[Future]) -> Future | None:
        """Return a future that has ended; None if none has for a moment."""
        try:
            return ended.get(timeout=LOOK_SECONDS)
        except Empty:
            if self._cluster.client.status in ("closing", "closed"):
                raise self._lost() from None
            return None

    def _ended(self, block: Sequence[ExperimentRun], future: Future) -> Ended:
        """Store the answer to ``block``. Of several runs none is done if it is an error, or not what was requested."""
        from ecnlab.runs import cluster_answer, cluster_comm

        undone = Ended(undone={run.id for run in block})
        try:
            if future.status == "cancelled":
                raise self._lost()
            if future.status == "lost":  # with its worker, which had done the block
                return undone
            with self._connection():
                data: object = interruptible(future.result)
            answer = cluster_answer.read(data)
            if answer.refused:
                raise cluster_task.refusal(answer.worker, answer.refused)
            if answer.failed:
                raise RunError(f"its worker failed with {answer.failed}")
            if answer.error:
                raise _error(answer.error, answer.worker)
            return self._stored(block, answer)
        except (RunError, cluster_comm.TaskFailed) as error:
            if len(block) > 1:
                return undone
            return Ended({block[0].id: error if isinstance(error, RunError) else RunError(str(error))})
        finally:
            future.release()

    def _stored(self, block: Sequence[ExperimentRun], answer: Answer) -> Ended:
        """Store the results in ``answer``. A run with neither result nor error is not done."""
        from ecnlab.runs import cluster_answer

        ids = [run.id for run in block]
        tapped = self._tapping.tapped(block[0])
        with self._tapping.written(ids[0], tapped) as folder:
            captures = {name: folder / name for name in tapped.captures} if folder else {}
            done = cluster_answer.store(answer, self._parts.folder, ids, self._parts.tables, captures)
            failed = {run: _run_error(error, answer.worker) for run, error in answer.errors.items()}
            if folder and failed:
                raise failed[ids[0]]
        return Ended(failed, set(ids) - done - failed.keys(), answer.seconds)

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """Raise EcnlabError if the connection to the scheduler is lost in the block."""
        from asyncio import CancelledError
        from concurrent import futures

        try:
            yield
        except (OSError, CancelledError, futures.CancelledError) as error:
            raise self._lost() from error

    def _lost(self) -> EcnlabError:
        return EcnlabError(
            f"the connection to the Dask scheduler at {self._cluster.address} was lost; finished runs are stored in "
            f"{self._parts.folder.parent}: when a scheduler is there again, the same command continues"
        )


def _error(failure: Failure, worker: str) -> Exception:
    """Return the exception of ``failure``, which kept ``worker`` from doing any run of a block."""
    if failure.error in ("LawError", "RunError"):
        return _run_error(failure, worker)
    if failure.error == "OSError":
        return OSError(failure.errno, failure.message, f"worker {worker}")
    return EcnlabError(f"worker {worker}: {failure.message}")


def _run_error(failure: Failure, worker: str) -> RunError:
    """Return the exception of a run that ended on ``worker`` with ``failure``."""
    if failure.error != "LawError":
        return RunError(f"{failure.message} (worker {worker})")
    failed = LawError(failure.message)
    failed.traceback = failure.traceback
    return failed
