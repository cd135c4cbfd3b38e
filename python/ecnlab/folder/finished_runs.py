"""The finished runs of a sweep in progress.

Each finished run is one file, ``parts/<id>.<digest>.arrows``: a single row with the run's id, the digests of its
captures and a column per table, which holds that table's rows. It is a stream of Arrow IPC, which is written and read in less
than a fifth of the time of a Parquet file with as many columns. Larger tables are in separate files,
``parts/<id>.<table>.<digest>.rows``. When all runs are finished they are merged into one file per table, some runs at a
time. A sweep of thousands of runs thus ends with a dozen files, and an interruption loses no finished run.
"""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ecnlab.base.errors import FolderError, RunError
from ecnlab.base.lazy_imports import np, pl
from ecnlab.folder import atomic, digests
from ecnlab.folder.atomic import write_bytes
from ecnlab.folder.names import MADE, PARTS
from ecnlab.folder.replaced import restore_folder
from ecnlab.folder.sealed_json import read_json, write_json
from ecnlab.folder.streamed_tables import Growing
from ecnlab.folder.tables import stacked
from ecnlab.folder.verified import Files

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALWAYS: Final = "links"
"""A table that every run has, and rows in it: its ids are those of the runs that were merged."""

BATCH: Final = 60
"""Runs that are merged at a time."""

PART: Final = re.compile(rf"[0-9a-f]{{16}}\.[0-9a-f]{{{2 * digests.SIZE}}}\.arrows")
OLD_PART: Final = re.compile(rf"[0-9a-f]{{16}}\.[0-9a-f]{{{2 * digests.SIZE}}}\.parquet")
"""A part of version 0.2.0 or earlier: no longer read, but removed."""

LARGE: Final = re.compile(r"[0-9a-f]{16}\.\w+\.[0-9a-f]+\.rows")
OURS: Final = re.compile(rf"{PART.pattern}|{OLD_PART.pattern}|{LARGE.pattern}|\..*\.partial|{re.escape(MADE)}")
"""All files that a sweep writes there."""

NAME: Final = f"S{16 + 1 + 2 * digests.SIZE + len('.arrows')}"
"""NumPy type for the name of a part, stored in arrays: a Python object per run would need ten times the memory."""

Ids: TypeAlias = "NDArray[np.uint64]"
"""Ids of runs, as numbers."""


def write_part(
    folder: Path, run: str, part: Mapping[str, pl.DataFrame], captures: Mapping[str, str], large: Growing
) -> None:
    """Store the finished ``run`` in ``folder``: tables as frames, and those in ``large``. Raises OSError.

    Not synced: after a loss of power the digest does not match the name, and the run is repeated.
    """
    apart = large.tables
    for table in apart:
        scratch = folder / f".{run}.{table}.partial"
        large.finish(table, scratch)
        atomic.rename(scratch, folder / f"{run}.{table}.{digests.of_file(scratch)}.rows", durable=False)
    names = pl.Series("captures", [[f"{digest} {name}" for name, digest in captures.items()]], dtype=pl.List(pl.String))
    rows = [pl.Series(name, [frame.to_struct()]) for name, frame in part.items() if name not in apart]
    data = io.BytesIO()
    pl.DataFrame([pl.Series("id", [run]), names, *rows]).write_ipc_stream(data, compression="zstd")
    write_small_part(folder, run, data.getvalue())


def write_small_part(folder: Path, run: str, data: bytes) -> None:
    """Store the finished ``run``, whose file has ``data``, in ``folder``. Raises OSError."""
    write_bytes(folder / f"{run}.{digests.of_bytes(data)}.arrows", data, durable=False)


def small_parts(folder: Path, runs: Collection[str], most: int) -> Iterator[tuple[str, bytes]]:
    """Yield those of ``runs`` in ``folder`` that are whole and have one file, of at most ``most`` bytes, as (id, data)."""
    names = [name for name in _files(folder) if not name.startswith(".") and _id(name) in runs]
    large = {_id(name) for name in names if LARGE.fullmatch(name)}
    for name in names:
        path = folder / name
        if PART.fullmatch(name) and _id(name) not in large and path.stat().st_size <= most:
            data = path.read_bytes()
            if digests.of_bytes(data) == _digest(name):
                yield _id(name), data


def receive_part(folder: Path, run: str, files: Mapping[str, bytes], tables: Collection[str]) -> None:
    """Store the finished ``run`` in ``folder``: ``files`` are those that `write_part` wrote on another machine.

    ``tables`` are those that were requested. Raises RunError if ``files`` are not those of ``run``, or damaged; OSError.
    """
    captures_of(run, files, tables)
    for name, data in sorted(files.items(), key=lambda file: PART.fullmatch(file[0]) is not None):
        write_bytes(folder / name, data, durable=False)


