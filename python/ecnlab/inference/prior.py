"""Settings as coordinates: of an unknown with a range its place from 0 to 1, of another one the number of its choice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecnlab.inference.question import Unknown, stepped
from ecnlab.scenario.varied import number

Array = NDArray[np.float64]
Truths = NDArray[np.bool_]

ANEW: Final = 0.2
"""Probability that a choice is drawn from the prior, not that of the parent."""

WIDEST: Final = 0.3
"""Greatest standard deviation of a step of a coordinate."""


@dataclass(frozen=True, slots=True)
class Prior:
    """The prior distribution of settings: unknowns are independent."""

    unknowns: Mapping[str, Unknown]

    def weights(self, unknown: Unknown) -> Array:
        """Return the prior probabilities of the choices of ``unknown``; empty for a range."""
        weights = [one.weight for one in unknown.points] or [1.0] * len(unknown.values)
        return np.array(weights) / (sum(weights) or 1.0)

    def value(self, name: str, place: float) -> float:
        """Return the number at the coordinate ``place`` of an unknown with a range."""
        unknown = self.unknowns[name]
        assert unknown.range
        low, high = (number(end)[0] for end in unknown.range)
        if unknown.log:
            return stepped(unknown, low * (high / low) ** place)
        return stepped(unknown, low + (high - low) * place)

    def label(self, name: str, place: float) -> str:
        """Return the value at a coordinate as text."""
        unknown = self.unknowns[name]
        if unknown.range:
            unit = "" if unknown.times else number(unknown.range[0])[1]
            return f"{self.value(name, place):.3g} {unit}".strip()
        index = int(place)
        return unknown.points[index].label if unknown.points else str(unknown.values[index])

    def spread(self, n: int, random: np.random.Generator) -> Array:
        """Return ``n`` settings that fill the space evenly: a Latin hypercube (McKay, Beckman and Conover 1979)."""
        columns = []
        for unknown in self.unknowns.values():
            places = (random.permutation(n) + random.random(n)) / n
            weights = self.weights(unknown)
            columns.append(_choices(weights, places) if weights.size else places)
        return np.array(columns, dtype=float).reshape(len(columns), n).T


def _choices(weights: Array, places: Array) -> Array:
    return np.minimum(np.searchsorted(np.cumsum(weights), places, side="right"), weights.size - 1).astype(float)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Settings near the ``parents``: normal steps of ranges, reflected at their ends; choices now and then anew.

    A population Monte Carlo proposal (Cappé, Guillin, Marin and Robert 2004), whose density is known.
    """

    prior: Prior
    parents: Array
    chances: Array
    """Probability of each parent."""
    steps: Array
    """Standard deviation of the step of each coordinate; 0 for a choice."""

    @classmethod
    def near(cls, prior: Prior, settings: Array, weights: Array) -> Proposal:
        """Return the proposal of weighted ``settings``, with steps of twice the optimal variance for normal densities."""
        kept = weights > weights.max() * 1e-6
        parents, chances = settings[kept], weights[kept] / weights[kept].sum()
        size, ranges = 1.0 / float(np.square(chances).sum()), np.array([bool(u.range) for u in prior.unknowns.values()])
        mean = chances @ parents
        spread = np.sqrt(np.maximum(chances @ np.square(parents - mean), 0.0))
        # Silverman (1986), section 4.3.2: the bandwidth for a normal density of d dimensions, of which the size is effective.
        d = max(int(ranges.sum()), 1)
        width = math.sqrt(2.0) * (4.0 / ((d + 2) * size)) ** (1.0 / (d + 4))
        return cls(prior, parents, chances, np.where(ranges, np.clip(width * spread, 0.01, WIDEST), 0.0))

    def draw(self, n: int, random: np.random.Generator) -> Array:
        """Return ``n`` settings."""
        found = self.parents[random.choice(len(self.parents), n, p=self.chances)].copy()
        for k, unknown in enumerate(self.prior.unknowns.values()):
            weights = self.prior.weights(unknown)
            if not weights.size:
                found[:, k] = _reflected(found[:, k] + self.steps[k] * random.standard_normal(n))
                continue
            anew = random.random(n) < ANEW
            found[anew, k] = _choices(weights, random.random(int(anew.sum())))
        return found

    def density(self, settings: Array) -> Array:
        """Return the density at each of ``settings``, relative to the prior."""
        found = np.tile(self.chances, (len(settings), 1))
        for k, unknown in enumerate(self.prior.unknowns.values()):
            x, parents, weights = settings[:, k, None], self.parents[None, :, k], self.prior.weights(unknown)
            if weights.size:
                own = weights[settings[:, k].astype(int)]
                found *= (ANEW * own[:, None] + (1.0 - ANEW) * (x == parents)) / own[:, None]
                continue
            # The reflected step has the sum of the densities at the place and at its two images.
            images = ((image - parents) / self.steps[k] for image in (x, -x, 2.0 - x))
            found *= sum(np.exp(-0.5 * z * z) for z in images) / (self.steps[k] * math.sqrt(2.0 * math.pi))
        return np.asarray(found.sum(axis=1))


def _reflected(x: Array) -> Array:
    x = np.abs(x)
    return np.clip(np.where(x > 1.0, 2.0 - x, x), 0.0, 1.0)
