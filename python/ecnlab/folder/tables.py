"""Tables as Parquet files: written, joined, read, and described for a manifest."""

from __future__ import annotations

import errno
import io
import itertools
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from ecnlab.base.errors import FolderError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.atomic import write_bytes
from ecnlab.folder.columns import TABLES, units
from ecnlab.folder.names import MANIFEST, REMEDY

Frame = TypeVar("Frame", "pl.DataFrame", "pl.LazyFrame")

ROW_GROUP: Final = 1 << 20
"""Rows of a table that are written together."""


def pieces(rows: pl.LazyFrame, size: int = 1 << 18) -> Iterator[pl.DataFrame]:
    """The ``rows``, some at a time."""
    for start in itertools.count(0, size):
        piece = rows.slice(start, size).collect()
        if piece.height or not start:
            yield piece
        if piece.height < size:
            return


def write_table(path: Path, frame: pl.DataFrame, *, durable: bool = True) -> None:
    """Write ``frame`` as Parquet (zstd): equal frames give equal bytes.

    Raises OSError as any write does; Polars, writing by itself, would hide the cause in its own error.
    """
    write_bytes(path, table_bytes(frame), durable=durable)


def table_bytes(frame: pl.DataFrame) -> bytes:
    """``frame`` as Parquet."""
    data = io.BytesIO()
    frame.write_parquet(data, compression="zstd", row_group_size=ROW_GROUP)
    return data.getvalue()


def stacked(table: str, parts: Sequence[Frame]) -> Frame:
    """Concatenate the rows of ``table`` of several runs.

    Each run has columns for its own laws; the result has those of all runs, in the order of the table, null for runs
    without the law.
    """
    schemas = [part.collect_schema() for part in parts]
    if all(schema == schemas[0] for schema in schemas):
        return pl.concat(parts)
    there = {name: None for schema in schemas for name in schema}
    order = {**dict.fromkeys(name for name in there if name not in TABLES[table]), **TABLES[table]}
    return pl.concat(parts, how="diagonal").select(name for name in order if name in there)


def join_tables(rows: pl.LazyFrame, parts: Iterable[Path], path: Path, row_group: int) -> None:
    """Write the ``rows`` of the tables in ``parts`` into ``path``, holding ``row_group`` rows. Raises OSError."""
    needed = sum(part.stat().st_size for part in parts)
    if shutil.disk_usage(path.parent).free < needed:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    try:
        rows.sink_parquet(path, compression="zstd", row_group_size=row_group)
    except pl.exceptions.PolarsError as error:
        raise OSError(errno.EIO, f"cannot be written: {error}", str(path)) from error


def describe(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return the description of ``tables`` in a manifest: rows, types and units."""
    return {
        name: {
            "rows": frame.height,
            "types": {column: str(dtype) for column, dtype in frame.schema.items()},
            "units": units(name),
        }
        for name, frame in tables.items()
    }


def describe_stored(tables: Mapping[str, Path]) -> dict[str, Any]:
    """``describe`` of tables in files, which are not read as a whole."""
    found = {}
    for name, path in tables.items():
        rows = pl.scan_parquet(path)
        columns = {column: str(dtype) for column, dtype in rows.collect_schema().items()}
        found[name] = {"rows": rows.select(pl.len()).collect().item(), "types": columns, "units": units(name)}
    return found


def read_table(path: Path) -> pl.DataFrame:
    """The table in ``path``. Raises FolderError if it is missing or no table."""
    insist_on_table(path)
    try:
        return pl.read_parquet(path)
    except pl.exceptions.PolarsError as error:
        raise FolderError(f"{path} is damaged, cut off or changed since it was written: {REMEDY}") from error


def table_schema(path: Path) -> pl.Schema:
    """The columns of the table in ``path`` with their types. Raises FolderError if it is missing or no table."""
    insist_on_table(path)
    try:
        return pl.Schema(pl.read_parquet_schema(path))
    except pl.exceptions.PolarsError as error:
        raise FolderError(f"{path} is damaged, cut off or changed since it was written: {REMEDY}") from error


def insist_on_table(path: Path) -> None:
    """Raise FolderError if there is no file ``path``, a table named in the manifest of its folder."""
    if not path.is_file():
        raise FolderError(f"{path} is missing, though the folder's {MANIFEST} names it: {REMEDY}")


def missing_table(name: str, present: Mapping[str, object]) -> FolderError:
    """Return the reason why there is no table ``name``, for the user who requested it."""
    if name not in TABLES:
        return FolderError(f"no table is called {name!r}; there are {', '.join(present)}")
    quantiles = "set quantiles = true in a queue, or give a link a queue of classes; or keep it when sweeping (--keep)"
    remedies = {
        "queue_series": 'set sample = "100 ms" in the scenario',
        "flow_series": 'set sample = "100 ms" in the scenario',
        "objects": "it is of web traffic, of which this has none; or keep it when sweeping (keep=, --keep)",
        "packets": "run with events=True (--events), or set packets = true in the scenario",
        **dict.fromkeys(("classes", "sojourns", "sojourn_bins"), quantiles),
    }
    remedy = remedies.get(name, "keep it when sweeping (keep=, --keep)")
    return FolderError(f"table {name!r} was not recorded: {remedy}")
