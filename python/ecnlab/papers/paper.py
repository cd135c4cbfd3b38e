"""What a paper is to the laboratory: its experiments, what is measured in them, and its page.

A paper is a folder ``papers/<name>/`` of data (experiments, what was printed, which metrics, why they differ) and a
package ``ecnlab.papers.<name>`` with one `Paper`, which `ecnlab.papers.registry` lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import polars as pl

from ecnlab import store
from ecnlab.papers.grid import Grid
from ecnlab.report import Page
from ecnlab.sweep import Sweep


class Tables(Protocol):
    """The tables of a sweep, with the columns that name the run in front."""

    def table(self, name: str) -> pl.LazyFrame:
        """All rows of a table, over all runs."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """An experiment file and how often it is replicated, in the quick and in the full size.

    The quick size is a part of the full one: the same seeds, fewer of them. ``measure`` gives the samples of the step;
    without it, the step is a run to be drawn. ``keep`` names tables to store besides the usual ones.
    """

    name: str
    quick: int
    full: int
    measure: Callable[[Tables], pl.DataFrame] | None
    keep: tuple[str, ...] = ()


SIMULATOR: Final = "simulator"
KERNEL: Final = "kernel"
"""Who has answered a step of ``on_linux``: what its samples have for a variant."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a page shows of single runs: tables by name, and facts that go with them."""

    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stored:
    """The analysis tables a page is made from, as `ecnlab.papers.reproduce` writes them."""

    folder: Path
    about: Mapping[str, Any]

    def __getitem__(self, name: str) -> pl.DataFrame:
        path = self.folder / f"{name}.parquet"
        if (self.folder.parent / store.FILES).exists():
            path = store.read_files(self.folder.parent).path(f"{self.folder.name}/{path.name}")
        return store.read_table(path)


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper with a reproduction. ``analyse`` and ``draw`` get the sweeps by the name of their step.

    The steps of ``on_linux`` are for the simulator and the Linux kernel alike, and done only when the kernel is asked for;
    ``variant``, which must be a key of the grid, says who answered.
    """

    name: str
    grid: Grid
    steps: tuple[Step, ...]
    analyse: Callable[[Mapping[str, Tables]], pl.DataFrame]
    draw: Callable[[Mapping[str, Sweep]], Drawn]
    page: Callable[[Path, Stored], Page]
    on_linux: tuple[Step, ...] = ()


def measured(steps: Sequence[Step], sweeps: Mapping[str, Tables]) -> dict[str, pl.DataFrame]:
    """The samples of each step that has any, in the order of the steps."""
    return {step.name: step.measure(sweeps[step.name]) for step in steps if step.measure}
