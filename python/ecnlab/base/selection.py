"""Selection of the best of several arms, whose values are paired by seed.

Source: Kim and Nelson, "A fully sequential procedure for indifference-zone selection in simulation", ACM Transactions on Modeling
and Computer Simulation 11 (2001), procedure KN with c = 1. If the best mean is better than each other by the indifference zone at
least, normal values select it with a probability of `LEVEL` at least, also with common random numbers. Looks that are fixed in
advance in place of one after each value do not raise the error rate (Jennison, Johnstone and Turnbull, "Asymptotically optimal
procedures for sequential adaptive selection of the best of several normal means" (1982)).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ecnlab.base.sequential import CONSTANT
from ecnlab.base.stats import LEVEL, ROUNDING

METHOD: Final = "selection of the best arm: procedure KN with an indifference zone (Kim and Nelson 2001)"

FIRST: Final = 9
"""Fewest values of the first stage, which estimates the variances of the differences."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Best:
    """A question: which arm has the highest (or lowest) mean?"""

    zone: float
    """Indifference zone in the metric's unit, above 0: a difference that does not matter."""
    highest: bool


@dataclass(frozen=True, slots=True)
class Selected:
    """Arms that remain after ``n`` values: one if the question is decided."""

    left: tuple[int, ...]
    n: int
    reason: str = ""
    """The reason if the arms were not compared."""

    @property
    def over(self) -> bool:
        """Whether further values cannot be expected to change the answer."""
        return len(self.left) == 1 or bool(self.reason and self.n >= CONSTANT)


def select(question: Best, values: ArrayLike, at: Sequence[int]) -> Selected:
    """Return the arms that remain of ``values``, a row for each seed and a column for each arm, looked at after ``at`` rows each.

    The first stage ends with the first look at `FIRST` values or more at which the differences of each two arms vary.
    """
    x = np.asarray(values, dtype=float) * (1.0 if question.highest else -1.0)
    alive = np.ones(x.shape[1], dtype=bool)
    first, variances = 0, np.zeros(())
    for n in at:
        if not first:
            variances = difference_variances(x[:n]) if n >= FIRST else np.zeros(())
            if n < FIRST or not _vary(variances, x[:n]):
                continue
            first = n
        alive = screened(alive, x[:n].mean(axis=0), variances, n, first, question.zone)
        if alive.sum() == 1:
            return Selected(tuple(np.flatnonzero(alive).tolist()), n)
    reason = (
        "" if first else f"fewer than {FIRST} values" if at[-1] < FIRST else "all differences of two arms are equal"
    )
    return Selected(tuple(np.flatnonzero(alive).tolist()), at[-1], reason)


def _vary(variances: Array, x: Array) -> bool:
    others = ~np.eye(x.shape[1], dtype=bool)
    return bool((np.sqrt(variances[others]) > ROUNDING * np.abs(x).max()).all())


def difference_variances(x: ArrayLike) -> Array:
    """Return the variances of the differences of each two arms, from values with axes (..., seed, arm)."""
    values = np.asarray(x, dtype=float)
    found: Array = np.var(values[..., :, None] - values[..., None, :], axis=-3, ddof=1)
    return found


def screened(alive: ArrayLike, means: Array, variances: Array, n: int, first: int, zone: float) -> NDArray[np.bool_]:
    """Return which arms of ``alive`` remain after ``n`` values, of which the ``first`` ones gave ``variances``; axes (..., arm)."""
    h2 = (first - 1) * ((2 * (1 - LEVEL) / (means.shape[-1] - 1)) ** (-2 / (first - 1)) - 1)
    width = np.maximum(zone / (2 * n) * (h2 * variances / zone**2 - n), 0.0)
    stays = np.asarray(alive, dtype=bool)
    beaten = means[..., :, None] < means[..., None, :] - width
    remain: NDArray[np.bool_] = stays & ~(beaten & stays[..., None, :]).any(axis=-1)
    return remain
