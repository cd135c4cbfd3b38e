"""The sweeps of a quick size that grows (`ecnlab.papers.looking`), and the same size as a part of a full one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TypeAlias

import polars as pl

from ecnlab._core import Experiment
from ecnlab.api.sweep import Sweep
from ecnlab.base.threads import Threads
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.names import MANIFEST
from ecnlab.papers.behind import Keys
from ecnlab.papers.looking import Limited, Seeds, Settled, full_seeds, settle
from ecnlab.papers.measuring import Measured
from ecnlab.papers.paper import Paper, Step
from ecnlab.papers.published import Published
from ecnlab.runs.cluster import Cluster
from ecnlab.runs.sweep import Begun, begun
from ecnlab.runs.sweep_doing import Progress
from ecnlab.runs.sweep_runs import first_of_each_id, run_keys

More: TypeAlias = Mapping[str, tuple[list[int], list[int]]]
"""By step the runs to add: the first so many of each point, less the first ones that are there."""

Add: TypeAlias = Callable[[Measured, More], None]
"""Adds the runs of a look."""


@dataclass(frozen=True, slots=True)
class Doing:
    """Where the runs of a quick size are done and stored; as for `ecnlab.sweep`."""

    folder: Path
    """That of the sweeps, one folder for each step."""
    workers: int | None
    progress: Progress
    cluster: str | Cluster | None


def settled(
    paper: Paper, published: Published, experiments: Mapping[str, Experiment], how: Doing
) -> tuple[Settled, dict[str, Sweep]]:
    """Do the runs of the quick size of ``paper``, whose ``experiments`` are by step. Return it with the sweeps by step.

    Tables of runs are measured as they are there, and merged once, at the end.
    """
    steps = {step.name: step for step in paper.steps if not step.drawn}
    full = {name: max(seeds) for name, seeds in seeds_of_points(paper, published, experiments).items()}
    with ExitStack() as stack:
        growing = _Growing(how, {name: experiments[name].with_replicates(full[name]) for name in steps}, steps, stack)
        found = _settled(paper, published, growing.cells, growing.add)
        return found, growing.finish()


def settled_in(
    paper: Paper, published: Published, experiments: Mapping[str, Experiment], sweeps: Mapping[str, Sweep]
) -> Settled:
    """Return the quick size of ``paper`` that ``sweeps`` of the full size have. ``experiments`` and they are by step."""
    steps = [step for step in paper.steps if not step.drawn]
    cells = {step.name: _cells(experiments[step.name]) for step in steps}

    def add(measured: Measured, more: More) -> None:
        for step, (seeds, without) in more.items():
            measured.add(step, Limited(sweeps[step], cells[step], seeds, without))

    return _settled(paper, published, cells, add)


class _Growing:
    """The sweeps in progress, by step."""

    def __init__(
        self, how: Doing, experiments: Mapping[str, Experiment], steps: Mapping[str, Step], stack: ExitStack
    ) -> None:
        self._progress = how.progress
        self._held = {name: _begin(how.folder / name, one, steps[name]) for name, one in experiments.items()}
        self._sizes = {name: first_of_each_id(one, self._held[name]).size for name, one in experiments.items()}
        self._counts = dict.fromkeys(experiments, 0)
        self._begun: dict[str, Begun] = {}
        self.cells = {name: _cells(one) for name, one in experiments.items()}
        """A run of each point."""
        for name, one in experiments.items():
            sweep = begun(
                one,
                how.folder / name,
                workers=how.workers,
                keep=steps[name].keep,
                cluster=how.cluster,
                seeds=self._held[name],
            )
            self._begun[name] = stack.enter_context(sweep)

    def add(self, measured: Measured, more: More) -> None:
        """Add runs to ``measured``, those of a step while the runs of the next one are done."""
        done: SimpleQueue[str | None] = SimpleQueue()

        def added() -> Iterator[None]:
            while step := done.get():
                measured.add(step, self._begun[step].rows(*more[step]))
                yield

        with Threads[None](lambda: done.put(None)) as threads:
            threads.begin(added())
            for step, (seeds, _) in more.items():
                self._held[step] = list(map(max, self._held[step], seeds))
                self._do(step)
                done.put(step)
            done.put(None)
            for _ in threads.values():
                pass

    def finish(self) -> dict[str, Sweep]:
        """Return the sweeps, merged; two at a time, as the runs that kept the cores busy have ended."""
        waiting = iter(self._begun)

        def finished() -> Iterator[tuple[str, Sweep]]:
            while (name := next(waiting, None)) is not None:
                yield name, self._begun[name].finish(self._held[name])

        with Threads[tuple[str, Sweep]](lambda: list(waiting)) as threads:
            threads.begin(finished())
            threads.begin(finished())
            found = dict(threads.values())
        return {name: found[name] for name in self._begun}

    def _do(self, step: str) -> None:
        def report(done: int, of: int) -> None:
            self._counts[step], self._sizes[step] = done, of
            self._progress(sum(self._counts.values()), sum(self._sizes.values()))

        self._begun[step].do(self._held[step], report)


def _settled(paper: Paper, published: Published, cells: Mapping[str, Keys], add: Add) -> Settled:
    measured = Measured(paper, published)
    there = {name: [0] * keys.height for name, keys in cells.items()}

    def measure(seeds: Seeds, metrics: Collection[str]) -> dict[str, pl.DataFrame]:
        wanted = {name: one.tolist() for name, one in seeds.items()}
        add(measured, {name: (one, there[name]) for name, one in wanted.items() if one != there[name]})
        there.update(wanted)
        return measured.samples(metrics)

    return settle(paper, published, cells, measure)


def _begin(folder: Path, experiment: Experiment, step: Step) -> list[int]:
    """The seeds of each point to begin with, or those that ``folder`` has."""
    least = [step.quick] * (len(experiment) // experiment.replicates)
    held = read_manifest(folder).get("seeds", least) if (folder / MANIFEST).exists() else least
    return list(map(max, least, held)) if len(held) == len(least) else least


def seeds_of_points(paper: Paper, published: Published, experiments: Mapping[str, Experiment]) -> dict[str, list[int]]:
    """As `full_seeds`, from the ``experiments`` by step, of any number of replicates."""
    cells = {step.name: _cells(experiments[step.name]) for step in paper.steps if not step.drawn}
    return {name: seeds.tolist() for name, seeds in full_seeds(paper, published, cells).items()}


def _cells(experiment: Experiment) -> Keys:
    return run_keys(experiment.with_replicates(1))
