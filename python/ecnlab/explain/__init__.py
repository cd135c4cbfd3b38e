"""Differences in packet behaviour between two engines, ranked, largest first."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from ecnlab._core import Experiment
from ecnlab.base.types import Engine
from ecnlab.engines.protocol import PACKETS
from ecnlab.explain.capturing import LONGEST_S, measure
from ecnlab.explain.ranking import rank

__all__ = ["LONGEST_S", "explain", "measure", "rank"]


def explain(
    question: Experiment,
    engine: Engine,
    replicates: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> pl.DataFrame:
    """Repeat the first ``replicates`` of each cell of ``question`` in both engines, with captures, and rank the differences.

    Columns ``arm`` and the axes, then those of ``rank``. ``progress`` is called with (runs done, runs in all).
    """
    runs = [run for run in question.runs if run.replicate < replicates]
    axes = list(dict.fromkeys(name for run in runs for name in run.point))
    parts: dict[Engine, list[pl.DataFrame]] = {PACKETS: [], engine: []}
    done, total = 0, len(runs) * len(parts)
    progress(done, total)
    for run in runs:
        cell = [
            pl.lit(run.arm, pl.String).alias("arm"),
            *(pl.lit(run.point.get(axis), pl.String).alias(axis) for axis in axes),
        ]
        for of, found in parts.items():
            found.append(measure(run.scenario, run.seed, of).select(*cell, pl.all()))
            done += 1
            progress(done, total)
    return rank(pl.concat(parts[PACKETS]), pl.concat(parts[engine]), ["arm", *axes])
