"""A scenario as a sequence of named choices: what is drawn, changed, and made simpler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")

Genes = Mapping[str, int]
"""The number of the option chosen, by the name of the choice; 0, the simplest, where a name is missing."""

CHANGES: Final = (1, 1, 2, 3)
"""Numbers of choices that `changed` draws anew, each as likely as it is often here."""


class Choices:
    """Choices that are made one after the other: those of ``genes``, and the others from ``stream``, or the simplest without one.

    A choice may decide which others there are; `made` has those that were there.
    """

    def __init__(self, genes: Genes, stream: Random | None = None) -> None:
        self._genes, self._stream = genes, stream
        self.made: dict[str, int] = {}

    def pick(self, name: str, options: Sequence[T], often: float = 0.0) -> T:
        """One of ``options``, of which the first is the simplest; a share ``often`` of new points have it, and of the others an equal part."""
        if name in self._genes:
            number = self._genes[name] % len(options)
        elif self._stream is None or self._stream.random() < often:
            number = 0
        else:
            number = self._stream.randrange(len(options))
        self.made[name] = number
        return options[number]

    def perhaps(self, name: str, options: Sequence[T]) -> T:
        """One of ``options``, of which half of the new points have the first: there is none."""
        return self.pick(name, options, 0.5)


def changed(genes: Genes, stream: Random) -> dict[str, int]:
    """``genes`` without some choices, which are then drawn anew."""
    drawn = stream.sample(sorted(genes), min(stream.choice(CHANGES), len(genes)))
    return {name: number for name, number in genes.items() if name not in drawn}


def crossed(one: Genes, other: Genes, stream: Random) -> dict[str, int]:
    """Each choice from one of two parents."""
    return {
        name: stream.choice([g for g in (one.get(name), other.get(name)) if g is not None])
        for name in sorted({*one, *other})
    }


def simpler(genes: Genes) -> list[dict[str, int]]:
    """All that differ from ``genes`` in one choice with a simpler option: first the simplest of each, then the next simpler one."""
    used = [name for name, number in genes.items() if number]
    first = [{**genes, name: 0} for name in used]
    return first + [{**genes, name: genes[name] - 1} for name in used if genes[name] > 1]
