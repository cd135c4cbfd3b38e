"""The tables of the finished runs of a sweep, merged into one file a table."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ecnlab._core import Experiment
from ecnlab.base.lazy_imports import np, pl
from ecnlab.folder.columns import TABLES
from ecnlab.folder.finished_runs import ALWAYS, Parts
from ecnlab.folder.names import MADE
from ecnlab.folder.part_files import numbers
from ecnlab.folder.replaced import whole_folder
from ecnlab.folder.sealed_json import write_json
from ecnlab.folder.streamed_tables import Growing
from ecnlab.folder.tables import missing_table, pieces, stacked
from ecnlab.folder.verified import digests_of
from ecnlab.runs.sweep_runs import chosen, first_of_each_id, run_keys
from ecnlab.scenario import metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray


MERGED_ROWS: Final = 1 << 9
"""Rows of a merged table that are written at a time: a sweep of many runs needs no more memory than one of few."""

ROWS_AT_A_TIME: Final = 512
"""Number of runs whose names and metrics are joined at a time."""


def merge(
    folder: Path,
    experiment: Experiment,
    parts: Parts,
    seeds: Sequence[int] | None = None,
    read: Sequence[Mapping[str, pl.DataFrame]] = (),
) -> dict[str, Path]:
    """Write the tables of the whole sweep, some runs at a time, and return those of its runs.

    ``read`` has tables of runs, each run once, that need not be read again if they are all.
    """
    parts.take_stock()
    values = _Values(list(experiment.metrics))
    with whole_folder(folder / "tables") as scratch, _only_new_garbage():
        blocks = scratch / ".blocks"
        with Growing(blocks, most=inf, block_rows=MERGED_ROWS) as growing:
            runs = list(map(experiment.id, map(int, first_of_each_id(experiment, seeds))))
            for ids, tables in _read(runs, read) or parts.batches(runs):
                frames = {name: rows.collect().rechunk() for name, rows in tables.items() if not parts.is_large(name)}
                values.add(metrics.evaluate_wide(experiment.metrics, _Batch(frames, tables), ids))
                for name, rows in tables.items():
                    for piece in [frames[name]] if name in frames else pieces(rows):
                        growing.add(name, piece)
                # Polars frames are in reference cycles, which Python collects too late for a sweep of many runs.
                gc.collect()
            made = [name for name in parts.tables if name in growing.tables]
            _refuse_missing(experiment, made)
            _add_keyed(experiment, values, growing, chosen(experiment, seeds))
            for name in ("runs", "metrics", *made):
                growing.finish(name, scratch / f"{name}.parquet")
        shutil.rmtree(blocks, ignore_errors=True)
        write_json(scratch / MADE, {**parts.made(), "files": digests_of(scratch), "captures": parts.captures()})
    return {name: folder / "tables" / f"{name}.parquet" for name in made}


def _read(
    runs: Sequence[str], read: Sequence[Mapping[str, pl.DataFrame]]
) -> list[tuple[Sequence[str], Mapping[str, pl.LazyFrame]]]:
    """Return all ``runs`` with the tables ``read``, in their order; nothing if these are other runs."""
    ids = [tables[ALWAYS]["id"].rle().struct.field("value").to_list() for tables in read]
    there = [run for batch in ids for run in batch]
    if there == runs:
        return [(batch, _lazy(tables)) for batch, tables in zip(ids, read, strict=True)]
    if set(there) != set(runs):
        return []
    place = {run: number for number, run in enumerate(runs)}
    names = dict.fromkeys(name for tables in read for name in tables)
    found = {name: stacked(name, [tables[name] for tables in read if name in tables]) for name in names}
    return [(runs, _lazy({name: _in_order(rows, place) for name, rows in found.items()}))]


def _lazy(tables: Mapping[str, pl.DataFrame]) -> dict[str, pl.LazyFrame]:
    return {name: rows.lazy() for name, rows in tables.items()}


def _in_order(rows: pl.DataFrame, place: Mapping[str, int]) -> pl.DataFrame:
    """Return ``rows`` in the order of their runs; those of a run are consecutive."""
    runs = rows["id"].rle().struct.unnest()
    order = np.argsort([place[run] for run in runs["value"]])
    if (order[1:] > order[:-1]).all():
        return rows
    lengths = runs["len"].to_numpy().astype(np.int64)
    starts = np.cumsum(lengths) - lengths
    return rows[np.concatenate([np.arange(starts[i], starts[i] + lengths[i]) for i in order])]


@contextmanager
def _only_new_garbage() -> Iterator[None]:
    """Exclude existing objects from garbage collection: scanning them would take longer than the merge."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Batch:
    """Tables of some runs for the metrics; a table that none of them has is empty."""

    def __init__(self, frames: Mapping[str, pl.DataFrame], tables: Mapping[str, pl.LazyFrame]) -> None:
        self._frames, self._tables = frames, tables

    def __call__(self, name: str) -> pl.LazyFrame:
        if name in self._frames:
            return self._frames[name].lazy()
        if name in self._tables:
            return self._tables[name]
        return pl.LazyFrame(schema={"id": pl.String, **dict.fromkeys(TABLES[name], pl.Null)})


def _refuse_missing(experiment: Experiment, made: Sequence[str]) -> None:
    """Raise FolderError if a metric reads a table that no run has."""
    for name in sorted(metrics.tables(experiment.metrics)):
        if name not in made:
            raise missing_table(name, dict.fromkeys(made))


class _Values:
    """The metrics of runs as arrays: frames would need several times the memory, and joins of all parts too much time."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._ids: list[NDArray[np.uint64]] = []
        self._values: list[NDArray[np.float64]] = []

    def add(self, wide: pl.DataFrame) -> None:
        """The next runs: ``id`` and a column for each metric."""
        self._ids.append(numbers(wide["id"]))
        columns = [wide[name].fill_null(float("nan")).to_numpy() for name in self._names]
        self._values.append(np.array(columns).reshape(len(self._names), wide.height))

    def by_id(self) -> Callable[[pl.Series], pl.DataFrame]:
        """Return the rows of runs by their ids."""
        ids, values = np.concatenate(self._ids), np.concatenate(self._values, axis=1)
        order = np.argsort(ids)

        def of(runs: pl.Series) -> pl.DataFrame:
            places = order[np.searchsorted(ids, numbers(runs), sorter=order)]
            columns = [
                pl.Series(name, found[places]).fill_nan(None) for name, found in zip(self._names, values, strict=True)
            ]
            return pl.DataFrame([runs, *columns])

        return of


def _add_keyed(experiment: Experiment, values: _Values, growing: Growing, there: NDArray[np.intp]) -> None:
    """The tables ``runs`` and ``metrics``: ids and ``values`` of the runs ``there``, as the experiment names and orders them."""
    of = values.by_id()
    for first in range(0, there.size, ROWS_AT_A_TIME):
        keys = run_keys(experiment, there[first : first + ROWS_AT_A_TIME])
        growing.add("runs", keys)
        rows = metrics.long(of(keys["id"].unique(maintain_order=True)))
        growing.add(
            "metrics", keys.drop("seed", "spec_hash").join(rows, on="id", maintain_order="left_right").drop("id")
        )
