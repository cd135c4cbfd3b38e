"""The worst that a search has found: for each kind of harm a map over RTT and change of the rate, with one point in each cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ecnlab.searching.choices import Genes

Place = tuple[str, int, int]
"""A kind of harm, an RTT in ms, and a class of changes of the rate: a cell of a map."""


@dataclass(frozen=True, slots=True)
class Elite:
    """The point with the most harm of a cell."""

    harm: float
    """The geometric mean over seeds that were new when the point came into the cell."""
    genes: Genes
    words: str
    """What happens on its path."""


@dataclass(slots=True)
class Archive:
    """The maps, and what they have cost."""

    cells: dict[Place, Elite] = field(default_factory=dict)
    generation: int = 0
    """The number of generations done."""
    evaluations: int = 0
    """Points that were run with the law."""
    runs: int = 0
    """Runs of all laws."""

    def harm(self, place: Place) -> float:
        """The harm of a cell; 1, none, if it is empty."""
        return self.cells[place].harm if place in self.cells else 1.0

    def offer(self, place: Place, elite: Elite) -> bool:
        """Put ``elite`` into its cell if it has more harm than the point there; return whether it has."""
        better = elite.harm > self.harm(place)
        if better:
            self.cells[place] = elite
        return better

    def worst(self, kind: str) -> list[tuple[Place, Elite]]:
        """The points of ``kind``, that with the most harm first."""
        there = [(place, one) for place, one in sorted(self.cells.items()) if place[0] == kind]
        return sorted(there, key=lambda entry: -entry[1].harm)

    def as_json(self) -> dict[str, Any]:
        """All of it."""
        cells = [
            {
                "harm": kind,
                "rtt_ms": rtt,
                "change": change,
                "times": one.harm,
                "genes": dict(one.genes),
                "words": one.words,
            }
            for (kind, rtt, change), one in sorted(self.cells.items())
        ]
        return {"generation": self.generation, "evaluations": self.evaluations, "runs": self.runs, "cells": cells}


def read(text: dict[str, Any]) -> Archive:
    """The archive that `Archive.as_json` gave."""
    return Archive(dict(_cells(text["cells"])), text["generation"], text["evaluations"], text["runs"])


def _cells(rows: list[dict[str, Any]]) -> Iterator[tuple[Place, Elite]]:
    for row in rows:
        yield (row["harm"], row["rtt_ms"], row["change"]), Elite(row["times"], row["genes"], row["words"])
