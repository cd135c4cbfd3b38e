"""The definition of a paper: its experiments, their measurements, and its page.

A paper is a folder ``papers/<name>/`` of data (experiments, printed values, metrics, reasons for differences) and a
package ``ecnlab.papers.<name>`` with one `Paper`, listed in `ecnlab.papers.registry`; or a folder with a ``paper.toml``, which
defines the `Paper` (`ecnlab.papers.paper_file`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

import polars as pl

from ecnlab.api.sweep import Sweep
from ecnlab.papers.judge import Grid
from ecnlab.papers.material import Material
from ecnlab.papers.published import Metric, Published
from ecnlab.report import Chart, Finding, Group, Maps, Multiples, Table


class Tables(Protocol):
    """The tables of a sweep, with the columns that name the run in front."""

    def table(self, name: str) -> pl.LazyFrame:
        """All rows of a table, over all runs."""
        ...


F = TypeVar("F", bound=Callable[..., Any])


def named(*functions: F) -> dict[str, F]:
    """Functions by name, as referenced by the files of a paper."""
    return {function.__name__: function for function in functions}


Own: TypeAlias = Callable[[Tables], pl.LazyFrame]
"""A quantity that a paper computes in Python: ``value``, and maybe ``other``, of each run."""


@dataclass(frozen=True, slots=True)
class Step:
    """An experiment file and its number of replicates, in the quick and in the full size.

    The quick size is a part of the full one: the same seeds, but fewer. ``metrics.toml`` defines its measurements; a
    step without measurements is a run to be drawn. ``keep`` names additional tables to store.
    """

    name: str
    quick: int
    full: int
    keep: tuple[str, ...] = ()
    place: Mapping[str, str] = field(default_factory=dict)
    """Labels of all its samples on axes of the grid that it does not vary."""
    blocks: bool = False
    """Measure a few seeds at a time, because their time series are long."""
    drawn: bool = False
    """The step is a run to be drawn, without measurements."""


Made: TypeAlias = Table | Group | Chart | Multiples | Maps
"""Additions of code to a section."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Data of single runs on a page: tables by name, and facts about them."""

    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper with a reproduction. ``draw`` gets the sweeps by the name of their step.

    The steps of ``on_linux`` run in both the simulator and the Linux kernel, and only if the kernel is requested;
    ``variant``, which must be a key of the grid, identifies the engine.
    """

    name: str
    grid: Grid
    steps: tuple[Step, ...]
    draw: Callable[[Mapping[str, Sweep]], Drawn]
    on_linux: tuple[Step, ...] = ()
    compare: Callable[[pl.DataFrame, Mapping[str, Metric]], pl.DataFrame] | None = None
    """Comparison of both engines from their samples, one row a cell (`ecnlab.papers.engine_rows`)."""
    own: Mapping[str, Own] = field(default_factory=dict)
    """Quantities that are the paper's own thought, by name."""
    findings: Mapping[str, Callable[[Material], Finding]] = field(default_factory=dict)
    """Sentences of the summary, blocks of sections and words in their texts that ``report.toml`` names and code makes."""
    blocks: Mapping[str, Callable[[Material], Made | Sequence[Made]]] = field(default_factory=dict)
    words: Mapping[str, Callable[[Material], str]] = field(default_factory=dict)
    budget: int = 0
    """Runs of the quick size, if it has seeds where they decide a number or claim (`ecnlab.papers.looking`); 0: each step has its
    ``quick`` seeds."""
    printed: int = 0
    """Seeds of the points behind a printed number, in the full size of a paper with a budget, where the ``full`` ones are fewer."""
    of_samples: Callable[[Published, pl.DataFrame], pl.DataFrame] | None = None
    """Samples that are computed from the samples of all steps, such as a choice made again for resampled seeds."""
