"""A Dask scheduler and workers in this process, which no other process can reach: they have no port."""

from __future__ import annotations

from typing import Any, Final

from distributed import Scheduler, SpecCluster, Worker

ADDRESS: Final = "inproc://"
"""Dask's transport between threads of one process."""


class _WithoutHttp:
    """A server of Dask that does not start its HTTP server, which Dask starts even if there is no dashboard."""

    def start_http_server(self, *_arguments: object, **_options: object) -> None:
        """Start nothing."""


class _Scheduler(_WithoutHttp, Scheduler):
    """Dask's scheduler, without HTTP."""


class _Worker(_WithoutHttp, Worker):
    """Dask's worker, without HTTP."""


def started(workers: int) -> Any:
    """Start a scheduler and ``workers`` with one thread each; return the cluster, a context manager that ends them.

    A worker's run is done by a process of its own (`workers.Worker`), which is connected by pipes.
    """
    scheduler = {"cls": _Scheduler, "options": {"protocol": ADDRESS, "dashboard": False}}
    worker = {
        "cls": _Worker,
        "options": {"protocol": ADDRESS, "nthreads": 1, "memory_limit": 0, "dashboard": False},
    }
    cluster: Any = SpecCluster
    return cluster(scheduler=scheduler, workers=dict.fromkeys(range(workers), worker), silence_logs=False)
