"""Runs on the workers of a Dask cluster (``docs/cluster.md``).

The client, which is this process, sends each block of runs (`block`) to the scheduler as a task, stores the answer, and
releases the task, so that the scheduler holds no results. It is the only process that writes into the folder of a sweep.
"""

from __future__ import annotations

import atexit
import logging
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias

from ecnlab._core import ExperimentRun, Scenario
from ecnlab.base.errors import EcnlabError, LawError, RunError
from ecnlab.base.extras import install
from ecnlab.base.threads import LOOK_SECONDS, in_another_thread, interruptible
from ecnlab.folder.finished_runs import Parts
from ecnlab.runs import cluster_task
from ecnlab.runs.block import Ended, Outcome, Queue, R, is_alone, task_of
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
    """A connection to a Dask scheduler, for any number of sweeps and batches."""

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


@contextmanager
def connection(cluster: str | Cluster | None, workers: int | None = None) -> Iterator[Cluster | None]:
    """`connected`, if ``cluster`` is an address; any other is yielded."""
    if isinstance(cluster, str):
        with connected(cluster, workers) as made:
            yield made
    else:
        yield cluster


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


class Blocks(ABC, Generic[R]):
    """Does blocks of runs on the workers of ``cluster``."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._most = cluster, cluster.most
        self._threads, self._counted, self._began = 0, float("-inf"), monotonic()
        self._futures: SimpleQueue[Future] = SimpleQueue()
        self._waiting: dict[str, tuple[list[R], Future]] = {}

    @abstractmethod
    def _request(self, block: Sequence[R]) -> dict[str, Any]:
        """Return the request for ``block``. Raises EcnlabError, OSError."""

    @abstractmethod
    def _stored(self, block: Sequence[R], answer: Answer) -> Ended:
        """Store the results in ``answer``. A run with neither result nor error is not done.

        Raises RunError if it is not what was requested.
        """

    @abstractmethod
    def _kept(self) -> str:
        """Return the place of the runs that have ended, after "finished runs are"."""

    def _fit(self, scenarios: Iterable[Scenario]) -> None:
        """Do at most as many runs of ``scenarios`` at a time as fit into memory, if the cluster is on this machine."""
        if self._cluster.local:
            self._most = min(self._most or cores(), workers_that_fit(scenarios))

    def _step(self, queue: Queue[R]) -> list[tuple[R, RunError | None]] | None:
        """Send runs of ``queue``, and return those of a block that has ended; None if none is left.

        The list is empty if no block has ended for a moment.
        """
        while self._has_room([len(block) for block, _ in self._waiting.values()], queue):
            if not (block := queue.take(self._workers())):
                break
            future = self._submit(block)
            self._waiting[future.key] = block, future
            future.add_done_callback(self._futures.put)
        if not self._waiting:
            return None
        if (future := self._next()) is None:
            return []
        block, future = self._waiting.pop(future.key)
        return queue.note(block, self._ended(block, future))

    def _release(self) -> None:
        """Cancel the runs at the scheduler."""
        for _, future in self._waiting.values():
            future.release()
        self._waiting.clear()

    def _has_room(self, sizes: Sequence[int], queue: Queue[R]) -> bool:
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

    def _submit(self, block: Sequence[R]) -> Future:
        request = self._request(block)
        with self._connection():
            return self._cluster.client.submit(cluster_task.answer, request, pure=False)

    def _next(self) -> Future | None:
        """Return a future that has ended; None if none has for a moment."""
        try:
            return self._futures.get(timeout=LOOK_SECONDS)
        except Empty:
            if self._cluster.client.status in ("closing", "closed"):
                raise self._lost() from None
            return None

    def _ended(self, block: Sequence[R], future: Future) -> Ended:
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
            f"the connection to the Dask scheduler at {self._cluster.address} was lost; finished runs are "
            f"{self._kept()}: when a scheduler is there again, the same command continues"
        )


class ClusterPool(Blocks[ExperimentRun]):
    """Does runs of a sweep on the workers of ``cluster``, and stores them in ``parts``."""

    def __init__(self, todo: Todo, parts: Parts, tapping: Taps, cluster: Cluster) -> None:
        """``todo`` states the memory that runs need, which limits how many a cluster on this machine does at a time."""
        super().__init__(cluster)
        self._parts, self._tapping = parts, tapping
        self._fit(todo.scenarios())

    def outcomes(self, runs: Iterator[ExperimentRun], number: int) -> Generator[Outcome, None, None]:
        """Do ``runs``, of which there are ``number``; yield each as it ends."""
        queue = Queue(runs, number, lambda run: is_alone(self._tapping.tapped(run)))
        try:
            while (ended := self._step(queue)) is not None:
                yield from ended
        finally:
            self._release()

    def _request(self, block: Sequence[ExperimentRun]) -> dict[str, Any]:
        return cluster_task.request(self._tapping.tapped(block[0]), task_of(block, self._parts))

    def _kept(self) -> str:
        return f"stored in {self._parts.folder.parent}"

    def _stored(self, block: Sequence[ExperimentRun], answer: Answer) -> Ended:
        from ecnlab.runs import cluster_answer

        ids = [run.id for run in block]
        tapped = self._tapping.tapped(block[0])
        with self._tapping.written(ids[0], tapped) as folder:
            captures = {name: folder / name for name in tapped.captures} if folder else {}
            done = cluster_answer.store(answer, self._parts.folder, ids, self._parts.tables, captures)
            failed = {run: run_error(error, answer.worker) for run, error in answer.errors.items()}
            if folder and failed:
                raise failed[ids[0]]
        return Ended(failed, set(ids) - done - failed.keys(), answer.seconds)


def _error(failure: Failure, worker: str) -> Exception:
    """Return the exception of ``failure``, which kept ``worker`` from doing any run of a block."""
    if failure.error in ("LawError", "RunError"):
        return run_error(failure, worker)
    if failure.error == "OSError":
        return OSError(failure.errno, failure.message, f"worker {worker}")
    return EcnlabError(f"worker {worker}: {failure.message}")


def run_error(failure: Failure, worker: str) -> RunError:
    """Return the exception of a run that ended on ``worker`` with ``failure``."""
    if failure.error != "LawError":
        return RunError(f"{failure.message} (worker {worker})")
    failed = LawError(failure.message)
    failed.traceback = failure.traceback
    return failed
