"""Copies of result folders in which one key or one column is changed, with all digests made right again."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab.folder import digests

VALUES = (None, 7, "x", [], {})
"""Values that replace one of another type."""


def places(value: Any, depth: int, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all keys in ``value`` down to ``depth``; of lists and of tables with many like entries the first."""
    if len(at) == depth:
        return
    keys = list(value) if isinstance(value, dict) else range(min(1, len(value))) if isinstance(value, list) else ()
    for key in keys:
        if key != "digest":
            yield (*at, key)
            yield from places(value[key], depth, (*at, key))


def changes(value: dict[str, Any], depth: int) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """A name for each change, one key removed or of another type, and a function that returns ``value`` with it."""
    for path in places(value, depth):
        place = reduce(lambda inside, key: inside[key], path, value)
        for new in ("removed", *VALUES):
            if new == "removed" or type(new) is not type(place):
                yield f"{'.'.join(map(str, path))} = {new}", partial(_changed, value, path, new)


def _changed(value: dict[str, Any], path: Sequence[Any], new: object) -> dict[str, Any]:
    changed = copy.deepcopy(value)
    inside = reduce(lambda inside, key: inside[key], path[:-1], changed)
    if new == "removed":
        del inside[path[-1]]
    else:
        inside[path[-1]] = new
    return changed


def store(folder: Path, name: str, data: bytes) -> None:
    """Write the file ``name`` of ``folder`` and its digest, wherever one is stored."""
    (folder / name).write_bytes(data)
    for head in ("tables/made.json", "files.json", "manifest.json"):
        if head == name or not (folder / head).exists():
            continue
        stated = digests.unseal((folder / head).read_bytes())
        files = stated.get("files")
        inside = name.removeprefix("tables/") if head.startswith("tables/") else name
        if isinstance(files, dict) and inside in files:
            files[inside] = digests.of_bytes((folder / name).read_bytes())
            store(folder, head, sealed(stated))


def changed_json(folder: Path, name: str, depth: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Each change of the JSON file ``name``, and a function that makes it."""
    whole = digests.unseal((folder / name).read_bytes())
    for what, changed in changes(whole, depth):
        yield f"{name}: {what}", lambda changed=changed: store(folder, name, sealed(changed()))


def changed_columns(folder: Path, name: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """Each column of the table ``name`` removed, renamed and of another type, no rows, and no values."""
    frame = pl.read_parquet(folder / name)
    for column, kind in frame.schema.items():
        other = pl.lit(1.5) if kind == pl.String else pl.lit("x")
        yield f"{name}: {column} removed", _table(folder, name, frame.drop(column))
        yield f"{name}: {column} of another type", _table(folder, name, frame.with_columns(other.alias(column)))
        nothing = pl.lit(None, dtype=kind).alias(column)
        yield f"{name}: {column} without values", _table(folder, name, frame.with_columns(nothing))
        if kind.is_float():
            nan = pl.lit(float("nan")).alias(column)
            yield f"{name}: {column} is NaN", _table(folder, name, frame.with_columns(nan))
        if kind == pl.String:
            yield f"{name}: {column} of others", _table(folder, name, frame.with_columns(pl.lit("other").alias(column)))
    yield f"{name}: empty", _table(folder, name, frame.clear())
    yield f"{name}: another table", _table(folder, name, pl.DataFrame({"a": [1]}))


def _table(folder: Path, name: str, frame: pl.DataFrame) -> Callable[[], None]:
    def write() -> None:
        frame.write_parquet(folder / name, compression="zstd")
        store(folder, name, (folder / name).read_bytes())

    return write


def each(
    folder: Path, scratch: Path, kinds: Callable[[Path], Iterator[tuple[str, Callable[[], None]]]]
) -> Iterator[str]:
    """Make each change in turn in ``scratch``, a copy of ``folder``; yield its name."""
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(folder, scratch, ignore=shutil.ignore_patterns("runs-*"))
    kept = {path: path.read_bytes() for path in scratch.rglob("*") if path.is_file()}
    for name, make in kinds(scratch):
        make()
        yield name
        for path, data in kept.items():
            if path.read_bytes() != data:
                path.write_bytes(data)


def sealed(value: dict[str, Any]) -> bytes:
    """``value`` as a sealed JSON file, also where `digests.seal` finds no place for the digest."""
    if isinstance(value.get("wall", {}), dict):
        return digests.seal(value)
    data = json.dumps({**value, "digest": digests.BLANK}).encode()
    return data.replace(digests.BLANK.encode(), digests.of_bytes(data).encode())
