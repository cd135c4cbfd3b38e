"""The finished runs of a sweep in progress, merged or not.

Files in ``parts`` (`part_files`) have one run or several. When all runs are finished they are merged into one file per table,
some runs at a time. A sweep of thousands of runs thus ends with a dozen files, and an interruption loses no finished run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import FolderError
from ecnlab.base.lazy_imports import np, pl
from ecnlab.folder import digests, part_files
from ecnlab.folder.names import MADE, PARTS
from ecnlab.folder.part_files import (
    Ids,
    Stock,
    files_in,
    first_id,
    ids_in,
    is_whole,
    numbers,
    read_part,
    stated_captures,
    stated_digest,
)
from ecnlab.folder.replaced import restore_folder
from ecnlab.folder.sealed_json import read_json, write_json
from ecnlab.folder.tables import stacked
from ecnlab.folder.verified import Files

ALWAYS: Final = "links"
"""A table that every run has, and rows in it: its ids are those of the runs that were merged."""

BATCH: Final = 60
"""Runs that are merged at a time."""


class Parts:
    """The runs stored in a sweep's folder, merged or not."""

    def __init__(self, folder: Path, tables: Sequence[str], build: str) -> None:
        self.tables = tuple(tables)
        """``tables`` are the requested tables. A run has those of them that its scenario records."""
        self.folder = folder / PARTS
        self._merged = folder / "tables"
        self._build = build
        self._blocks: dict[str | int, pl.DataFrame] = {}
        self._held: list[bytes] = []
        self._held_places: dict[str, tuple[int, int]] = {}
        self._large: dict[tuple[str, str], Path] = {}
        self._captures: dict[str, dict[str, str]] = {}
        self._old: _Merged | None = None

    @cached_property
    def _stock(self) -> Stock:
        return Stock(self.folder)

    def clean(self) -> None:
        """Remove incomplete files of a process that was killed. Only for the holder of the writer's lock."""
        restore_folder(self._merged)
        for scratch in [*self._merged.parent.glob(".*.partial"), *self.folder.glob(".*.partial")]:
            part_files.remove(scratch)

    def held(self) -> Ids:
        """Ids of all runs there are, usable or not."""
        return np.union1d(_merged_ids(self._merged), Stock(self.folder, self._stock).ids)

    def usable(self) -> Ids:
        """Ids of the runs that this build made, with all tables wanted now, and that are not damaged.

        Those of ``parts`` that are not are removed.
        """
        self._old = _Merged.read(self._merged, self._build, self.tables)
        if not self._serves(self.folder / MADE):
            self.forget()
        self.folder.mkdir(exist_ok=True)
        write_json(self.folder / MADE, self.made())
        self.take_stock()
        damaged = [run for (run, _), path in self._large.items() if digests.of_file(path) != stated_digest(path.name)]
        without = {place[0] for run in damaged if (place := self._stock.place(run))}
        for name in self._stock:
            path = self.folder / name
            if name in without or not is_whole(name, path.read_bytes()):
                path.unlink()
        self.take_stock()
        for (run, _), path in self._large.items():
            if self._stock.place(run) is None:
                path.unlink()
        self.take_stock()
        return np.union1d(self._stock.ids, self._old.ids) if self._old else self._stock.ids

    def hold(self, data: bytes, runs: Collection[str]) -> None:
        """Add those of the finished runs in ``data``, a part, that ``runs`` has, without a file: for a merge by this process."""
        self._held_places |= {run: (len(self._held), row) for row, run in enumerate(ids_in(data)) if run in runs}
        self._held.append(data)

    def store(self, data: bytes, runs: Collection[str]) -> None:
        """Store those of the finished runs in ``data``, a part, that ``runs`` has. Raises OSError."""
        part_files.store_rows(self.folder, data, runs)

    def take_stock(self) -> None:
        """Find the parts there are."""
        self._stock = Stock(self.folder, self._stock)
        rows = [name for name in files_in(self.folder) if name.endswith(".rows") and not name.startswith(".")]
        self._large = {(first_id(name), name.split(".")[1]): self.folder / name for name in rows}

    def stored_captures(self) -> dict[str, dict[str, str]]:
        """Return the digests of the captures of each run that has any, by name, as stored in the parts."""
        for name in self._stock:
            self._captures |= stated_captures(read_part(self.folder / name))
        return self.captures()

    def captures(self) -> dict[str, dict[str, str]]:
        """The same, of the runs that were merged."""
        return {**(self._old.captures if self._old else {}), **self._captures}

    def batches(self, runs: Iterable[str]) -> Iterator[tuple[list[str], dict[str, pl.LazyFrame]]]:
        """Some of the ``runs`` at a time, in their order: each table under each other, with the run's ``id`` in front."""
        batch: list[str] = []
        for run in runs:
            batch.append(run)
            if len(batch) == BATCH:
                yield batch, self._tables(batch)
                batch = []
        if batch:
            yield batch, self._tables(batch)

    def is_large(self, table: str) -> bool:
        """Return whether a run's ``table`` has too many rows for memory."""
        return any(name == table for _, name in self._large)

    def made(self) -> dict[str, Any]:
        """Return the information to store with the merged tables."""
        return {"build": self._build, "asked": list(self.tables)}

    def forget(self) -> None:
        """Remove the files of single runs that have been merged or are obsolete; foreign files are kept."""
        for name in files_in(self.folder):
            if part_files.OURS.fullmatch(name):
                part_files.remove(self.folder / name)
        with suppress(OSError):
            self.folder.rmdir()

    def _tables(self, batch: Sequence[str]) -> dict[str, pl.LazyFrame]:
        parts = self._read(batch)
        there = {run for part in parts for run in part["id"]}
        others = [run for run in batch if run not in there]
        if parts:
            self._captures |= stated_captures(pl.DataFrame(_columns(parts, "id", "captures")))
        order = pl.LazyFrame({"id": batch}, schema={"id": pl.String})
        result = {}
        for table in self.tables:
            sources = _unpacked(table, [part for part in parts if table in part.columns], batch)
            ordered = len(sources) == 1
            sources += [
                _with_id(run, path) for run in batch if run in there and (path := self._large.get((run, table)))
            ]
            if self._old and others:
                sources += self._old.rows(table, others)
            if len(sources) == 1 and ordered:
                result[table] = sources[0]
            elif sources:
                rows = stacked(table, sources)
                result[table] = order.join(rows, on="id", how="inner", maintain_order="left_right")
        return result

    def _read(self, batch: Sequence[str]) -> list[pl.DataFrame]:
        """Return the rows of those runs of ``batch`` that are in parts, a frame for each part."""
        rows: dict[str | int, list[int]] = {}
        for run in batch:
            if place := self._held_places.get(run) or self._stock.place(run):
                rows.setdefault(place[0], []).append(place[1])
        parts = {name: self._part(name) for name in rows}
        # The next batch may have the other runs of a part.
        self._blocks = {name: part for name, part in parts.items() if part.height > len(rows[name])}
        return [part if name not in self._blocks else part[rows[name]] for name, part in parts.items()]

    def _part(self, name: str | int) -> pl.DataFrame:
        """Return the rows of the part ``name`` in the folder, or of that held in this place."""
        if name in self._blocks:
            return self._blocks[name]
        return read_part(self.folder / name) if isinstance(name, str) else pl.read_ipc_stream(self._held[name])

    def _serves(self, path: Path) -> bool:
        try:
            return _serves(read_json(path), self._build, self.tables)
        except (OSError, FolderError):
            return False