def captures_of(run: str, files: Mapping[str, bytes], tables: Collection[str]) -> dict[str, str]:
    """Return the digests of the captures that a part in ``files`` states, by name, after all checks of `receive_part`."""
    for name, data in files.items():
        large = LARGE.fullmatch(name) and name.split(".")[1] in tables
        if _id(name) != run or not (PART.fullmatch(name) or large):
            raise RunError(f"its worker returned the file {name!r}, which is no part of this run: a defect of ecnlab")
        if digests.of_bytes(data) != _digest(name):
            raise RunError(f"its worker returned the file {name}, whose content does not match its digest")
    names = [name for name in files if PART.fullmatch(name)]
    if len(names) != 1:
        raise RunError(f"its worker returned {'several results' if names else 'no result'}: a defect of ecnlab")
    return _stated_captures(run, names[0], files[names[0]], tables)


def _stated_captures(run: str, name: str, data: bytes, tables: Collection[str]) -> dict[str, str]:
    try:
        part = pl.read_ipc_stream(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise RunError(f"its worker returned the file {name}, which is no table ({error})") from error
    expected = {"id": pl.String(), "captures": pl.List(pl.String)}
    for column, kind in part.schema.items():
        right = kind == expected[column] if column in expected else column in tables and _is_table(kind)
        if not right:
            raise RunError(f"its worker returned the file {name}, whose column {column!r} is none of this run")
    whole = part.height == 1 and expected.keys() <= set(part.columns) and part["captures"].null_count() == 0
    if not whole or part["id"][0] != run:
        raise RunError(f"its worker returned the file {name}, which is no part of this run")
    lines = (line.partition(" ") for line in part["captures"][0].drop_nulls())
    return {name: digest for digest, _, name in lines}


def _is_table(kind: pl.DataType) -> bool:
    """Return whether a column of ``kind`` has the rows of a table."""
    return isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct)


class Parts:
    """The runs stored in a sweep's folder, merged or not."""

    def __init__(self, folder: Path, tables: Sequence[str], build: str) -> None:
        self.tables = tuple(tables)
        """``tables`` are the requested tables. A run has those of them that its scenario records."""
        self.folder = folder / PARTS
        self._merged = folder / "tables"
        self._build = build
        self._names = np.empty(0, NAME)
        self._large: dict[tuple[str, str], Path] = {}
        self._captures: dict[str, dict[str, str]] = {}
        self._old: _Merged | None = None

    def clean(self) -> None:
        """Remove incomplete files of a process that was killed. Only for the holder of the writer's lock."""
        restore_folder(self._merged)
        for scratch in [*self._merged.parent.glob(".*.partial"), *self.folder.glob(".*.partial")]:
            _remove(scratch)

    def held(self) -> Ids:
        """Ids of all runs there are, usable or not."""
        return np.union1d(_merged_ids(self._merged), _ids(_names(self.folder)))

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
        damaged = {run for (run, _), path in self._large.items() if digests.of_file(path) != _digest(path.name)}
        for name in map(bytes.decode, self._names):
            if _id(name) in damaged or digests.of_bytes((self.folder / name).read_bytes()) != _digest(name):
                damaged.add(_id(name))
                (self.folder / name).unlink()
        self.take_stock()
        for (run, _), path in self._large.items():
            if self._part(run) is None:
                path.unlink()
        self.take_stock()
        parts = _ids(self._names)
        return np.union1d(parts, self._old.ids) if self._old else parts

    def take_stock(self) -> None:
        """Find the parts there are."""
        self._names = _names(self.folder)
        rows = [name for name in _files(self.folder) if name.endswith(".rows") and not name.startswith(".")]
        self._large = {(_id(name), name.split(".")[1]): self.folder / name for name in rows}

    def stored_captures(self) -> dict[str, dict[str, str]]:
        """Return the digests of the captures of each run that has any, by name, as stored in the parts."""
        for name in map(bytes.decode, self._names):
            self._note_captures(_id(name), _read_part(self.folder / name))
        return self.captures()

    def captures(self) -> dict[str, dict[str, str]]:
        """The same, of the runs that were merged."""
        return {**(self._old.captures if self._old else {}), **self._captures}

    def _note_captures(self, run: str, part: pl.DataFrame) -> None:
        lines = (line.partition(" ") for line in part["captures"][0])
        if found := {name: digest for digest, _, name in lines}:
            self._captures[run] = found

    def _part(self, run: str) -> Path | None:
        """The file of ``run``, if there is one."""
        place = np.searchsorted(self._names, f"{run}.".encode())
        name = self._names[place].decode() if place < self._names.size else ""
        return self.folder / name if _id(name) == run else None

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
        for name in _files(self.folder):
            if OURS.fullmatch(name):
                _remove(self.folder / name)
        with suppress(OSError):
            self.folder.rmdir()

    def _tables(self, batch: Sequence[str]) -> dict[str, pl.LazyFrame]:
        parts = {run: _read_part(path) for run in batch if (path := self._part(run))}
        for run, part in parts.items():
            self._note_captures(run, part)
        others = [run for run in batch if run not in parts]
        order = pl.LazyFrame({"id": batch}, schema={"id": pl.String})
        result = {}
        for table in self.tables:
            small = [part for part in parts.values() if table in part.columns]
            sources = _unpacked(table, small)
            sources += [_with_id(run, path) for run in parts if (path := self._large.get((run, table)))]
            if self._old and others:
                sources += self._old.rows(table, others)
            if sources:
                rows = stacked(table, sources)
                result[table] = order.join(rows, on="id", how="inner", maintain_order="left_right")
        return result

    def _serves(self, path: Path) -> bool:
        try:
            return _serves(read_json(path), self._build, self.tables)
        except (OSError, FolderError):
            return False


