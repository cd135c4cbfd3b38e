"""The decision: which candidates are not shown to be worse than the best, measure by measure (docs/advise.md#decision)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ecnlab.advise.candidates import NONE
from ecnlab.advise.mix import Measure
from ecnlab.base.stats import LEVEL, Interval, mean_interval, paired_difference

Values: TypeAlias = Mapping[str, Mapping[str, Sequence[float]]]
"""By measure and candidate a value for each seed, in the unit of the measure; NaN where it is not defined."""

MAX_COST: Final = 1.0
"""Default share of the download's or upload's goodput that a candidate may cost: all, since the order of the applications decides."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate next to the best one in a measure: ``worse`` is by how much it is worse, in the unit of the measure."""

    measure: Measure
    best: str
    other: str
    worse: Interval
    smallest: float
    """The smallest difference that matters."""

    @property
    def shown(self) -> bool:
        """Whether the whole interval is beyond the smallest difference that matters."""
        return self.worse.low > self.smallest


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of the rule."""

    advised: str
    equals: tuple[str, ...]
    """Candidates that no measure shows to differ from the best, with ``advised``."""
    too_costly: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    family: int
    """Number of possible comparisons: intervals have the confidence 1 - 0.05 / family."""

    @property
    def no_difference(self) -> bool:
        """Whether no candidate is shown to be better than the line without a shaper."""
        return NONE in self.equals


def costs(values: Values, measure: Measure, name: str) -> Interval | None:
    """Return the share of the goodput ``measure`` that ``name`` costs, with its 95 % interval; None if it is not defined."""
    pairs = [(with_, none) for with_, none in zip(values[measure.name][name], values[measure.name][NONE], strict=True)]
    if any(not none > 0 or math.isnan(with_) for with_, none in pairs):
        return None
    return mean_interval([1 - with_ / none for with_, none in pairs])


def decide(values: Values, measures: Sequence[Measure], queues: Sequence[str], most_cost: float = MAX_COST) -> Decision:
    """Apply the rule of docs/advise.md to the measures of the candidates."""
    family = len(queues) * (len(queues) - 1) // 2 * len(measures)
    level = 1 - (1 - LEVEL) / family
    too_costly = tuple(name for name in queues if name != NONE and _too_costly(values, measures, name, most_cost))
    kept = [name for name in queues if name not in too_costly]
    comparisons: list[Comparison] = []
    for measure in measures:
        found = _compare(values, measure, kept, level)
        comparisons += found
        worse = {one.other for one in found if one.shown}
        kept = [name for name in kept if name not in worse and (not found or _defined(values, measure, name))]
    return Decision(_simplest(kept, queues), tuple(kept), too_costly, tuple(comparisons), family)


def _too_costly(values: Values, measures: Sequence[Measure], name: str, most: float) -> bool:
    found = [costs(values, measure, name) for measure in measures if measure.more]
    return any(cost is not None and cost.low > most for cost in found)


def _defined(values: Values, measure: Measure, name: str) -> bool:
    return not any(math.isnan(value) for value in values[measure.name][name])


def _compare(values: Values, measure: Measure, kept: Sequence[str], level: float) -> list[Comparison]:
    defined = [name for name in kept if _defined(values, measure, name)]
    if not defined:
        return []
    sign = -1.0 if measure.more else 1.0
    of = values[measure.name]
    means = {name: sum(of[name]) / len(of[name]) for name in defined}
    best = min(defined, key=lambda name: sign * means[name])
    smallest = max(measure.smallest, measure.share * abs(means[best]))
    return [
        Comparison(
            measure, best, name, paired_difference(_signed(of[name], sign), _signed(of[best], sign), level), smallest
        )
        for name in defined
        if name != best
    ]


def _signed(values: Sequence[float], sign: float) -> list[float]:
    return [sign * value for value in values]


def _simplest(kept: Sequence[str], queues: Sequence[str]) -> str:
    """Return the first of ``kept``: candidates are in order of the effort to set them up, nothing first."""
    return next(name for name in queues if name in kept)
