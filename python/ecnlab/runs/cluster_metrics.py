"""The runs of a batch on the workers of a Dask cluster: what `Pool` does in threads of this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ecnlab._core import Scenario
from ecnlab.runs import cluster_task
from ecnlab.runs.block import LATE, SECONDS, Ended, Queue
from ecnlab.runs.cluster import Blocks, Cluster, run_error

if TYPE_CHECKING:
    from ecnlab.runs.cluster_answer import Answer


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a batch."""

    id: str
    """Its number."""
    seed: int
    scenario: Scenario
    hash: str


class MetricsPool(Blocks[Run]):
    """Does runs on the workers of ``cluster`` and reduces each to its metrics, with the methods of `Pool`."""

    def __init__(self, definitions: dict[str, Any], metrics: Sequence[str], cluster: Cluster) -> None:
        """``metrics`` are the names of those with ``definitions``, in the order of values."""
        super().__init__(cluster)
        self.metrics = metrics
        self.open = 0
        """Number of runs whose results have not been taken."""
        self._definitions = definitions
        self._queue = Queue[Run](iter(()), 0, lambda _run: False)
        self._values: dict[str, list[float | None]] = {}

    def submit(self, first: int, scenario: Scenario, seeds: Sequence[int]) -> None:
        """Add a run for each seed; they are numbered from ``first``."""
        self._fit([scenario])
        self._queue.add([Run(str(number), seed, scenario, scenario.hash) for number, seed in enumerate(seeds, first)])
        self.open += len(seeds)

    def take(self) -> list[tuple[int, list[float | None] | str]]:
        """Return runs that have ended as (number, values or error message); wait for the first, but only for a moment.

        Raises EcnlabError if the connection is lost or a worker has another ecnlab, OSError.
        """
        ended = self._step(self._queue) or []
        self.open -= len(ended)
        return [(int(run.id), str(error) if error else self._values.pop(run.id)) for run, error in ended]

    def cancel(self) -> None:
        """End all runs. The pool cannot be used again."""
        self._queue.end()
        self._release()
        self.open = 0

    def _request(self, block: Sequence[Run]) -> dict[str, Any]:
        task = {"runs": [(run.id, run.seed) for run in block], "metrics": self._definitions, "seconds": LATE * SECONDS}
        return cluster_task.request(block[0].scenario, task)

    def _stored(self, block: Sequence[Run], answer: Answer) -> Ended:
        from ecnlab.runs import cluster_answer

        ids = {run.id for run in block}
        values = cluster_answer.values(answer, ids, len(self.metrics))
        self._values |= values
        failed = {run: run_error(error, answer.worker) for run, error in answer.errors.items()}
        return Ended(failed, ids - values.keys() - failed.keys(), answer.seconds)

    def _kept(self) -> str:
        return "in the cache of runs, if it is used"
