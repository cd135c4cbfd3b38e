"""Printed values of a paper (``published.toml``) and its metrics (``metrics.toml``), read and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import unknown
from ecnlab.papers.data_files import read_file
from ecnlab.papers.tables import Beside, Claim, MetricsFile, Number, Printed, PublishedFile, Recipe, Where
from ecnlab.papers.tables import Metric as Metric

T = TypeVar("T", bound=Printed)


@dataclass(frozen=True, slots=True)
class Published:
    """All that a paper printed and a run can answer."""

    paper: str
    title: str
    authors: str
    date: str
    metrics: Mapping[str, Metric]
    numbers: tuple[Number, ...]
    claims: tuple[Claim, ...]
    where: Where = field(default_factory=dict)
    """Place of all measurements, except for entries that give another."""
    quantities: Mapping[str, Recipe] = field(default_factory=dict)
    beside: Mapping[str, Beside] = field(default_factory=dict)
    together: bool = False
    """Whether all tests of claims are one family, whose intervals are corrected for their number."""

    def number(self, name: str) -> Number:
        """The printed number of that id. Raises KeyError if there is none."""
        return {number.id: number for number in self.numbers}[name]

    def claim(self, name: str) -> Claim:
        """The claim of that id. Raises KeyError if there is none."""
        return {claim.id: claim for claim in self.claims}[name]

    @property
    def apart(self) -> list[str]:
        """The metrics whose printed numbers have a tally of their own."""
        return [name for name, metric in self.metrics.items() if metric.apart]

    def ids(self) -> list[str]:
        """Return the ids of all numbers and claims."""
        return [entry.id for entry in (*self.numbers, *self.claims)]

    def recipe(self, name: str) -> Recipe:
        """Return the recipe of the metric or quantity ``name``; an empty one if code computes it."""
        metric = self.metrics.get(name)
        return (metric.measure if metric else None) or self.quantities.get(name) or Recipe()


def read_published(folder: Path) -> Published:
    """Read and check ``published.toml`` and ``metrics.toml`` of a paper's folder.

    Raises EcnlabError naming the entry that is wrong; OSError if the file cannot be read.
    """
    path = folder / "published.toml"
    table, measured = read_file(path, PublishedFile), read_file(folder / "metrics.toml", MetricsFile)
    found = Published(
        table.paper,
        table.title,
        table.authors,
        table.date,
        measured.metric,
        tuple(_placed(table.number, table.where)),
        tuple(_placed(table.claim, table.where)),
        table.where,
        measured.quantity,
        measured.beside,
        table.together,
    )
    for entry in (*found.numbers, *found.claims):
        if entry.metric not in found.metrics:
            raise EcnlabError(f"{path}: {entry.id}: {unknown('metric', entry.metric, found.metrics)}")
    ids = found.ids()
    if twice := {i for i in ids if ids.count(i) > 1}:
        raise EcnlabError(f"{path}: {min(twice)} appears twice")
    return found


def _placed(entries: Sequence[T], where: Where) -> Iterator[T]:
    """Yield ``entries`` with the place of the whole file."""
    return (replace(entry, where={**where, **entry.where}) for entry in entries)
