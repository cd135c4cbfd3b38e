"""Runs of scenarios with user-defined laws, each in a process, for searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from ecnlab._core import LawError, Scenario
from ecnlab.base.lazy_imports import pl
from ecnlab.base.threads import Threads
from ecnlab.runs.run import run
from ecnlab.runs.sweep_doing import cores
from ecnlab.scenario import metrics as measures
from ecnlab.scenario.metrics import Metrics
from ecnlab.searching.harm import Values

Wanted = tuple[Scenario, int, Metrics]
"""A scenario, a seed, and the metrics of the run."""


class LawFails(LawError):
    """A user-defined law that fails in a run of a search."""

    number: int
    """That of the run."""
    at: Any
    """The point of the space."""
    arm: str
    seed: int


def values(wanted: Sequence[Wanted], workers: int | None = None) -> list[Values]:
    """The metrics of each run, ``workers`` at a time (default: one a core). Raises LawFails, RunError."""
    queue: SimpleQueue[int] = SimpleQueue()
    for number in range(len(wanted)):
        queue.put(number)

    def work() -> Iterator[tuple[int, Values]]:
        while True:
            try:
                number = queue.get_nowait()
            except Empty:
                return
            yield number, _values(number, *wanted[number])

    def stop() -> None:
        while not queue.empty():
            queue.get()

    with Threads[tuple[int, Values]](stop) as threads:
        for _ in range(min(workers or cores(), len(wanted))):
            threads.begin(work())
        found = dict(threads.values())
    return [found[number] for number in range(len(wanted))]


def _values(number: int, scenario: Scenario, seed: int, metrics: Metrics) -> dict[str, Any]:
    try:
        done = run(scenario, seed)
    except LawError as error:
        failed = LawFails(str(error))
        failed.number = number
        raise failed from error
    tables = {name: done.table(name).with_columns(id=pl.lit("run")).lazy() for name in measures.tables(metrics)}
    row: dict[str, Any] = measures.evaluate_wide(metrics, tables.__getitem__, ["run"]).drop("id").row(0, named=True)
    return row
