"""Columns of stored tables: which must be there, and of which type. Checked when a table is read, from its schema alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ecnlab import laws
from ecnlab.base.errors import FolderError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.columns import PREDICTION, TABLES, TIMING
from ecnlab.folder.names import REMEDY
from ecnlab.laws.kinds import Kind

if TYPE_CHECKING:
    from polars import DataType, Schema

LATER: Final = frozenset({"ce_arrived", "marks_on_ce"})
"""Columns that folders of this format from earlier versions lack."""

RUNS: Final[dict[str, Kind]] = {
    "arm": "text",
    "replicate": "number",
    "seed": "number",
    "id": "text",
    "spec_hash": "text",
}
"""Columns of the table ``runs`` of a sweep, beside its axes."""

METRICS: Final[dict[str, Kind]] = {"arm": "text", "replicate": "number", "metric": "text", "value": "number"}
"""Columns of the table ``metrics`` of a sweep, beside its axes."""

NEVER_EMPTY: Final = frozenset({"runs", "links", "links_run"})


def insist_on_columns(path: Path, name: str, schema: Schema, axes: Iterable[str] | None = None) -> None:
    """Raise FolderError unless the table ``name`` in ``path`` has its columns, with their types.

    ``axes`` are those of a sweep, whose tables have the ``id`` of the run in front.
    """
    for column, kind in _kinds(name, None if axes is None else tuple(axes)).items():
        if column in schema:
            if not _is(kind, schema[column]):
                what = {"text": "text", "flag": "a flag", "number": "a number"}[kind]
                raise FolderError(f"{path} is damaged (column `{column}` is {schema[column]}, not {what}): {REMEDY}")
        elif column not in _optional(name):
            raise FolderError(f"{path} is damaged (it lacks the column `{column}`): {REMEDY}")


def insist_on_rows(path: Path, name: str, rows: pl.DataFrame, stated: int | None) -> None:
    """Raise FolderError unless the table ``name`` in ``path`` has the number of rows that its manifest states."""
    if stated is not None and rows.height != stated:
        raise FolderError(f"{path} is damaged (it has {rows.height} rows, its manifest states {stated}): {REMEDY}")
    if not rows.height and name in NEVER_EMPTY:
        raise FolderError(f"{path} is damaged (it has no rows): {REMEDY}")
    keys = [key for key in ("id", "spec_hash", "replicate", "flow", "link", "name", "metric") if key in rows.columns]
    if missing := [key for key in keys if rows[key].null_count()]:
        raise FolderError(f"{path} is damaged (column `{missing[0]}` lacks values): {REMEDY}")


def insist_on_ids(path: Path, runs: pl.DataFrame, links: Path) -> None:
    """Raise FolderError unless ``runs``, the table in ``path``, has the ids of the table ``links``, which every run has."""
    there = pl.scan_parquet(links).select(pl.col("id").unique()).collect()["id"]
    if set(there) != set(runs["id"]):
        raise FolderError(f"{path} is damaged (its ids are not those of the table {links.name}): {REMEDY}")


@lru_cache
def _kinds(name: str, axes: tuple[str, ...] | None) -> Mapping[str, Kind]:
    if name in ("runs", "metrics"):
        return {**dict.fromkeys(axes or (), "text"), **(RUNS if name == "runs" else METRICS)}
    columns = {"prediction": PREDICTION, "timing": TIMING}.get(name) or TABLES.get(name, {})
    own: dict[str, Kind] = {column: entry.kind for column, entry in columns.items()}
    return own if axes is None or not own else {"id": "text", **own}


@lru_cache
def _optional(name: str) -> frozenset[str]:
    """Columns of laws, which a table has if its scenario uses them."""
    return LATER | laws.columns(name.removesuffix("_run")).keys()


def _is(kind: Kind, dtype: DataType) -> bool:
    if kind == "number":
        return dtype.is_numeric()
    return dtype == (pl.Boolean if kind == "flag" else pl.String)
