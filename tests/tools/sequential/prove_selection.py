"""Error rates of `ecnlab.base.selection`: simulated experiments whose best arm is known. `prove` writes the table into the page."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ecnlab.base.looks import LEAST, looks
from ecnlab.base.selection import FIRST, difference_variances, screened

EXPERIMENTS: Final = 10_000
BLOCK: Final = 500
"""Experiments simulated at a time, for memory."""

MOST: Final = 200
"""Largest number of replicates."""

ZONE: Final = 0.5
"""Indifference zone in standard deviations of an arm."""

Array = NDArray[Any]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]

_MEAN: Final = math.exp(0.5)

DRAWS: Final[dict[str, Draw]] = {
    "normal": lambda r, s: r.standard_normal(s),
    "exponential (skewness 2)": lambda r, s: r.exponential(1, s) - 1,
    "lognormal, σ = 1 (skewness 6.2)": lambda r, s: (r.lognormal(0, 1, s) - _MEAN) / (_MEAN * math.sqrt(math.e - 1)),
}
"""Distributions with mean 0 and standard deviation 1."""


def selections(draw: Draw, arms: int, correlation: float, gap: float, experiments: int, seed: int) -> Array:
    """Return the shares of experiments that select another arm than the best and that are inconclusive, and the mean seeds.

    The best mean is ``gap`` above the others, which are equal, in half of the experiments; in the others it is as much below.
    """
    random = np.random.default_rng(seed)
    blocks = []
    for first in range(0, experiments, BLOCK):
        shape = (min(BLOCK, experiments - first), MOST)
        common, own = draw(random, (*shape, 1)), draw(random, (*shape, arms))
        sign = 1.0 if first // BLOCK % 2 else -1.0
        values = sign * (math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own)
        values[..., 0] += gap
        blocks.append(_block(values))
    return np.mean(blocks, axis=0)


def _block(values: Array) -> tuple[float, float, float]:
    at = [n for n in looks(LEAST, MOST) if n >= FIRST]
    variances, sums = difference_variances(values[:, : at[0]]), np.cumsum(values, axis=1)
    alive = np.ones((values.shape[0], values.shape[2]), dtype=bool)
    seeds = np.full(values.shape[0], MOST)
    for n in at:
        decided = alive.sum(axis=1) == 1
        alive = np.where(decided[:, None], alive, screened(alive, sums[:, n - 1] / n, variances, n, at[0], ZONE))
        seeds[~decided & (alive.sum(axis=1) == 1)] = n
    one = alive.sum(axis=1) == 1
    return float((one & ~alive[:, 0]).mean()), float((~one).mean()), float(seeds.mean())


def rows() -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows of the table."""
    heads = ["distribution", "arms", "correlation", "wrong", "seeds (inconclusive)"]
    heads += ["best by two zones: wrong", "seeds (inconclusive)"]
    found = []
    for arms in (3, 6):
        for correlation in (0.0, 0.8):
            for place, (name, draw) in enumerate(DRAWS.items()):
                cells = [name, str(arms), f"{correlation:g}"]
                for zones in (1, 2):
                    seed = 900 + 100 * zones + 10 * arms + place
                    wrong, open_, seeds = selections(draw, arms, correlation, zones * ZONE, EXPERIMENTS, seed)
                    cells += [f"{100 * wrong:.1f} %", f"{seeds:.0f} ({100 * open_:.1f} %)"]
                found.append(cells)
    return heads, found
