"""Measures of the mix from the metrics of a sweep: one value for each candidate and seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ecnlab.advise.decide import Values
from ecnlab.advise.mix import App, Measure
from ecnlab.advise.question import WAYS, Question
from ecnlab.api.sweep import Sweep


def measures(apps: Sequence[App]) -> tuple[Measure, ...]:
    """Return the measures of a mix, the most important first."""
    return tuple(measure for app in apps for measure in app.measures)


def values(sweep: Sweep, question: Question) -> Values:
    """Return the measures of each candidate."""
    runs: dict[str, list[dict[str, float | None]]] = {
        name: [{} for _ in range(question.seeds)] for name in question.queues
    }
    for arm, replicate, metric, value in sweep.metrics.select("arm", "replicate", "metric", "value").rows():
        runs[arm][int(replicate)][metric] = value
    return {
        measure.name: {name: [_value(measure, run) for run in found] for name, found in runs.items()}
        for measure in measures(question.apps)
    }


def _value(measure: Measure, run: Mapping[str, float | None]) -> float:
    app, _, what = measure.name.rpartition("_")
    if what == "wait":
        found = max(_sum(run, f"{app}-{way}", "") for way in WAYS)
    elif what == "loss":
        found = max(_sum(run, f"{app}-{way}", " dropped") / (run[f"{app}-{way} sent"] or math.nan) for way in WAYS)
    else:
        found = _or_nan(run[measure.name])
    return found * measure.scale


def _sum(run: Mapping[str, float | None], group: str, what: str) -> float:
    return sum(_or_nan(run[f"{group} {place}{what}"]) for place in WAYS["down"])


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
