"""The option ``--cluster`` of commands that do many runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from ecnlab.base.types import Engine
from ecnlab.cli import console
from ecnlab.engines.protocol import PACKETS, refuse_on_cluster
from ecnlab.runs.cluster import Cluster, connected

cluster_option = click.option(
    "--cluster",
    "address",
    metavar="ADDRESS",
    help="Do the runs on the workers of this Dask scheduler, such as tcp://HOST:8786; `local` starts one with its workers.",
)


@contextmanager
def cluster_at(address: str | None, workers: int | None, engine: Engine = PACKETS) -> Iterator[Cluster | None]:
    """Connect to the cluster at ``address`` and report its workers and dashboard; None if there is no address.

    Raises EcnlabError, before it connects, if ``engine`` cannot run on a cluster; and as `connected` does.
    """
    if address is None:
        yield None
        return
    refuse_on_cluster(engine)
    with connected(address, workers) as cluster:
        dashboard = f"; dashboard: {cluster.dashboard}" if cluster.dashboard else ""
        number = cluster.workers
        console.complain(f"cluster: {cluster.address}, {number} worker{'' if number == 1 else 's'}{dashboard}")
        yield cluster
