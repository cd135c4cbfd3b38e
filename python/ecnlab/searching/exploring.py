"""The search itself: generations of points, of which those with the most harm stay on the maps.

Points are new, changed from one of the maps, or crossed from two. Each runs with the law first. Only if it could have `GAIN` times the harm of
the point of its cell, were another law as good as any can be, do the others run; only if it then has, all run again with new seeds, and
these decide. Generations depend on the seed and on the maps before them only, and not on the order in which runs end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.searching import harm
from ecnlab.searching.archive import Archive, Elite, Place
from ecnlab.searching.choices import Choices, Genes, changed, crossed
from ecnlab.searching.evaluator import Evaluator
from ecnlab.searching.harm import MATTERS, Harm, Values
from ecnlab.searching.space import Candidate, Space

SIZE: Final = 64
"""Points of a generation."""

NEW: Final = 0.25
"""The share of points that are drawn anew."""

CROSSED: Final = 0.25
"""The share of the others that have two parents."""

GAIN: Final = 1.1
"""Times as much harm as that of its cell that a point needs with the first seed, for others to decide."""

SEEDS: Final = 2
"""New seeds that decide whether a point comes onto a map."""

STREAMS: Final = 1 << 20
"""Seeds of the runs of a generation: those of the next begin so much higher."""

Rows = Sequence[tuple[Candidate, dict[str, Values]]]
"""Points with the metrics of each arm."""


def explore(
    space: Space, runs: Evaluator, archive: Archive, *, evaluations: int, seed: int, after: Callable[[Archive], None]
) -> None:
    """Add generations to ``archive`` until it has at least ``evaluations``; ``after`` is called after each.

    Raises EcnlabError if the scenario refuses all points of the first generation, and as `Evaluator.values` does.
    """
    while archive.evaluations < evaluations:
        stream = Random(f"{seed} generation {archive.generation}")
        first = seed * 1_000_003 + archive.generation * STREAMS
        points = [_point(space, archive, stream) for _ in range(SIZE)]
        _generation(space, runs, archive, points, first)
        archive.generation += 1
        after(archive)


def _point(space: Space, archive: Archive, stream: Random) -> Candidate:
    """A new point, or a descendant of one or two on the maps."""
    return space.candidate(Choices(_genes(space, archive, stream), stream))


def _genes(space: Space, archive: Archive, stream: Random) -> Genes:
    maps = [some for kind in space.harms if (some := archive.worst(kind.name))]
    if not maps or stream.random() < NEW:
        return {}
    parents = stream.choice(maps)
    parent = stream.choice(parents)[1].genes
    if stream.random() < CROSSED:
        parent = crossed(parent, stream.choice(parents)[1].genes, stream)
    return changed(space.candidate(Choices(parent)).genes, stream)


def _generation(space: Space, runs: Evaluator, archive: Archive, points: Sequence[Candidate], seed: int) -> None:
    kinds = space.harms
    own = runs.values([(one, space.subject, seed) for one in points])
    if not archive.generation and not any(own) and runs.refused:
        raise EcnlabError(
            f"the scenario refuses all {len(points)} points of the first generation; the first: {runs.refused}"
        )
    archive.evaluations += len(points)
    hopeful = [
        (one, values)
        for one, values in zip(points, own, strict=True)
        if _improved(archive, kinds, one, lambda kind: kind.most(one.scales[kind.name], values))  # noqa: B023
    ]
    rows = with_others(space, runs, hopeful, seed)
    better = [one for one, row in rows if _improved(archive, kinds, one, lambda kind: of(space, kind, one, row))]  # noqa: B023
    archive.runs += len(points) + len(space.others) * len(hopeful) + len(space.labels) * SEEDS * len(better)
    for one, found in zip(better, harms(space, runs, better, range(seed + 1, seed + 1 + SEEDS)), strict=True):
        for kind in kinds:
            if found[kind.name] > MATTERS:
                archive.offer(_place(kind, one), Elite(found[kind.name], one.genes, "; ".join(one.words)))


def _improved(archive: Archive, kinds: Sequence[Harm], one: Candidate, times: Callable[[Harm], float]) -> bool:
    return any(times(kind) > max(GAIN * archive.harm(_place(kind, one)), MATTERS) for kind in kinds)


def _place(kind: Harm, one: Candidate) -> Place:
    return (kind.name, *one.cell)


def with_others(space: Space, runs: Evaluator, points: Sequence[tuple[Candidate, Values]], seed: int) -> Rows:
    """``points``, whose runs with the law have been done, with those of the other laws."""
    found = runs.values([(one, arm, seed) for one, _ in points for arm in space.others])
    each = len(space.others)
    return [
        (one, {space.subject: own, **dict(zip(space.others, found[number * each : (number + 1) * each], strict=True))})
        for number, (one, own) in enumerate(points)
    ]


def of(space: Space, kind: Harm, one: Candidate, row: dict[str, Values]) -> float:
    """The harm of a point with the metrics of each arm."""
    return kind.of(one.scales[kind.name], row[space.subject], [row[arm] for arm in space.others])


def harms(space: Space, runs: Evaluator, points: Sequence[Candidate], seeds: Sequence[int]) -> list[dict[str, float]]:
    """By kind, the harm of each point: the geometric mean over ``seeds``."""
    values = iter(runs.values([(one, arm, seed) for one in points for seed in seeds for arm in space.labels]))
    rows = [[{arm: next(values) for arm in space.labels} for _ in seeds] for _ in points]
    return [
        {kind.name: harm.mean([of(space, kind, one, row) for row in some]) for kind in space.harms}
        for one, some in zip(points, rows, strict=True)
    ]