def _unpacked(table: str, parts: Sequence[pl.DataFrame], batch: Sequence[str]) -> list[pl.LazyFrame]:
    """The rows of ``table`` in ``parts``, each with the ``id`` of its run, in the order of ``batch``; parts with other columns are apart."""
    if not parts:
        return []
    try:
        return [_joined(table, parts, batch)]
    except pl.exceptions.SchemaError:
        return [_joined(table, alike, batch) for alike in _by_columns(table, parts)]


def _joined(table: str, parts: Sequence[pl.DataFrame], batch: Sequence[str]) -> pl.LazyFrame:
    """The rows of ``table`` in ``parts``, in the order of ``batch``. Raises SchemaError if it has other columns in some of them."""
    # Assembled directly: a query for each part, or a join, would take most of the time.
    ids, rows = _columns(parts, "id", table)
    there = {run: place for place, run in enumerate(ids)}
    order = [there[run] for run in batch if run in there]
    if order != sorted(order):
        ids, rows = ids.gather(order), rows.gather(order)
    return pl.DataFrame([ids, rows]).lazy().explode(table).unnest(table)


def _columns(parts: Sequence[pl.DataFrame], *names: str) -> list[pl.Series]:
    """The columns ``names`` of ``parts``, each under each other."""
    return [pl.concat([part[name] for part in parts]) for name in names]


