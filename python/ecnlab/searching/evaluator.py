"""The runs of a search: metrics of scenarios, each with one seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path as Folder
from types import TracebackType
from typing import Any, Self

from ecnlab._core import Scenario, SpecError
from ecnlab.runs.batch import Batch
from ecnlab.runs.cluster import Cluster
from ecnlab.runs.scenario_files import laws
from ecnlab.scenario.built import toml_text
from ecnlab.scoring.sheet import SUBJECT, Kind
from ecnlab.scoring.subject import Subject
from ecnlab.searching import harm, isolated, queue_space, sender_space
from ecnlab.searching.choices import Choices, Genes
from ecnlab.searching.harm import Values
from ecnlab.searching.path import SPACE, Path


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point of the space."""

    genes: Genes
    options: Mapping[str, int]
    """The number of options of each of its choices."""
    path: Path
    queue: str
    """That of a sender's bottleneck."""


class Space:
    """The default space of a kind of law, with a law and the others that it is compared with, by arm; the first is `SUBJECT`."""

    def __init__(self, kind: Kind, laws: Mapping[str, Subject]) -> None:
        self.kind, self.laws = kind, laws

    def candidate(self, choices: Choices) -> Candidate:
        """The point that ``choices`` make."""
        path, queue = (queue_space.draw(choices), "") if self.kind == "aqm" else sender_space.draw(choices)
        return Candidate(dict(choices.made), dict(choices.options), path, queue)

    @property
    def place(self) -> str:
        """The key that has the name of the law."""
        return "link.bottleneck.queue" if self.kind == "aqm" else f"flow.{sender_space.SUBJECT}.tcp"

    def text(self, one: Candidate, arm: str = SUBJECT) -> str:
        """The scenario of ``one`` with the law of ``arm``, as TOML."""
        return toml_text(self._tables(one, {SUBJECT: self.laws[arm]}))

    def tables(self, one: Candidate, folder: Folder) -> dict[str, Any]:
        """The scenario of ``one`` in ``folder`` with the laws of all arms, of which that of `SUBJECT` is in use."""
        return self._tables(one, {arm: law.seen_from(folder) for arm, law in self.laws.items()})

    def _tables(self, one: Candidate, laws: Mapping[str, Subject]) -> dict[str, Any]:
        path = one.path
        title = f"{laws[SUBJECT].label}: {'; '.join(path.words)}"
        if self.kind == "aqm":
            return path.tables({arm: law.table(path.limit) for arm, law in laws.items()}, SUBJECT, title)
        queue = {**SPACE["queue"][one.queue], "limit": f"{path.limit} packets"}
        tables = path.tables({"bottleneck": queue}, "bottleneck", title)
        tables["tcp"] = {**{arm: law.parameters for arm, law in laws.items()}, **tables["tcp"]}
        return tables


class Evaluator:
    """Does runs of points of ``space``, some at a time, and returns their metrics."""

    def __init__(self, space: Space, workers: int | None = None, cluster: Cluster | None = None) -> None:
        self._space, self._workers, self._cluster = space, workers, cluster
        self._batches: dict[tuple[str, ...], Batch] = {}
        self._stack = ExitStack()

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
                scenario = Scenario("search.toml", self._space.text(one, arm))
            except SpecError:  # such as a shaper that is faster than a drawn link
                continue
            groups = tuple(sorted({flow.get("group", name) for name, flow in one.path.flows.items()}))
            if laws(scenario):
                alone[number] = scenario, seed, harm.metrics(self._space.kind, groups)
            else:
                batch = self._batch(scenario, groups)
                placed[batch, batch.add(scenario, [seed]).start] = number
        try:
            own = isolated.values(list(alone.values()), self._workers)
        except isolated.LawFails as error:
            error.at, _arm, error.seed = wanted[list(alone)[error.number]]
            raise
        for number, values in zip(alone, own, strict=True):
            found[number] = values
        for batch in self._batches.values():
            for run, _seed, values in batch.results():
                found[placed[batch, run]] = values
        return found

    def _batch(self, scenario: Scenario, groups: tuple[str, ...]) -> Batch:
        """The batch of scenarios with ``groups`` of flows, which have metrics of their own."""
        if groups not in self._batches:
            metrics = harm.metrics(self._space.kind, groups)
            batch = Batch(scenario, metrics, threads=self._workers, cluster=self._cluster, cache=False)
            self._batches[groups] = self._stack.enter_context(batch)
        return self._batches[groups]
