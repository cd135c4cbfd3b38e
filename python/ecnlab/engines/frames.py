"""The simulator's tables as Polars frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TypeGuard

from ecnlab.base.lazy_imports import pl
from ecnlab.base.types import Column, Few

WIDTHS = {"UInt8": 1, "UInt32": 4}
"""Bytes of a value by the name of its Polars type, where they are not eight."""


def frames(tables: Mapping[str, Mapping[str, Column]]) -> dict[str, pl.DataFrame]:
    """The simulator's tables as Polars frames: NaN becomes missing, coded text becomes strings."""
    return {name: frame(columns) for name, columns in tables.items()}


def frame(columns: Mapping[str, Column]) -> pl.DataFrame:
    """One of the simulator's tables as a Polars frame."""
    rows = pl.DataFrame([_series(column, values) for column, values in columns.items()])
    has_packed = any(isinstance(part, bytes) for values in columns.values() for part in values[:2])
    return rows.fill_nan(None) if has_packed else rows


def stacked_frames(runs: Sequence[Mapping[str, Column]]) -> list[pl.DataFrame]:
    """A table of several ``runs``, which has the same columns in all, as a frame for each of them.

    Short tables become one frame first: building the columns takes most of the time.
    """
    short = [{name: values for name, values in one.items() if _is_short(values)} for one in runs]
    if any(len(lists) < len(one) for lists, one in zip(short, runs, strict=True)):
        return [frame(one) for one in runs]
    types = {name: dtype for name, (dtype, _) in short[0].items()}
    lists = {name: [value for one in short for value in one[name][1]] for name in types}
    rows = pl.DataFrame([pl.Series(name, lists[name], dtype=getattr(pl, dtype)) for name, dtype in types.items()])
    heights = [len(next(iter(one.values()))[1]) for one in short]
    return [rows.slice(end - height, height) for end, height in zip(accumulate(heights), heights, strict=True)]


def _is_short(values: Column) -> TypeGuard[Few]:
    return isinstance(values, tuple) and isinstance(values[0], str) and isinstance(values[1], list)


def _series(name: str, values: Column) -> pl.Series:
    match values:
        case (str() as dtype, bytes() as packed):
            return _unpacked(name, packed, getattr(pl, dtype))
        case (str() as dtype, few):
            return pl.Series(name, few, dtype=getattr(pl, dtype))
        case (bytes() as packed, names):
            return pl.Series(name, names, dtype=pl.String).gather(_unpacked("", packed, pl.UInt32))


def _unpacked(name: str, packed: bytes, dtype: type[pl.DataType]) -> pl.Series:
    """The values of type ``dtype`` whose little-endian bytes are ``packed``."""
    if dtype == pl.Boolean:
        return _unpacked(name, packed, pl.UInt8).cast(pl.Boolean)
    width = len(packed) // WIDTHS.get(dtype.__name__, 8)
    return pl.Series(name, [packed], dtype=pl.Binary).bin.reinterpret(dtype=pl.Array(dtype, width)).reshape((-1,))
