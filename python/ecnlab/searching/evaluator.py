"""The runs of a search: metrics of scenarios, each with one seed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from ecnlab._core import Scenario, SpecError
from ecnlab.runs.batch import Batch
from ecnlab.runs.cluster import Cluster
from ecnlab.runs.scenario_files import laws
from ecnlab.scenario.metrics import Metrics
from ecnlab.searching import isolated
from ecnlab.searching.harm import Values
from ecnlab.searching.space import Candidate, Space


class Evaluator:
    """Does runs of points of ``space``, some at a time, and returns their metrics."""

    def __init__(self, space: Space, workers: int | None = None, cluster: Cluster | None = None) -> None:
        self._space, self._workers, self._cluster = space, workers, cluster
        self._batches: dict[tuple[str, ...], Batch] = {}
        self._stack = ExitStack()
        self.refused: SpecError | None = None
        """The first refusal of a point by its scenario."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def values(self, wanted: Sequence[tuple[Candidate, str, int]]) -> list[Values]:
        """The metrics of each point with the law of an arm and a seed; none where the law does not fit the path.

        Raises LawFails for a user-defined law that fails, RunError.
        """
        found: list[Values] = [{}] * len(wanted)
        placed: dict[tuple[Batch, int], int] = {}
        alone: dict[int, isolated.Wanted] = {}
        for number, (one, arm, seed) in enumerate(wanted):
            try:
                scenario = self._space.scenario(one, arm)
            except SpecError as error:  # such as a shaper that is faster than a drawn link
                self.refused = self.refused or error
                continue
            if laws(scenario):
                alone[number] = scenario, seed, self._space.metrics(one)
            else:
                batch = self._batch(scenario, self._space.metrics(one))
                placed[batch, batch.add(scenario, [seed]).start] = number
        try:
            own = isolated.values(list(alone.values()), self._workers)
        except isolated.LawFails as error:
            error.at, error.arm, error.seed = wanted[list(alone)[error.number]]
            raise
        for number, values in zip(alone, own, strict=True):
            found[number] = values
        for batch in self._batches.values():
            for run, _seed, values in batch.results():
                found[placed[batch, run]] = values
        return found

    def _batch(self, scenario: Scenario, metrics: Metrics) -> Batch:
        """The batch of scenarios with ``metrics``."""
        names = tuple(metrics)
        if names not in self._batches:
            batch = Batch(scenario, metrics, threads=self._workers, cluster=self._cluster, cache=False)
            self._batches[names] = self._stack.enter_context(batch)
        return self._batches[names]
