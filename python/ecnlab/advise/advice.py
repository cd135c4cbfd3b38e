"""The advice: runs of the candidates, and the decision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ecnlab._core import Experiment
from ecnlab.advise import setup
from ecnlab.advise.decide import Decision, Values, decide
from ecnlab.advise.measured import measures, values
from ecnlab.advise.mix import Measure
from ecnlab.advise.question import Question, prepare
from ecnlab.base.stats import Bounds, Interval, mean_interval
from ecnlab.runs.sweep import sweep
from ecnlab.runs.sweep_doing import Progress

RUNS: Final = "runs"
"""Name of the sweep in the folder of an advice."""

ABOVE_ZERO: Final = Bounds(low=0.0)
"""The range of every measure."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer to a question."""

    question: Question
    values: Values
    decision: Decision
    folder: Path
    experiment: Experiment

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the mix, the most important first."""
        return measures(self.question.apps)

    @property
    def lines(self) -> list[str]:
        """The commands for the advised candidate."""
        advised = self.decision.advised
        scenario = next(run.scenario for run in self.experiment.runs if run.arm == advised)
        return setup.lines(advised, self.question.line, scenario.resolved["queue"])

    def mean(self, measure: Measure, name: str) -> Interval | None:
        """Return the mean of a measure with its 95 % interval; None if a seed has no value."""
        found = self.values[measure.name][name]
        return None if any(math.isnan(value) for value in found) else ABOVE_ZERO.clip(mean_interval(found))


def advise(question: Question, folder: Path, *, workers: int | None = None, progress: Progress | None = None) -> Advice:
    """Run the candidates on the line and decide. Finished runs in ``folder`` are not repeated.

    Raises EcnlabError, SpecError, FolderError, RunError and OSError as `ecnlab.sweep` does.
    """
    experiment = prepare(question, folder)
    result = sweep(experiment, folder / RUNS, workers=workers, progress=progress)
    found = values(result, question)
    decision = decide(found, measures(question.apps), question.queues, question.most_cost)
    return Advice(question, found, decision, folder, experiment)
