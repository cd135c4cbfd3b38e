"""The files of finished runs in the folder ``parts`` of a sweep.

A part has the finished runs that one process did one after the other: ``<id>.<digest>.arrows`` one run,
``<first id>-<number>.<digest>.arrows`` several. Each run is a row with its id, the digests of its captures and a column per
table, which holds that table's rows. A part is a stream of Arrow IPC, which is written and read in less than a fifth of
the time of a Parquet file with as many columns. Larger tables of a run are in separate files, ``<id>.<table>.<digest>.rows``.
"""

from __future__ import annotations

import io
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from ecnlab.base.errors import RunError
from ecnlab.base.lazy_imports import np, pl
from ecnlab.folder import atomic, digests
from ecnlab.folder.atomic import write_bytes
from ecnlab.folder.names import MADE
from ecnlab.folder.streamed_tables import Growing

if TYPE_CHECKING:
    from numpy.typing import NDArray

PART: Final = re.compile(rf"[0-9a-f]{{16}}(-\d+)?\.[0-9a-f]{{{2 * digests.SIZE}}}\.arrows")
OLD_PART: Final = re.compile(rf"[0-9a-f]{{16}}\.[0-9a-f]{{{2 * digests.SIZE}}}\.parquet")
"""A part of version 0.2.0 or earlier: not read, but removed."""

LARGE: Final = re.compile(r"[0-9a-f]{16}\.\w+\.[0-9a-f]+\.rows")
OURS: Final = re.compile(rf"{PART.pattern}|{OLD_PART.pattern}|{LARGE.pattern}|\..*\.partial|{re.escape(MADE)}")
"""All files that a sweep writes there."""

MAX_RUNS: Final = 60
"""Most runs of a part."""

NAME: Final = f"S{16 + len(f'-{MAX_RUNS}') + 1 + 2 * digests.SIZE + len('.arrows')}"
"""NumPy type for the name of a part, stored in arrays: a Python object per run would need ten times the memory."""

Ids: TypeAlias = "NDArray[np.uint64]"
"""Ids of runs, as numbers."""


def write_part(folder: Path, runs: Sequence[str], part: Mapping[str, Sequence[pl.DataFrame]]) -> None:
    """Store the finished ``runs`` in ``folder``: of each table the rows of each run. Raises OSError.

    Not synced: after a loss of power the digest does not match the name, and the runs are repeated.
    """
    _write(folder, runs, [[]] * len(runs), part)


def write_run(
    folder: Path, run: str, part: Mapping[str, pl.DataFrame], captures: Mapping[str, str], large: Growing
) -> None:
    """Store the finished ``run`` with the digests of its ``captures``: tables as frames, and those in ``large``. As `write_part`."""
    apart = large.tables
    for table in apart:
        scratch = folder / f".{run}.{table}.partial"
        large.finish(table, scratch)
        atomic.rename(scratch, folder / f"{run}.{table}.{digests.of_file(scratch)}.rows", durable=False)
    lines = [f"{digest} {name}" for name, digest in captures.items()]
    _write(folder, [run], [lines], {name: [frame] for name, frame in part.items() if name not in apart})


def _write(
    folder: Path, runs: Sequence[str], captures: Sequence[Sequence[str]], part: Mapping[str, Sequence[pl.DataFrame]]
) -> None:
    names = pl.Series("captures", captures, dtype=pl.List(pl.String))
    rows = [pl.Series(name, [frame.to_struct() for frame in frames]) for name, frames in part.items()]
    _store(folder, pl.DataFrame([pl.Series("id", runs), names, *rows]))


def _store(folder: Path, part: pl.DataFrame) -> None:
    data = io.BytesIO()
    part.write_ipc_stream(data, compression="zstd")
    _store_data(folder, part["id"][0], part.height, data.getvalue())


def _store_data(folder: Path, first: str, number: int, data: bytes) -> None:
    write_bytes(folder / f"{_stem(first, number)}{digests.of_bytes(data)}.arrows", data, durable=False)


