"""The worst that a search has found: for each kind of harm a map over two axes, with one point in each cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ecnlab.searching.choices import Genes
from ecnlab.searching.space import Axis

Place = tuple[str, int, int]
"""A kind of harm, and the numbers of a column and a row: a cell of a map."""


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

    def as_json(self, columns: Axis, rows: Axis) -> dict[str, Any]:
        """All of it, with the labels of both axes."""
        cells = [
            {
                "harm": kind,
                "column": columns.labels[column],
                "row": rows.labels[row],
                "times": one.harm,
                "genes": dict(one.genes),
                "words": one.words,
            }
            for (kind, column, row), one in sorted(self.cells.items())
        ]
        return {
            "generation": self.generation,
            "evaluations": self.evaluations,
            "runs": self.runs,
            "columns": columns.title,
            "rows": rows.title,
            "cells": cells,
        }


def read(text: dict[str, Any], columns: Axis, rows: Axis) -> Archive:
    """The archive that `Archive.as_json` gave. Raises ValueError for a label that an axis does not have."""
    cells = dict(_cells(text["cells"], columns, rows))
    return Archive(cells, text["generation"], text["evaluations"], text["runs"])


def _cells(found: list[dict[str, Any]], columns: Axis, rows: Axis) -> Iterator[tuple[Place, Elite]]:
    for one in found:
        place = one["harm"], columns.labels.index(one["column"]), rows.labels.index(one["row"])
        yield place, Elite(one["times"], one["genes"], one["words"])
