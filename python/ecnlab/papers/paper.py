"""What a paper is to the laboratory: its experiments, what is measured in them, and its page.

A paper is a folder ``papers/<name>/`` of data (experiments, what was printed, which metrics, why they differ) and a
package ``ecnlab.papers.<name>`` with one `Paper`, which `ecnlab.papers.registry` lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import polars as pl

from ecnlab.papers.grid import Grid
from ecnlab.papers.material import Material
from ecnlab.papers.published import Published
from ecnlab.report import Chart, Finding, Group, Table
from ecnlab.runs.sweep_result import Sweep


class Tables(Protocol):
    """The tables of a sweep, with the columns that name the run in front."""

    def table(self, name: str) -> pl.LazyFrame:
        """All rows of a table, over all runs."""
        ...


F = TypeVar("F", bound=Callable[..., Any])


def named(*functions: F) -> dict[str, F]:
    """Functions by their names, under which the files of a paper ask for them."""
    return {function.__name__: function for function in functions}


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


Made: TypeAlias = Table | Group | Chart
"""What code adds to a section."""

SIMULATOR: Final = "simulator"
KERNEL: Final = "kernel"
"""Who has answered a step of ``on_linux``: what its samples have for a variant."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a page shows of single runs: tables by name, and facts that go with them."""

    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


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
    on_linux: tuple[Step, ...] = ()
    own: Mapping[str, Own] = field(default_factory=dict)
    """Quantities that are the paper's own thought, by name."""
    findings: Mapping[str, Callable[[Material], Finding]] = field(default_factory=dict)
    """Sentences of the summary, blocks of sections and words in their texts that ``report.toml`` names and code makes."""
    blocks: Mapping[str, Callable[[Material], Made | Sequence[Made]]] = field(default_factory=dict)
    words: Mapping[str, Callable[[Material], str]] = field(default_factory=dict)
    of_samples: Callable[[Published, pl.DataFrame], pl.DataFrame] | None = None
    """Samples that are computed from the samples of all steps, such as a choice made again for resampled seeds."""
