"""The FIFO with the subject's own mean delay: one more arm of a scenario of queues, found by bisection over its limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Final

from ecnlab._core import Experiment
from ecnlab._core import Scenario as ScenarioFile
from ecnlab.base.types import Engine
from ecnlab.engines.protocol import PACKETS
from ecnlab.runs.batch import Batch
from ecnlab.scoring.building import Subjects, metrics, overrides, scenario_file, scenario_text
from ecnlab.scoring.judging import Samples
from ecnlab.scoring.sheet import SUBJECT, Case, Scenario, Sheet, Size
from ecnlab.scoring.subject import built_in

FIFO: Final = "fifo"
"""The arm of the FIFO: a value of `Criterion.against`."""

DELAY: Final = "delay_mean_s"

Values = Mapping[str, Sequence[float | None]]
"""Values by measure, one for each run."""


def why_not(scenario: Scenario, engine: Engine) -> str:
    """Why ``engine`` has no FIFO for ``scenario``; "" if it has, or if none is needed."""
    wanted = bool(scenario.equal_delay) and engine != PACKETS
    return "the FIFO of equal delay is searched for in the simulator only" if wanted else ""


def with_fifo(
    sheet: Sheet, scenario: Scenario, question: Experiment, values: Samples, size: Size, threads: int | None = None
) -> tuple[Scenario, Samples]:
    """``scenario`` with the limits of the FIFO in its text, and ``values`` with those of the FIFO.

    The FIFO is the one whose mean delay over the seeds of a point, of which a drawn path has one, is nearest to the subject's; its
    limit is at most that of the subject. ``question`` is the experiment of ``scenario``, whose seeds the FIFO has too; ``threads``
    runs at a time (default: one a core). Raises RunError.
    """
    seeds = [seed for _, seed in sorted({(run.replicate, run.seed) for run in question.runs})]
    arms = dict.fromkeys(sheet.arms, built_in(scenario.equal_delay))
    file = ScenarioFile(scenario_file(scenario), scenario_text(sheet, scenario, arms, size))
    searches = {case: list(_searches(sheet, scenario, arms, case, values)) for case in scenario.cases}
    with Batch(file, metrics(scenario), threads=threads) as batch:
        _search(batch, [one for some in searches.values() for one in some], seeds)
    found = {
        (FIFO, case.name, measure): [value for one in some for value in one.best()[measure]]
        for case, some in searches.items()
        for measure in metrics(scenario)
    }
    about = " ".join([scenario.about, *(_words(case, some) for case, some in searches.items())])
    return replace(scenario, about=about), {**values, **found}


@dataclass(slots=True)
class _Point:
    """A point, the bisection over the FIFO's limit on it, and what its runs gave, by limit."""

    set: Mapping[str, Any]
    target: float
    """The subject's mean delay in seconds."""
    high: int
    low: int = 1
    found: dict[int, Values] = field(default_factory=dict)

    def wanted(self) -> int | None:
        """The limit to run next; None when the search has ended."""
        while self.low < self.high:
            middle = (self.low + self.high) // 2
            if middle not in self.found:
                return middle
            if self.delay(middle) >= self.target:
                self.high = middle
            else:
                self.low = middle + 1
        return next((limit for limit in self._last() if limit not in self.found), None)

    def _last(self) -> tuple[int, int]:
        return self.low, max(self.low - 1, 1)

    def delay(self, limit: int) -> float:
        """The mean queueing delay with ``limit`` packets, in seconds."""
        return _mean(self.found[limit][DELAY])

    def limit(self) -> int:
        """The limit whose delay is nearest to the target."""
        return min(self._last(), key=lambda one: abs(self.delay(one) - self.target))

    def best(self) -> Values:
        """The values with that limit."""
        return self.found[self.limit()]


def _searches(sheet: Sheet, scenario: Scenario, arms: Subjects, case: Case, values: Samples) -> Iterator[_Point]:
    delays = values[SUBJECT, case.name, DELAY]
    targets = [[delay] for delay in delays] if case.paths else [delays]
    for path, target in zip(case.paths or (None,), targets, strict=True):
        yield _Point(overrides(sheet, scenario, arms, case, path), _mean(target), scenario.limit(case, path))


def _search(batch: Batch, points: Sequence[_Point], seeds: Sequence[int]) -> None:
    """Run all ``points`` side by side until each has its FIFO."""
    while wanted := [(point, limit) for point in points if (limit := point.wanted()) is not None]:
        first = batch.submit(
            [{**point.set, f"queue.{SUBJECT}.limit": f"{limit} packets"} for point, limit in wanted], seeds
        ).start
        values = {run - first: one for run, _seed, one in batch.results()}
        for number, (point, limit) in enumerate(wanted):
            runs = [values[number * len(seeds) + seed] for seed in range(len(seeds))]
            point.found[limit] = {name: [run[name] for run in runs] for name in runs[0]}


def _words(case: Case, points: Sequence[_Point]) -> str:
    """The limits of the FIFO, and its delays beside the subject's."""
    limits = sorted({point.limit() for point in points})
    limit = f"{limits[0]} to {limits[-1]}" if len(limits) > 1 else str(limits[0])
    own, fifo = (
        1e3 * fmean(some) for some in ([one.target for one in points], [one.delay(one.limit()) for one in points])
    )
    where = f" ({case.name})" if case.name else ""
    return f"Here it has a limit of {limit} packets{where}, and a mean delay of {fifo:.3g} ms; the subject has {own:.3g} ms."


def _mean(values: Sequence[float | None]) -> float:
    there = [value for value in values if value is not None]
    return fmean(there) if there else 0.0
