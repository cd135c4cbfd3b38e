"""The runs of settings, and the value of each target in each run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ecnlab._core import Scenario, SpecError
from ecnlab.inference.prior import Array, Prior
from ecnlab.inference.question import Cell, Question, Target, overrides
from ecnlab.runs.batch import Batch, Values
from ecnlab.runs.cluster import Cluster
from ecnlab.runs.sweep_doing import Progress
from ecnlab.scenario import metrics as measures


@dataclass(frozen=True, slots=True)
class Done:
    """Settings and what their runs gave."""

    settings: Array
    """A row for each setting, a column for each unknown."""
    values: Array
    """By setting, target and seed; NaN where a quantity is not defined, and for a setting that is no valid scenario."""
    invalid: Sequence[str]
    """For each setting the reason why it is no valid scenario; "" if it is one."""

    def __add__(self, other: Done) -> Done:
        """Return both after each other."""
        return Done(
            np.concatenate([self.settings, other.settings]),
            np.concatenate([self.values, other.values]),
            [*self.invalid, *other.invalid],
        )


def do(
    question: Question,
    settings: Array,
    seeds: Sequence[int],
    *,
    threads: int | None,
    cache: bool,
    progress: Progress,
    cluster: Cluster | None,
) -> Done:
    """Do the runs of ``settings``, of the first with the first of ``seeds``, each as many as the question has.

    The arms of a setting share its seeds; settings do not, so that their errors are independent. Raises as `Batch` does.
    """
    n, cells = question.file.seeds, question.needed()
    metrics = measures.needed(question.experiment.metrics, [one.metric for one in question.file.target.values()])
    invalid: list[str] = []
    places: list[tuple[int, Cell, int]] = []
    found: list[dict[Cell, list[Values]]] = []
    with Batch(question.cells[cells[0]], metrics, threads=threads, cache=cache, cluster=cluster) as batch:
        for index, setting in enumerate(settings):
            scenarios, why = _scenarios(question, cells, setting)
            invalid.append(why)
            found.append({cell: [{}] * n for cell in scenarios})
            for cell, scenario in scenarios.items():
                batch.add(scenario, seeds[index * n : (index + 1) * n])
                places += [(index, cell, k) for k in range(n)]
        progress(0, len(places))
        for done, (run, _, values) in enumerate(batch.results(), 1):
            index, cell, k = places[run]
            found[index][cell][k] = values
            progress(done, len(places))
    targets = list(question.file.target.values())
    quantities = [[_quantity(question, one, runs, n) for one in targets] for runs in found]
    return Done(settings, np.array(quantities, dtype=float).reshape(len(settings), len(targets), n), invalid)


def _scenarios(question: Question, cells: Sequence[Cell], setting: Array) -> tuple[dict[Cell, Scenario], str]:
    """Return the scenario of each cell with ``setting``; none, and the reason, if one of them is invalid."""
    try:
        return {cell: question.cells[cell].with_overrides(dict(_keys(question, cell, setting))) for cell in cells}, ""
    except SpecError as error:
        return {}, str(error)


def _keys(question: Question, cell: Cell, setting: Array) -> Mapping[str, object]:
    """Return the keys that ``setting`` sets in ``cell``."""
    unknowns, prior = question.file.unknown, Prior(question.file.unknown)
    here = {name: one for name, one in unknowns.items() if not one.where or cell[1] in question.points(one.where)}
    places = dict(zip(unknowns, setting, strict=True))
    values = {name: prior.value(name, places[name]) for name, one in here.items() if one.range}
    return overrides(here, values, {name: int(places[name]) for name, one in here.items() if not one.range})


def _quantity(question: Question, target: Target, runs: Mapping[Cell, Sequence[Values]], n: int) -> list[float]:
    """Return the value of ``target`` for each seed of a setting."""
    points = question.points(target.where)

    def mean(arm: str, k: int) -> float:
        if not runs:
            return float("nan")
        values = [runs[arm, point][k][target.metric] for point in points]
        return float("nan") if None in values else sum(v for v in values if v is not None) / len(values)

    return [_READINGS[target.reading](mean(target.arm, k), mean(target.against or target.arm, k)) for k in range(n)]


def _ratio(first: float, second: float) -> float:
    return first / second if second else float("nan")


_READINGS: Mapping[str, Callable[[float, float], float]] = {
    "value": lambda first, _: first,
    "difference": lambda first, second: first - second,
    "ratio": _ratio,
    "gain": lambda first, second: _ratio(first, second) - 1.0,
}
