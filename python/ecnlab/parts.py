"""The finished runs of a sweep, while it grows.

Each finished run is one file, ``parts/<id>.parquet``: a single row with the run's id and a column for each table, which
holds that table's rows. When all runs are there they are merged into one file a table. So a sweep of thousands of runs
ends with a dozen files, and an interrupted one has lost nothing that was finished.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab import store
from ecnlab.store import MADE


class Parts:
    """The runs stored in a sweep's folder, merged or not. Several threads may ``add``."""

    def __init__(self, folder: Path, tables: Sequence[str], build: str) -> None:
        self.tables = tuple(tables)
        """The tables asked for. A run has those of them that its scenario records."""
        self._merged = folder / "tables"
        self._parts = folder / "parts"
        self._build = build

    def clean(self) -> None:
        """Put right what a process that was killed left half done. For the only writer."""
        store.restore_folder(self._merged)
        for scratch in [*self._merged.parent.glob(".*.partial"), *self._parts.glob(".*.partial")]:
            shutil.rmtree(scratch) if scratch.is_dir() else scratch.unlink()

    def add(self, run: str, tables: Mapping[str, pl.DataFrame]) -> None:
        """Store the finished ``run``. Raises OSError."""
        self._parts.mkdir(exist_ok=True)
        made = [pl.Series("build", [self._build]), pl.Series("asked", [list(self.tables)])]
        rows = [pl.Series(name, [frame.to_struct()]) for name, frame in tables.items()]
        store.write_table(self._path(run), pl.DataFrame([pl.Series("id", [run]), *made, *rows]))

    def held(self) -> set[str]:
        """Ids of all runs there are, usable or not."""
        return {*self._merged_runs(), *(path.stem for path in self._part_files())}

    def usable(self) -> set[str]:
        """Ids of the runs that this build made and that were asked for all tables wanted now."""
        return {*self._merged_usable(), *(path.stem for path in self._part_files() if self._part_usable(path))}

    def merged(self, runs: Sequence[str]) -> dict[str, pl.DataFrame]:
        """Each table of all ``runs`` under each other, in their order, with the run's ``id`` in front."""
        files = {path: set(pl.read_parquet_schema(path)) for run in runs if (path := self._path(run)).exists()}
        in_parts = [path.stem for path in files]
        order = pl.LazyFrame({"id": runs}, schema={"id": pl.String})
        result = {}
        for table in self.tables:
            having = [path for path, columns in files.items() if table in columns]
            sources = [pl.scan_parquet(having).select("id", table).explode(table).unnest(table)] if having else []
            if self._merged_usable() and (stored := self._merged / f"{table}.parquet").exists():
                sources.append(pl.scan_parquet(stored).filter(~pl.col("id").is_in(in_parts)))
            if sources:
                rows = pl.concat(sources)
                result[table] = order.join(rows, on="id", how="inner", maintain_order="left_right").collect()
        return result

    def made(self) -> dict[str, Any]:
        """What to store beside the merged tables."""
        return {"build": self._build, "asked": list(self.tables)}

    def forget(self) -> None:
        """Remove the files of single runs, which have been merged."""
        shutil.rmtree(self._parts, ignore_errors=True)

    def _merged_runs(self) -> list[str]:
        runs = self._merged / "runs.parquet"
        return store.read_table(runs)["id"].to_list() if runs.exists() else []

    def _merged_usable(self) -> list[str]:
        path = self._merged / MADE
        return self._merged_runs() if path.exists() and self._serves(store.read_json(path)) else []

    def _part_usable(self, path: Path) -> bool:
        try:
            return self._serves(pl.read_parquet(path, columns=["build", "asked"]).row(0, named=True))
        except (OSError, pl.exceptions.PolarsError):
            return False

    def _serves(self, made: Mapping[str, Any]) -> bool:
        return made["build"] == self._build and set(self.tables) <= set(made["asked"])

    def _part_files(self) -> list[Path]:
        return sorted(self._parts.glob("[!.]*.parquet"))

    def _path(self, run: str) -> Path:
        return self._parts / f"{run}.parquet"
