"""The smallest scenario that keeps most of the harm: fewest changes, simplest numbers, fewest flows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ecnlab.searching.choices import Choices, simpler
from ecnlab.searching.evaluator import Evaluator
from ecnlab.searching.exploring import harms
from ecnlab.searching.harm import MATTERS
from ecnlab.searching.space import Candidate, Space

KEPT: Final = 0.75
"""The part of the harm, as a power, that a smaller scenario keeps: of 16 times 8 times."""

SEEDS: Final = 4
"""Seeds of each smaller scenario."""


def shrink(space: Space, runs: Evaluator, one: Candidate, kind: str, seed: int) -> Candidate | None:
    """The smallest scenario found from ``one`` that keeps `KEPT` of its harm of ``kind``, with the same `SEEDS` seeds from ``seed`` on.

    None if there is too little harm with these seeds to be kept.
    """
    seeds = range(seed, seed + SEEDS)
    least = harms(space, runs, [one], seeds)[0][kind] ** KEPT
    if least <= MATTERS:
        return None
    while smaller := _kept(space, runs, one, kind, least, seeds):
        one = smaller
    return one


def _kept(
    space: Space, runs: Evaluator, one: Candidate, kind: str, least: float, seeds: Sequence[int]
) -> Candidate | None:
    """A simpler scenario with at least ``least`` harm: that with all simplifications that keep it, else with half of them, and so on.

    One keeps it if it has it with the first seed, and in the mean of all.
    """
    found = [space.candidate(Choices(genes)) for genes in simpler(one.genes)]
    for some in (seeds[:1], seeds):  # most fail with the first seed
        times = harms(space, runs, found, some)
        found = [smaller for smaller, each in zip(found, times, strict=True) if each[kind] >= least]
    while len(found) > 1:
        together = _together(space, one, found)
        if harms(space, runs, [together], seeds)[0][kind] >= least:
            return together
        found = found[: len(found) // 2]
    return next(iter(found), None)


def _together(space: Space, one: Candidate, found: Sequence[Candidate]) -> Candidate:
    """The scenario with the simplifications of all of ``found``; the first counts where two differ."""
    genes = dict(one.genes)
    for other in reversed(found):
        genes |= {name: other.genes.get(name, 0) for name in genes if other.genes.get(name, 0) != one.genes[name]}
    return space.candidate(Choices(genes))
