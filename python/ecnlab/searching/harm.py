"""Harm: how many times worse a measure of a law is than that of the best other law on the same path, with the same seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

MATTERS: Final = 1.25
"""The least harm that counts."""

Values = Mapping[str, float | None]
"""The metrics of a run."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Values of a measure on a path."""

    least: float
    """What is added to both values: as much as counts as none."""
    best: float | None
    """The best value that a law can have; None if there is no bound."""


@dataclass(frozen=True, slots=True)
class Harm:
    """A kind of harm. Harm of 1 is none."""

    name: str
    words: str
    """The measure, as a sentence has it."""
    worse: Literal["high", "low"]
    metric: str
    unit: str
    """"s", "bit/s", "share", or another unit of a column."""

    @property
    def side(self) -> str:
        """How its measure is worse."""
        return "higher than" if self.worse == "high" else "lower than"

    def of(self, scale: Scale, own: Values, others: Sequence[Values]) -> float:
        """The harm of a law with the metrics ``own``, where other laws have ``others``."""
        there = [value for one in others if (value := one.get(self.metric)) is not None]
        return self._times(scale, own, (min if self.worse == "high" else max)(there)) if there else 1.0

    def most(self, scale: Scale, own: Values) -> float:
        """As much harm as there is if another law is as good as any can be."""
        return self._times(scale, own, math.inf if scale.best is None else scale.best)

    def _times(self, scale: Scale, own: Values, best: float) -> float:
        value = own.get(self.metric)
        return 1.0 if value is None else times(self.worse, value, best, scale.least)


def times(worse: str, own: float, best: float, least: float) -> float:
    """How many times worse ``own`` is than ``best``, with ``least`` added to both."""
    return (own + least) / (best + least) if worse == "high" else (best + least) / (own + least)


def mean(harms: Sequence[float]) -> float:
    """The geometric mean of the harm with several seeds."""
    return math.exp(sum(map(math.log, harms)) / len(harms))