def _stem(first: str, number: int) -> str:
    """The name of a part with ``number`` runs, up to its digest."""
    return f"{first}-{number}." if number > 1 else f"{first}."


def store_rows(folder: Path, data: bytes, runs: Collection[str]) -> None:
    """Store those of the finished runs in ``data``, a part, that ``runs`` has, in ``folder``. Raises OSError."""
    there = ids_in(data)
    if set(there) <= set(runs):
        _store_data(folder, there[0], len(there), data)
    else:
        _store(folder, pl.read_ipc_stream(data).filter(pl.col("id").is_in(runs)))


def small_parts(folder: Path, wanted: Callable[[str], bool], most: int) -> Iterator[tuple[str, list[str], bytes]]:
    """Yield those parts in ``folder`` with ``wanted`` names that are whole, of at most ``most`` bytes, as (name, ids, data).

    Not those of runs with large tables.
    """
    names = [name for name in files_in(folder) if not name.startswith(".")]
    large = {first_id(name) for name in names if LARGE.fullmatch(name)}
    for name in names:
        path = folder / name
        if PART.fullmatch(name) and wanted(name) and first_id(name) not in large and path.stat().st_size <= most:
            data = path.read_bytes()
            if is_whole(name, data):
                yield name, _ids_in(name, data), data


def store_parts(folder: Path, files: Mapping[str, bytes]) -> None:
    """Store ``files``, which are `checked_parts`, in ``folder``. Raises OSError."""
    for name, data in sorted(files.items(), key=lambda file: PART.fullmatch(file[0]) is not None):
        write_bytes(folder / name, data, durable=False)


def checked_parts(
    files: Mapping[str, bytes], runs: Collection[str], tables: Collection[str]
) -> dict[str, dict[str, str]]:
    """Return the digests of captures, by name, of each run in ``files``: parts, and tables apart, from another machine.

    Raises RunError if they are damaged, or have other runs than some of ``runs``, each once, or other ``tables``.
    """
    found: dict[str, dict[str, str]] = {}
    for name, data in files.items():
        if not (PART.fullmatch(name) or LARGE.fullmatch(name)):
            raise RunError(f"its worker returned the file {name!r}, which is no part of this run: a defect of ecnlab")
        if not is_whole(name, data):
            raise RunError(f"its worker returned the file {name}, whose content does not match its digest")
        if PART.fullmatch(name):
            part = _checked_part(name, data, tables)
            if not part.keys() <= set(runs) - found.keys():
                raise RunError(f"its worker returned the file {name}, which is no part of this run")
            found |= part
    single = {first_id(name) for name in files if PART.fullmatch(name) and is_single(name)}
    for name in files:
        if LARGE.fullmatch(name) and not (first_id(name) in single and name.split(".")[1] in tables):
            raise RunError(f"its worker returned the file {name}, which is no part of this run")
    return found


