"""Columns of stored tables: which must be there, and of which type. Checked when a table is read, from its schema alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
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

LATER: Final = frozenset({"ce_arrived", "connections_established", "marks_on_ce"})
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


NAMES: Final = {"text": "text", "flag": "a flag", "number": "a number", "numbers": "lists of numbers"}


@dataclass(frozen=True, slots=True)
class Shape:
    """Columns that a table of results needs, beside those that it may have."""

    columns: Mapping[str, str]
    """The kind of each, one of `NAMES`."""
    gaps: frozenset[str] = frozenset()
    """Columns in which values may be missing."""
    unbounded: frozenset[str] = frozenset({"low", "high"})
    """Columns with ends of intervals, which may be infinite."""
    undefined: frozenset[str] = frozenset()
    """Columns that have NaN where a ratio is undefined."""
    choices: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The values that a column may have."""
    complete: str = ""
    """The column of `choices` of whose values each has a row."""


def insist_on_shape(path: Path, rows: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """Return ``rows``, the table in ``path``. Raises FolderError, naming the column, unless it has ``shape``."""
    _insist_on_kinds(path, rows.schema, shape.columns, gaps=shape.gaps)
    for column in shape.columns:
        if column not in shape.gaps and rows[column].null_count():
            raise _damaged(path, f"column `{column}` lacks values")
    insist_on_finite(path, rows, shape.unbounded, shape.undefined)
    for column, known in shape.choices.items():
        strange = sorted(set(rows[column].drop_nulls()) - set(known))
        if strange:
            raise _damaged(path, f"column `{column}` has {strange[0]!r}, which is none of {', '.join(sorted(known))}")
        absent = sorted(set(known) - set(rows[column])) if column == shape.complete else []
        if absent:
            raise _damaged(path, f"column `{column}` lacks {absent[0]!r}")
    return rows


def insist_on_finite(
    path: Path, rows: pl.DataFrame, unbounded: Collection[str] = (), undefined: Collection[str] = ()
) -> None:
    """Raise FolderError for NaN in ``rows`` outside of the columns ``undefined``, and for infinity outside of ``unbounded``."""
    for column, dtype in rows.schema.items():
        values = rows[column].explode(empty_as_null=True) if dtype == pl.List(pl.Float64) else rows[column]
        if not values.dtype.is_float():
            continue
        if column not in undefined and values.is_nan().any():
            raise _damaged(path, f"column `{column}` has NaN")
        if column not in unbounded and values.is_infinite().any():
            raise _damaged(path, f"column `{column}` has an infinite number")


def insist_on_types(path: Path, rows: pl.DataFrame, stated: Mapping[str, str]) -> None:
    """Raise FolderError unless ``rows`` has the columns ``stated``, with these types."""
    there = {column: str(dtype) for column, dtype in rows.schema.items()}
    for column in [*stated, *there]:
        if there.get(column) != stated.get(column):
            raise _damaged(
                path, f"column `{column}` is {there.get(column, 'missing')}, not {stated.get(column, 'absent')}"
            )


def _damaged(path: Path, what: str) -> FolderError:
    return FolderError(f"{path} is damaged ({what}): {REMEDY}")


def insist_on_columns(path: Path, name: str, schema: Schema, axes: Iterable[str] | None = None) -> None:
    """Raise FolderError unless the table ``name`` in ``path`` has its columns, with their types.

    ``axes`` are those of a sweep, whose tables have the ``id`` of the run in front.
    """
    kinds = _kinds(name, None if axes is None else tuple(axes))
    _insist_on_kinds(path, schema, kinds, _optional(name))


def _insist_on_kinds(
    path: Path, schema: Schema, kinds: Mapping[str, str], optional: Collection[str] = (), gaps: Collection[str] = ()
) -> None:
    for column, kind in kinds.items():
        if column in schema:
            blank = column in gaps and schema[column] == pl.Null
            if not blank and not _is(kind, schema[column]):
                raise _damaged(path, f"column `{column}` is {schema[column]}, not {NAMES[kind]}")
        elif column not in optional:
            raise _damaged(path, f"it lacks the column `{column}`")


def insist_on_rows(path: Path, name: str, rows: pl.DataFrame, stated: int | None) -> None:
    """Raise FolderError unless the table ``name`` in ``path`` has the number of rows that its manifest states."""
    if stated is not None and rows.height != stated:
        raise _damaged(path, f"it has {rows.height} rows, its manifest states {stated}")
    if not rows.height and name in NEVER_EMPTY:
        raise _damaged(path, "it has no rows")
    keys = [key for key in ("id", "spec_hash", "replicate", "flow", "link", "name", "metric") if key in rows.columns]
    if missing := [key for key in keys if rows[key].null_count()]:
        raise _damaged(path, f"column `{missing[0]}` lacks values")
    insist_on_finite(path, rows)


def insist_on_ids(path: Path, runs: pl.DataFrame, links: Path) -> None:
    """Raise FolderError unless ``runs``, the table in ``path``, has the ids of the table ``links``, which every run has."""
    there = pl.scan_parquet(links).select(pl.col("id").unique()).collect()["id"]
    if set(there) != set(runs["id"]):
        raise _damaged(path, f"its ids are not those of the table {links.name}")


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


def _is(kind: str, dtype: DataType) -> bool:
    if kind == "numbers":
        return dtype == pl.List(pl.Float64)
    if kind == "number":
        return dtype.is_numeric()
    return dtype == (pl.Boolean if kind == "flag" else pl.String)