def _read_part(path: Path) -> pl.DataFrame:
    """The row of the part ``path``."""
    return pl.read_ipc_stream(path.read_bytes())  # Polars would read the file in many small pieces


def _unpacked(table: str, parts: Sequence[pl.DataFrame]) -> list[pl.LazyFrame]:
    """The rows of ``table`` in ``parts``, each with the ``id`` of its run; parts with other columns are apart."""
    if not parts:
        return []
    try:
        return [_joined(table, parts)]
    except pl.exceptions.SchemaError:
        return [_joined(table, alike) for alike in _by_columns(table, parts)]


def _joined(table: str, parts: Sequence[pl.DataFrame]) -> pl.LazyFrame:
    """The rows of ``table`` in ``parts``. Raises SchemaError if it has other columns in some of them."""
    # Assembled directly: a query for each part would take most of the time.
    columns = [pl.concat([part[name] for part in parts]) for name in ("id", table)]
    return pl.DataFrame(columns).lazy().explode(table).unnest(table)


def _by_columns(table: str, parts: Sequence[pl.DataFrame]) -> Iterable[list[pl.DataFrame]]:
    """The ``parts`` by the columns that they have in ``table``: those of their runs' own laws."""
    alike: dict[pl.DataType, list[pl.DataFrame]] = {}
    for part in parts:
        alike.setdefault(part.get_column(table).dtype, []).append(part)
    return alike.values()


def _names(folder: Path) -> NDArray[np.bytes_]:
    """The names of the parts in ``folder``, in order."""
    names = np.fromiter((name.encode() for name in _files(folder) if PART.fullmatch(name)), NAME)
    names.sort()
    return names


def _files(folder: Path) -> Iterator[str]:
    """The names in ``folder``, one at a time: ``glob`` and ``rmtree`` list very many before the first."""
    if folder.is_dir():
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries)


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _ids(names: NDArray[np.bytes_]) -> Ids:
    """The ids of the runs in the parts ``names``."""
    return np.fromiter((int(name.partition(b".")[0], 16) for name in names), np.uint64, names.size)


def _id(part: str) -> str:
    """The id of the run in the file ``part``."""
    return part.partition(".")[0]


def _digest(part: str) -> str:
    """The digest that the file ``part`` has by its name."""
    return part.split(".")[-2]


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
        requested = np.fromiter((int(run, 16) for run in runs), np.uint64, len(runs))
        there = np.isin(self._ids, requested)
        return sorted(zip(self._starts[there].tolist(), self._lengths[there].tolist(), strict=True))


def _merged_ids(folder: Path) -> Ids:
    path = folder / f"{ALWAYS}.parquet"
    try:
        return numbers(pl.scan_parquet(path).select(pl.col("id").rle().struct.field("value")).collect().to_series())
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError):
        return np.empty(0, np.uint64)


def numbers(ids: pl.Series) -> Ids:
    """Return the ids of runs as numbers. Raises ValueError, TypeError for an invalid id."""
    return np.fromiter((int(run, 16) for run in ids), np.uint64, len(ids))


def _serves(made: Mapping[str, Any], build: str, tables: Sequence[str]) -> bool:
    return made.get("build") == build and set(tables) <= set(made.get("asked", []))