def _checked_part(name: str, data: bytes, tables: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the digests of the captures of each run in ``data``, whose ids are those of the file's ``name``."""
    try:
        part = pl.read_ipc_stream(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise RunError(f"its worker returned the file {name}, which is no table ({error})") from error
    expected = {"id": pl.String(), "captures": pl.List(pl.String)}
    for column, kind in part.schema.items():
        right = kind == expected[column] if column in expected else column in tables and _is_table(kind)
        if not right:
            raise RunError(f"its worker returned the file {name}, whose column {column!r} is none of this run")
    whole = 0 < part.height <= MAX_RUNS and expected.keys() <= set(part.columns)
    if not whole or part["captures"].null_count() or part["id"].null_count() or part["id"].n_unique() < part.height:
        raise RunError(f"its worker returned the file {name}, which is no part of this run")
    if not name.startswith(_stem(part["id"][0], part.height)):
        raise RunError(f"its worker returned the file {name}, which has other runs than its name")
    return {run: _captures(lines) for run, lines in part.select("id", pl.col("captures").list.drop_nulls()).iter_rows()}


def _is_table(kind: pl.DataType) -> bool:
    """Return whether a column of ``kind`` has the rows of a table."""
    return isinstance(kind, pl.List) and isinstance(kind.inner, pl.Struct)


def stated_captures(part: pl.DataFrame) -> dict[str, dict[str, str]]:
    """Return the digests of the captures of each run of ``part`` that has any, by name."""
    some = part.filter(pl.col("captures").list.len() > 0).select("id", "captures")
    return {run: _captures(lines) for run, lines in some.iter_rows()}


def _captures(lines: Iterable[str]) -> dict[str, str]:
    parted = (line.partition(" ") for line in lines)
    return {name: digest for digest, _, name in parted}


class Stock:
    """The parts in a folder: their names, and the file and row of each run. Damaged parts of several runs have no runs."""

    def __init__(self, folder: Path, known: Stock | None = None) -> None:
        """``known`` is an earlier stock of the folder: parts that it has are not read again."""
        self._folder = folder
        self.names = np.fromiter((name.encode() for name in files_in(folder) if PART.fullmatch(name)), NAME)
        self.names.sort()
        self._several = {name: self._read_ids(name, known) for name in self if not is_single(name)}
        sizes = [1 if is_single(name) else self._several[name].size for name in self]
        ids = np.fromiter((one for name in self for one in self._ids_of(name)), np.uint64)
        self.ids, first = np.unique(ids, return_index=True)
        files = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        self._files, self._rows = files[first], (np.arange(ids.size) - (np.cumsum(sizes) - sizes)[files])[first]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the parts."""
        return map(bytes.decode, self.names)

    def place(self, run: str) -> tuple[str, int] | None:
        """Return the name of the part that has ``run``, and its row; None if there is none."""
        number = np.uint64(int(run, 16))
        at = np.searchsorted(self.ids, number)
        if at == self.ids.size or self.ids[at] != number:
            return None
        return self.names[self._files[at]].decode(), int(self._rows[at])

    def _ids_of(self, name: str) -> Iterable[int]:
        return (int(first_id(name), 16),) if is_single(name) else map(int, self._several[name])

    def _read_ids(self, name: str, known: Stock | None) -> Ids:
        if known and name in known._several:
            return known._several[name]
        data = (self._folder / name).read_bytes()
        return numbers(_ids_in(name, data) if is_whole(name, data) else ())


def _ids_in(name: str, data: bytes) -> list[str]:
    """The ids of the runs in ``data``, which are those of the part ``name``."""
    return [first_id(name)] if is_single(name) else ids_in(data)


def ids_in(data: bytes) -> list[str]:
    """The ids of the runs in ``data``, a part."""
    return pl.read_ipc_stream(data, columns=["id"])["id"].to_list()


def read_part(path: Path) -> pl.DataFrame:
    """Return the rows of the part ``path``."""
    return pl.read_ipc_stream(path.read_bytes())  # Polars would read the file in many small pieces


def files_in(folder: Path) -> Iterator[str]:
    """The names in ``folder``, one at a time: ``glob`` and ``rmtree`` list very many before the first."""
    if folder.is_dir():
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries)


def remove(path: Path) -> None:
    """Remove the file or folder ``path``, if it exists."""
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def numbers(ids: Iterable[str]) -> Ids:
    """Return the ids of runs as numbers. Raises ValueError, TypeError for an invalid id."""
    return np.fromiter((int(run, 16) for run in ids), np.uint64)


def first_id(name: str) -> str:
    """The id of the first run in the file ``name``."""
    return name.partition(".")[0].partition("-")[0]


def is_single(name: str) -> bool:
    """Return whether the part ``name`` has one run."""
    return "-" not in name


def is_whole(name: str, data: bytes) -> bool:
    """Return whether ``data`` match the digest in ``name``."""
    return digests.of_bytes(data) == stated_digest(name)


def stated_digest(name: str) -> str:
    """The digest that the file ``name`` has by its name."""
    return name.split(".")[-2]
