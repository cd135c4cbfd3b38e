"""The run tables of a results folder, and values of runs beside each other.

Written beside the project's own code and without it: polars reads the tables, numpy and scipy do the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

RUN = ("replicate", "seed", "id", "spec_hash")
c = pl.col


class Results:
    """The sweeps of one paper's results folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, step: str, table: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """A table of a sweep with the place and seed of each run; "" for a place that there is not."""
        tables = self.folder / "sweeps" / step / "tables"
        rows = pl.scan_parquet(tables / f"{table}.parquet")
        if where is not None:
            rows = rows.filter(where)
        places = [name for name in self.axes(step) if name != "replicate"]
        runs = pl.scan_parquet(tables / "runs.parquet").with_columns(c(places).cast(pl.String).fill_null(""))
        return rows.join(runs, on="id", suffix="_of_run")

    def axes(self, step: str) -> list[str]:
        """Arm and axes of a sweep, and the number of the seed."""
        runs = pl.scan_parquet(self.folder / "sweeps" / step / "tables" / "runs.parquet")
        return [name for name in runs.collect_schema().names() if name not in RUN[1:]]


Recipe = Callable[[Results], pl.DataFrame]


def per_run(results: Results, step: str, table: str, value: pl.Expr, where: pl.Expr | None = None) -> pl.DataFrame:
    """``value`` over the rows of each run: one row a run."""
    rows = results.read(step, table, where)
    # An axis that has the name of a column of the table comes under another.
    columns = rows.collect_schema().names()
    keys = [f"{key}_of_run" if f"{key}_of_run" in columns else key for key in results.axes(step)]
    found = rows.group_by(keys).agg(value.cast(pl.Float64).alias("value")).collect()
    return found.rename({key: key.removesuffix("_of_run") for key in keys if key.endswith("_of_run")}).drop_nulls(
        "value"
    )


def against(here: pl.DataFrame, there: pl.DataFrame) -> pl.DataFrame:
    """``value`` of one frame and, as ``other``, of the other at the same place and seed."""
    keys = [name for name in here.columns if name not in ("value", "other") and name in there.columns]
    return here.select(*[k for k in here.columns if k != "other"]).join(
        there.select(*keys, c("value").alias("other")), on=keys
    )


def one_against(values: pl.DataFrame, axis: str, base: str) -> pl.DataFrame:
    """Every label of ``axis`` beside the label ``base``."""
    return against(values.filter(c(axis) != base), values.filter(c(axis) == base).drop(axis))


def pairs(values: pl.DataFrame, axis: str, name: str) -> pl.DataFrame:
    """Every two labels of ``axis`` beside each other, the second under ``name``."""
    return pl.concat(
        [
            against(values.filter(c(axis) != base), values.filter(c(axis) == base).drop(axis)).with_columns(
                pl.lit(base).alias(name)
            )
            for base in values[axis].unique()
        ]
    )


def steps(of: Callable[[Results, str], pl.DataFrame], *names: str) -> Recipe:
    """A recipe over several experiments."""

    def all_of(results: Results) -> pl.DataFrame:
        whole = pl.concat([of(results, name) for name in names], how="diagonal")
        return whole.with_columns(c(pl.String).fill_null(""))

    return all_of
