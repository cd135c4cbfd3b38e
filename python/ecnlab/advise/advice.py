"""The advice: runs of the candidates, the decision, and its words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ecnlab.advise import setup
from ecnlab.advise.candidates import NONE, SHARE
from ecnlab.advise.decide import MOST_COST, Decision, costs, decide
from ecnlab.advise.measured import Values, measures, values
from ecnlab.advise.mix import Measure
from ecnlab.advise.question import Question, prepare
from ecnlab.base.readable import number
from ecnlab.base.stats import Interval, mean_interval
from ecnlab.runs.sweep import sweep
from ecnlab.runs.sweep_doing import Progress

RUNS: Final = "runs"
"""Name of the sweep in the folder of an advice."""

FEW: Final = 10
"""Seeds below which an advice warns of wide intervals."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer to a question."""

    question: Question
    values: Values
    decision: Decision
    folder: Path

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the mix, the most important first."""
        return measures(self.question.apps)

    @property
    def lines(self) -> list[str]:
        """The commands for the advised candidate."""
        return setup.lines(self.decision.advised, self.question.line)

    def mean(self, measure: Measure, name: str) -> Interval | None:
        """Return the mean of a measure with its 95 % interval; None if a seed has no value."""
        found = self.values[measure.name][name]
        return None if any(math.isnan(value) for value in found) else mean_interval(found)


def advise(question: Question, folder: Path, *, workers: int | None = None, progress: Progress | None = None) -> Advice:
    """Run the candidates on the line and decide. Finished runs in ``folder`` are not repeated.

    Raises EcnlabError, SpecError, FolderError, RunError and OSError as `ecnlab.sweep` does.
    """
    experiment = prepare(question, folder)
    result = sweep(experiment, folder / RUNS, workers=workers, progress=progress)
    found = values(result, question)
    return Advice(question, found, decide(found, measures(question.apps), question.queues), folder)


def sentence(advice: Advice) -> str:
    """Return the advice in one sentence."""
    decision = advice.decision
    tested = [measure for measure in advice.measures if advice.mean(measure, decision.advised)]
    if decision.no_difference:
        others = [name for name in decision.equals if name != NONE]
        against = f" to {listed(others)}" if others else ""
        shown = "; ".join(_value(advice, measure, NONE) for measure in tested)
        return f"No difference shown: leave the line without a shaper. {shown}; no difference that matters is shown{against}."
    gains = "; ".join(_gain(advice, measure) for measure in tested if not measure.more)
    parts = [part for part in (gains, *_costs(advice, decision.advised)) if part]
    others = [name for name in decision.equals if name != decision.advised]
    same = f" No difference is shown to {listed(others)}." if others else ""
    return f"{decision.advised} at {100 * SHARE:g} % of the rates: {'; '.join(parts)}.{same}"


def _value(advice: Advice, measure: Measure, name: str) -> str:
    return f"{measure.label} {interval(advice.mean(measure, name), measure.unit)}"


def _gain(advice: Advice, measure: Measure) -> str:
    none = interval(advice.mean(measure, NONE), measure.unit)
    return f"{_value(advice, measure, advice.decision.advised)}, without a shaper {none}"


def _costs(advice: Advice, name: str) -> Iterator[str]:
    for measure in advice.measures:
        if measure.more and (cost := costs(advice.values, measure, name)):
            share = Interval(100 * cost.mean, 100 * cost.low, 100 * cost.high, cost.n)
            yield f"it costs {interval(share, '%')} of the {measure.label}"


def interval(found: Interval | None, unit: str) -> str:
    """Return mean and interval in words; "not defined" for None."""
    if found is None:
        return "not defined"
    return f"{number(found.mean)} {unit} ({number(found.low)} to {number(found.high)})"


def listed(names: Sequence[str]) -> str:
    """Return names in a list with "and"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def changes(advice: Advice) -> list[str]:
    """Return what would change the answer, as far as the runs show it."""
    decision, question = advice.decision, advice.question
    found = []
    others = [name for name in decision.equals if name != decision.advised]
    if others:
        found.append(
            f"More seeds or longer runs may show a difference between {listed([decision.advised, *others])}; "
            f"{decision.advised} is named because it needs the fewest commands."
        )
    if decision.too_costly:
        found.append(f"{listed(decision.too_costly)}: shown to cost more than {100 * MOST_COST:g} % of a transfer, so not considered.")
    first = next((one for one in decision.comparisons if one.other == NONE), None)
    if first and not decision.no_difference:
        found.append(
            f"The gain over the line without a shaper is that of buffers of {1e3 * question.line.buffer_s:g} ms at both ends "
            "(`--buffer`): shorter buffers make it smaller."
        )
    return found


def as_json(advice: Advice) -> dict[str, Any]:
    """Return the advice for programs."""
    question, decision = advice.question, advice.decision
    return {
        "line": {
            "kind": question.line.kind.name,
            "down_bps": question.line.down_bps,
            "up_bps": question.line.up_bps,
            "rtt_s": question.line.rtt_s,
            "buffer_s": question.line.buffer_s,
        },
        "mix": [app.name for app in question.apps],
        "ecn": question.ecn,
        "seeds": question.seeds,
        "answer": sentence(advice),
        "advised": decision.advised,
        "equals": list(decision.equals),
        "too_costly": list(decision.too_costly),
        "family": decision.family,
        "measures": [_row(advice, measure) for measure in advice.measures],
        "comparisons": [
            {
                "measure": one.measure.name,
                "best": one.best,
                "other": one.other,
                "worse": one.worse.mean,
                "low": one.worse.low,
                "high": one.worse.high,
                "smallest": one.smallest,
                "shown": one.shown,
            }
            for one in decision.comparisons
        ],
        "tc": advice.lines,
        "changes": changes(advice),
        "folder": str(advice.folder),
    }


def _row(advice: Advice, measure: Measure) -> Mapping[str, Any]:
    queues = {}
    for name in advice.question.queues:
        mean = advice.mean(measure, name)
        queues[name] = {"mean": mean.mean, "low": mean.low, "high": mean.high} if mean else None
    return {"name": measure.name, "label": measure.label, "unit": measure.unit, "queues": queues}