def _by_columns(table: str, parts: Sequence[pl.DataFrame]) -> Iterable[list[pl.DataFrame]]:
    """The ``parts`` by the columns that they have in ``table``: those of their runs' own laws."""
    alike: dict[pl.DataType, list[pl.DataFrame]] = {}
    for part in parts:
        alike.setdefault(part.get_column(table).dtype, []).append(part)
    return alike.values()


def _with_id(run: str, path: Path) -> pl.LazyFrame:
    return pl.scan_parquet(path).select(pl.lit(run).alias("id"), pl.all())


class _Merged:
    """The merged tables, as they were before this sweep."""

    def __init__(self, folder: Path, made: Mapping[str, Any]) -> None:
        self._folder = folder
        self.captures: dict[str, dict[str, str]] = made.get("captures", {})
        self.ids = _merged_ids(folder)
        self._places: dict[str, _Places] = {}

    @classmethod
    def read(cls, folder: Path, build: str, tables: Sequence[str]) -> _Merged | None:
        """Return the tables in ``folder``, if made by ``build``, as requested, and undamaged."""
        try:
            made = read_json(folder / MADE)
            files = Files(folder, made)
            if not _serves(made, build, tables) or any(files.damaged()):
                return None
        except (OSError, FolderError):
            return None
        return cls(folder, made)

    def rows(self, table: str, runs: Sequence[str]) -> list[pl.LazyFrame]:
        """Return the rows of ``runs``, one piece for each consecutive range."""
        path = self._folder / f"{table}.parquet"
        if not path.exists():
            return []
        if table not in self._places:
            self._places[table] = _Places(path)
        ranges: list[list[int]] = []
        for start, length in self._places[table].of(runs):
            if ranges and sum(ranges[-1]) == start:
                ranges[-1][1] += length
            else:
                ranges.append([start, length])
        return [pl.scan_parquet(path).slice(start, length) for start, length in ranges]


class _Places:
    """First row and number of rows of each run in a merged table; the rows of a run are consecutive."""

    def __init__(self, path: Path) -> None:
        runs = pl.scan_parquet(path).select(pl.col("id").rle()).collect().unnest("id")
        lengths = runs["len"].to_numpy().astype(np.int64)
        ids = numbers(runs["value"])
        order = np.argsort(ids)
        self._ids, self._lengths = ids[order], lengths[order]
        self._starts = (np.cumsum(lengths) - lengths)[order]

    def of(self, runs: Sequence[str]) -> list[tuple[int, int]]:
        """Return the existing ones of ``runs``, in the order of the table."""
        requested = numbers(runs)
        there = np.isin(self._ids, requested)
        return sorted(zip(self._starts[there].tolist(), self._lengths[there].tolist(), strict=True))


def _merged_ids(folder: Path) -> Ids:
    path = folder / f"{ALWAYS}.parquet"
    try:
        return numbers(pl.scan_parquet(path).select(pl.col("id").rle().struct.field("value")).collect().to_series())
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError):
        return np.empty(0, np.uint64)


def _serves(made: Mapping[str, Any], build: str, tables: Sequence[str]) -> bool:
    return made.get("build") == build and set(tables) <= set(made.get("asked", []))
