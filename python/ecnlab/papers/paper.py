"""What a paper is to the laboratory: its experiments, what is measured in them, and its page.

A paper is a folder ``papers/<name>/`` of data (experiments, what was printed, which metrics, why they differ) and a
package ``ecnlab.papers.<name>`` with one `Paper`, which `ecnlab.papers.registry` lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

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


Own: TypeAlias = Callable[[Tables], pl.LazyFrame]
"""A quantity that a paper computes in Python: ``value``, and maybe ``other``, of each run."""


@dataclass(frozen=True, slots=True)
class Step:
    """An experiment file and how often it is replicated, in the quick and in the full size.

    The quick size is a part of the full one: the same seeds, fewer of them. ``metrics.toml`` says what is measured in it;
    a step in which nothing is, is a run to be drawn. ``keep`` names tables to store besides the usual ones.
    """

    name: str
    quick: int
    full: int
    keep: tuple[str, ...] = ()
    place: Mapping[str, str] = field(default_factory=dict)
    """Labels of all its samples on axes of the grid that it does not vary."""
    blocks: bool = False
    """Whether to measure a few seeds at a time, because their time series are long."""
    drawn: bool = False
    """Whether it is a run to be drawn, in which nothing is measured."""
    measure: Callable[[Tables], pl.DataFrame] | None = None
    """Samples of metrics that only code of the paper can give."""


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
    """A paper with a reproduction. ``draw`` gets the sweeps by the name of their step.

    The steps of ``on_linux`` are for the simulator and the Linux kernel alike, and done only when the kernel is asked for;
    ``variant``, which must be a key of the grid, says who answered.
    """

    name: str
    grid: Grid
    steps: tuple[Step, ...]
    draw: Callable[[Mapping[str, Sweep]], Drawn]
    page: Callable[[Path, Stored], Page]
    on_linux: tuple[Step, ...] = ()
    own: Mapping[str, Own] = field(default_factory=dict)
    """Quantities that are the paper's own thought, by name."""
    across: Callable[[Mapping[str, Tables], Mapping[str, pl.DataFrame]], list[pl.DataFrame]] = (
        lambda _sweeps, _samples: []
    )
    """Samples that several steps give together, from their sweeps and their own samples."""
