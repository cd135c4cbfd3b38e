"""The simulator's tables as Polars frames."""

from __future__ import annotations

from collections.abc import Mapping

from ecnlab.base.lazy_imports import pl
from ecnlab.base.types import Column


def frames(tables: Mapping[str, Mapping[str, Column]]) -> dict[str, pl.DataFrame]:
    """The simulator's tables as Polars frames: NaN becomes missing, coded text becomes strings."""
    return {name: frame(columns) for name, columns in tables.items()}


def frame(columns: Mapping[str, Column]) -> pl.DataFrame:
    """One of the simulator's tables as a Polars frame."""
    rows = pl.DataFrame([_series(column, values) for column, values in columns.items()])
    has_packed = any(isinstance(part, bytes) for values in columns.values() for part in values[:2])
    return rows.fill_nan(None) if has_packed else rows


def _series(name: str, values: Column) -> pl.Series:
    match values:
        case (str() as dtype, bytes() as packed):
            return _unpacked(name, packed, getattr(pl, dtype))
        case (str() as dtype, few):
            return pl.Series(name, few, dtype=getattr(pl, dtype))
        case (bytes() as packed, categories):
            return pl.Series(name, categories, dtype=pl.String).gather(_unpacked("", packed, pl.UInt32))
        case (codes, categories):
            return pl.Series(name, categories, dtype=pl.String).gather(codes)
        case _:
            return pl.Series(name, values, nan_to_null=True)


def _unpacked(name: str, packed: bytes, dtype: type[pl.DataType]) -> pl.Series:
    """The numbers of type ``dtype`` whose little-endian bytes are ``packed``."""
    width = len(packed) // (4 if dtype == pl.UInt32 else 8)
    return pl.Series(name, [packed], dtype=pl.Binary).bin.reinterpret(dtype=pl.Array(dtype, width)).reshape((-1,))
