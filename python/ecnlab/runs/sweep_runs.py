"""The runs of an experiment: their keys, each once even if several points share it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ecnlab._core import Experiment, ExperimentRun
from ecnlab.base.lazy_imports import np, pl

if TYPE_CHECKING:
    from numpy.typing import NDArray


def run_keys(experiment: Experiment, indices: Iterable[int] | None = None) -> pl.DataFrame:
    """One row a run of ``experiment``, or of those with ``indices``, in its order: arm, axes, replicate, seed, id, spec_hash."""
    axes = experiment.axes
    rows = [
        {"arm": run.arm, **run.point, "replicate": run.replicate, "seed": run.seed, "id": run.id, "spec_hash": run.hash}
        for run in map(experiment.run, range(len(experiment)) if indices is None else map(int, indices))
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


def run_ids(experiment: Experiment, indices: Iterable[int] | None = None) -> NDArray[np.uint64]:
    """The ids of all runs, or of those with ``indices``, in their order, as numbers: a sweep may have very many."""
    there = range(len(experiment)) if indices is None else map(int, indices)
    return np.fromiter((int(experiment.id(i), 16) for i in there), np.uint64)


def chosen(experiment: Experiment, seeds: Sequence[int] | None, done: Sequence[int] | None = None) -> NDArray[np.intp]:
    """The indices of the first ``seeds`` runs of each point and arm, less those ``done``; without ``seeds`` of all runs."""
    numbers = np.arange(len(experiment))
    if seeds is None:
        return numbers
    replicate = numbers % experiment.replicates
    there = replicate < np.repeat(seeds, experiment.replicates)
    return numbers[there if done is None else there & (replicate >= np.repeat(done, experiment.replicates))]


def first_of_each_id(
    experiment: Experiment, seeds: Sequence[int] | None = None, done: Sequence[int] | None = None
) -> NDArray[np.intp]:
    """The index of the first run of each id, in the order of the experiment: of the runs that `chosen` selects."""
    there = chosen(experiment, seeds, done)
    return there[np.sort(np.unique(run_ids(experiment, there), return_index=True)[1])]
