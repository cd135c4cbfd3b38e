"""The FIFO with the subject's own mean delay: one more arm of a scenario of queues, found by bisection over its limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ecnlab._core import Experiment
from ecnlab._core import Scenario as ScenarioFile
from ecnlab.base.types import Engine
from ecnlab.engines.protocol import PACKETS
from ecnlab.runs.batch import Batch
from ecnlab.scoring.building import metrics, scenario_file, scenario_text
from ecnlab.scoring.judging import Samples
from ecnlab.scoring.sheet import ONE_CASE, SUBJECT, Scenario, Sheet, Size
from ecnlab.scoring.subject import built_in

FIFO: Final = "fifo"
"""The arm of the FIFO: a value of `Criterion.against`."""

DELAY: Final = "delay_mean_s"

Values = dict[str, list[float | None]]
"""Values by measure, one for each replicate."""


def why_not(scenario: Scenario, engine: Engine) -> str:
    """Why ``engine`` has no FIFO for ``scenario``; "" if it has, or if none is needed."""
    wanted = bool(scenario.equal_delay) and engine != PACKETS
    return "the FIFO of equal delay is searched for in the simulator only" if wanted else ""


def with_fifo(
    sheet: Sheet, scenario: Scenario, question: Experiment, values: Samples, size: Size, threads: int | None = None
) -> tuple[Scenario, Samples]:
    """``scenario`` with the FIFO's limit in its text, and ``values`` with those of the FIFO.

    The FIFO is the one whose mean delay over all seeds is nearest to the subject's; its limit is at most that of the subject.
    ``question`` is the experiment of ``scenario``, whose seeds the FIFO has too; ``threads`` runs at a time (default: one a
    core). Raises RunError.
    """
    delays = values[SUBJECT, ONE_CASE, DELAY]
    seeds = [seed for _, seed in sorted({(run.replicate, run.seed) for run in question.runs})]
    arms = dict.fromkeys(sheet.arms, built_in(scenario.equal_delay))
    file = ScenarioFile(scenario_file(scenario), scenario_text(sheet, scenario, arms, size))
    search = _Search(file, metrics(scenario), seeds, threads)
    target = _mean(delays)
    low, high = 1, scenario.limit(scenario.cases[0])
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if search.delay(middle) >= target else (middle + 1, high)
    limit = min((low, max(low - 1, 1)), key=lambda one: abs(search.delay(one) - target))
    found = {(FIFO, ONE_CASE, measure): own for measure, own in search.values(limit).items()}
    about = f"{scenario.about} Here it has a limit of {limit} packets, and a mean delay of {1e3 * search.delay(limit):.3g} ms; the subject has {1e3 * target:.3g} ms."
    return replace(scenario, about=about), {**values, **found}


class _Search:
    """Runs of the FIFO, each limit once."""

    def __init__(
        self, scenario: ScenarioFile, metrics: Mapping[str, Any], seeds: Sequence[int], threads: int | None
    ) -> None:
        self._scenario, self._metrics, self._seeds, self._threads = scenario, metrics, seeds, threads
        self._found: dict[int, Values] = {}

    def values(self, limit: int) -> Values:
        """The values with a limit of ``limit`` packets."""
        if limit not in self._found:
            with Batch(self._scenario, self._metrics, threads=self._threads) as batch:
                batch.submit([{f"queue.{SUBJECT}.limit": f"{limit} packets"}], self._seeds)
                runs = sorted(batch.results())
            self._found[limit] = {name: [one.values[name] for one in runs] for name in self._metrics}
        return self._found[limit]

    def delay(self, limit: int) -> float:
        """The mean queueing delay over all seeds, in seconds."""
        return _mean(self.values(limit)[DELAY])


def _mean(values: Sequence[float | None]) -> float:
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else 0.0
