"""Finds with new seeds: how much harm there is, with its interval, and how often."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from ecnlab.base import stats

SEEDS: Final = 20
"""Seeds of a confirmation, of which the search had none."""

AT_LEAST: Final = 19
"""Seeds with harm, of `SEEDS`, of a confirmed find."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The harm with new seeds."""

    times: float
    """The geometric mean."""
    low: float
    high: float
    """Its 95 % interval, Student's t of the logarithms."""
    harmful: int
    """The number of seeds with a harm above 1."""
    seeds: int

    @property
    def holds(self) -> bool:
        """Whether the harm has its sign with nearly all seeds."""
        return self.harmful * SEEDS >= AT_LEAST * self.seeds

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {name: getattr(self, name) for name in ("times", "low", "high", "harmful", "seeds")}


def of_seeds(harms: list[float], seeds: int) -> Confirmed:
    """The mean of ``harms``, which some of ``seeds`` seeds have, and how many of them are harm."""
    found = stats.mean_interval([math.log(one) for one in harms])
    mean, low, high = map(math.exp, (found.mean, found.low, found.high))
    return Confirmed(mean, low, high, sum(one > 1 for one in harms), seeds)
