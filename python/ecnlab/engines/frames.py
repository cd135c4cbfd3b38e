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
    return pl.DataFrame([_series(column, values) for column, values in columns.items()])


def _series(name: str, values: Column) -> pl.Series:
    match values:
        case (str() as dtype, few):
            return pl.Series(name, few, dtype=getattr(pl, dtype))
        case (codes, categories):
            return pl.Series(name, categories, dtype=pl.String).gather(codes)
        case _:
            return pl.Series(name, values, nan_to_null=True)
