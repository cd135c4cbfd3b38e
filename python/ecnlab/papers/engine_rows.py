"""Comparisons of the simulator and the Linux kernel in a README: the rows that ``quoted.json`` has, and references to them.

A row is a cell: metric, place, both means, the interval of their difference or ratio, ``neutral`` (the difference or ratio of
engines that do not differ), number of seeds, verdict. ``docs/papers.md`` documents the references.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from ecnlab.base.guesses import unknown
from ecnlab.papers.judge import Grid

SIMULATOR: Final = "simulator"
KERNEL: Final = "kernel"
"""The engine that ran a step of ``on_linux``: the variant of its samples."""

CELLS: Final = "engines"
"""Name of the table of comparisons in ``quoted.json``."""

TABLES: Final = ("linux", CELLS)
"""Tables that need the kernel."""

NUMBERS: Final = (SIMULATOR, KERNEL, "low", "high", "neutral")

Row = Mapping[str, Any]


def schema(grid: Grid) -> dict[str, type[pl.DataType]]:
    """Return the columns of the table of comparisons."""
    text: dict[str, type[pl.DataType]] = dict.fromkeys(("metric", *grid.keys), pl.String)
    return text | dict.fromkeys(NUMBERS, pl.Float64) | {"n": pl.UInt32, "verdict": pl.String}


class Forms:
    """Base class of values with forms; an unknown form is an error that names the nearest one."""

    def __getattr__(self, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        raise unknown("form", name, [one for one in dir(self) if not one.startswith("_")])


@dataclass(frozen=True)
class Cells(Forms):
    """Comparisons of both engines. Printed, it is their number."""

    _rows: pl.DataFrame
    _in_words: Callable[[Row], str]

    @property
    def clear(self) -> int:
        """The number of those whose interval excludes engines that do not differ."""
        return self._clear().height

    @property
    def listed(self) -> str:
        """The clear ones in words with both means: simulator, kernel; "none" if there are none."""
        return "; ".join(self._in_words(row) for row in self._clear().iter_rows(named=True)) or "none"

    def __str__(self) -> str:
        return str(self._rows.height)

    def _clear(self) -> pl.DataFrame:
        return self._rows.filter((pl.col("low") > pl.col("neutral")) | (pl.col("high") < pl.col("neutral")))


@dataclass(frozen=True)
class KernelRuns(Forms):
    """The runs on the Linux kernel, as ``quoted.json`` describes them."""

    _run: Mapping[str, Any]

    @property
    def size(self) -> str:
        """``full`` or ``quick``."""
        return "full" if self._run["full"] else "quick"

    @property
    def version(self) -> str:
        """The version of the kernel."""
        return str(self._run["linux"]["kernel"])

    @property
    def seeds(self) -> str:
        """The number of seeds, of several sizes all."""
        return " or ".join(str(n) for n in sorted({one["replicates"] for one in self._run["experiments"].values()}))

    @property
    def runs(self) -> str:
        """The number of runs of both engines."""
        return f"{2 * sum(one['runs'] for one in self._run['experiments'].values()):,}"
