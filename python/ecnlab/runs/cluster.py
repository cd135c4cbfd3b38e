"""The runs of a sweep on the workers of a Dask cluster (``docs/cluster.md``).

The client, which is this process, is the only one that writes into the sweep's folder. It sends each run to the scheduler
as a task, stores the answer as a local run is stored, and releases the task, so that the scheduler holds no results.
"""

from __future__ import annotations

import atexit
import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ecnlab._core import ExperimentRun
from ecnlab.base.errors import EcnlabError, LawError, RunError
from ecnlab.base.extras import install
from ecnlab.base.threads import LOOK_SECONDS, in_another_thread, interruptible
from ecnlab.folder.finished_runs import Parts
from ecnlab.runs import cluster_task
from ecnlab.runs.block import Outcome, task_of
from ecnlab.runs.captures import Taps
from ecnlab.runs.sweep_doing import Todo, cores, workers_that_fit

if TYPE_CHECKING:
    from ecnlab.runs.cluster_answer import Answer

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
        self._threads, self._counted = 0, float("-inf")

    def outcomes(self, runs: Iterator[ExperimentRun], _number: int) -> Generator[Outcome, None, None]:
        """Do ``runs``; yield each as it ends."""
        ended: SimpleQueue[Future] = SimpleQueue()
        waiting: dict[str, tuple[ExperimentRun, Future]] = {}
        try:
            while True:
                for run in islice(runs, max(0, self._ahead() - len(waiting))):
                    future = self._submit(run)
                    waiting[future.key] = run, future
                    future.add_done_callback(ended.put)
                if not waiting:
                    return
                if future := self._next(ended):
                    run, future = waiting.pop(future.key)
                    yield run, self._outcome(run, future)
        finally:
            for _, future in waiting.values():
                future.release()

    def _ahead(self) -> int:
        """Return how many runs may be at the scheduler."""
        if self._most is not None:
            return self._most
        if monotonic() - self._counted > COUNT_SECONDS:
            with self._connection():
                self._threads = sum(interruptible(self._cluster.client.nthreads).values())
            self._counted = monotonic()
        return max(MIN_AHEAD, 2 * self._threads)

    def _submit(self, run: ExperimentRun) -> Future:
        request = cluster_task.request(self._tapping.tapped(run), task_of([run], self._parts))
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

    def _outcome(self, run: ExperimentRun, future: Future) -> RunError | None:
        """Store the answer of ``run``. Return the error that it ended with, if that is its own."""
        from ecnlab.runs import cluster_answer, cluster_comm

        if future.status in ("cancelled", "lost"):
            raise self._lost()
        try:
            with self._connection():
                data: object = interruptible(future.result)
            answer = cluster_answer.read(data)
            if answer.failed:
                return RunError(f"its worker failed with {answer.failed}")
            if answer.refused:
                raise cluster_task.refusal(answer.worker, answer.refused)
            if answer.error:
                return _own_error(answer)
            self._store(run, answer)
        except cluster_comm.TaskFailed as error:
            return RunError(str(error))
        except RunError as error:
            return error
        finally:
            future.release()
        return None

    def _store(self, run: ExperimentRun, answer: Answer) -> None:
        from ecnlab.runs import cluster_answer

        tapped = self._tapping.tapped(run)
        with self._tapping.written(run.id, tapped) as folder:
            captures = {name: folder / name for name in tapped.captures} if folder else {}
            cluster_answer.store(answer, self._parts.folder, run.id, self._parts.tables, captures)

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


def _own_error(answer: Answer) -> RunError:
    """Return the error of an answer, if it is that of its run; raise it if the sweep cannot continue."""
    message, worker = answer.message, answer.worker
    if answer.error == "LawError":
        failed = LawError(message)
        failed.traceback = answer.traceback
        return failed
    if answer.error == "RunError":
        return RunError(f"{message} (worker {worker})")
    if answer.error == "OSError":
        raise OSError(answer.errno, message, f"worker {worker}")
    raise EcnlabError(f"worker {worker}: {message}")
