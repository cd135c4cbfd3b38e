"""The runs of an experiment: their keys, each once even if several points share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ecnlab._core import Experiment, ExperimentRun
from ecnlab.base.lazy_imports import np, pl

if TYPE_CHECKING:
    from numpy.typing import NDArray


def run_keys(experiment: Experiment, first: int = 0, last: int | None = None) -> pl.DataFrame:
    """One row a run of ``experiment``, in its order: arm, axes, replicate, seed, id, spec_hash.

    Of those from ``first`` to before ``last``, if given.
    """
    axes = experiment.axes
    rows = [
        {"arm": run.arm, **run.point, "replicate": run.replicate, "seed": run.seed, "id": run.id, "spec_hash": run.hash}
        for run in map(experiment.run, range(first, len(experiment) if last is None else last))
    ]
    types = {
        "arm": pl.String,
        **dict.fromkeys(axes, pl.String),
        "replicate": pl.UInt32,
        "seed": pl.UInt64,
        "id": pl.String,
        "spec_hash": pl.String,
    }
    return pl.DataFrame(rows, schema=types)


def one_of_each(experiment: Experiment) -> Iterator[ExperimentRun]:
    """A run of every point and arm."""
    return map(experiment.run, range(0, len(experiment), experiment.replicates))


def run_ids(experiment: Experiment) -> NDArray[np.uint64]:
    """The ids of all runs, in their order, as numbers: a sweep may have very many."""
    return np.fromiter((int(experiment.id(i), 16) for i in range(len(experiment))), np.uint64, len(experiment))


def chosen(experiment: Experiment, seeds: Sequence[int] | None) -> NDArray[np.bool_]:
    """Whether each run is one of the first ``seeds`` of its point and arm; without ``seeds`` every one is."""
    if seeds is None:
        return np.ones(len(experiment), np.bool_)
    return np.arange(len(experiment)) % experiment.replicates < np.repeat(seeds, experiment.replicates)


def first_of_each_id(experiment: Experiment, seeds: Sequence[int] | None = None) -> NDArray[np.intp]:
    """The index of the first run of each id, in the order of the experiment: of the runs that `chosen` selects."""
    there = np.flatnonzero(chosen(experiment, seeds))
    return there[np.sort(np.unique(run_ids(experiment)[there], return_index=True)[1])]
