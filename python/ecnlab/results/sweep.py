"""The result of a sweep: its manifest, runs, metrics and tables in its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from ecnlab.base.errors import FolderError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.names import CAPTURES, MADE, SPECS
from ecnlab.folder.replaced import restore_folder
from ecnlab.folder.sealed_json import read_json
from ecnlab.folder.shapes import OneSpec, insist
from ecnlab.folder.spec_hash import insist_on_hash
from ecnlab.folder.table_shapes import insist_on_ids
from ecnlab.folder.tables import missing_table
from ecnlab.folder.verified import Files, StoredTables
from ecnlab.results.sweep_part import ARM, insist_on_labels


class SweepResult:
    """The manifest, runs, metrics, tables and captures of a sweep."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        """Where it is stored."""
        self.manifest = manifest
        """``manifest`` describes the question and the engine; see ``docs/run-folder.md``."""
        self._files = Files(folder, manifest)
        self._known = "links" not in manifest["tables"]
        self._chosen: dict[str, tuple[str, ...]] = {}
        names, rows = manifest["tables"], {name: about["rows"] for name, about in manifest["tables"].items()}
        self._tables = StoredTables(
            self._files, ["runs", "metrics", *names], "tables/", rows=rows, axes=manifest["axes"]
        )

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Return the sweep stored in ``folder``. Raises FolderError if it is not complete, or no sweep; OSError."""
        path = Path(folder)
        restore_folder(path / "tables")
        manifest = read_manifest(path, "sweep")
        if not manifest["complete"]:
            raise FolderError(f"the sweep in {path} is not complete: the command that began it continues it")
        Files(path, manifest).path(f"tables/{MADE}")
        return cls(path, manifest)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.manifest['title']!r}, runs={self.runs.height}, folder={str(self.folder)!r})"
        )

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes of the grid, which are columns of ``runs`` and ``metrics``."""
        return tuple(axis for axis in self.manifest["axes"] if axis not in self.fixed)

    @property
    def runs(self) -> pl.DataFrame:
        """One row a run: ``arm``, a label for each axis, ``replicate``, ``seed``, ``id``, ``spec_hash``."""
        return self._part(self._all_runs())

    def _all_runs(self) -> pl.DataFrame:
        found = self._tables["runs"]
        if not self._known:
            insist_on_ids(self._tables.path("runs"), found, self._tables.path("links"))
            self._known = True
        return found

    def where(self, chosen: Mapping[str, str | Sequence[str]]) -> Self:
        """Return the part of the sweep whose arms and axes have the ``chosen`` labels: {"sender": "BBR"}.

        Several labels of an axis select the runs with any of them. An axis with one label is no axis of the part, whose
        tables do not have its column. Raises EcnlabError if there is no such axis, label or run.
        """
        part = copy(self)
        part._chosen = self._chosen | {
            axis: (labels,) if isinstance(labels, str) else tuple(labels) for axis, labels in chosen.items()
        }
        insist_on_labels(self.folder, self._all_runs(), (ARM, *self.manifest["axes"]), chosen=part._chosen)
        return part

    @property
    def fixed(self) -> dict[str, str]:
        """The axes, and the arm, of which `where` has chosen one label."""
        return {axis: labels[0] for axis, labels in self._chosen.items() if len(labels) == 1}

    @property
    def chosen(self) -> dict[str, tuple[str, ...]]:
        """The labels of axes and arms that `where` has chosen; none in a whole sweep."""
        return dict(self._chosen)

    def _part(self, rows: pl.DataFrame) -> pl.DataFrame:
        for axis, labels in self._chosen.items():
            rows = rows.filter(pl.col(axis).cast(pl.String).is_in(labels))
        return rows.drop(axis for axis in self.fixed if axis != ARM)

    @property
    def metrics(self) -> pl.DataFrame:
        """One row a run and metric: ``arm``, the axes, ``replicate``, ``metric``, ``value`` (null: not defined)."""
        return self._part(self._tables["metrics"])

    def summary(self) -> pl.DataFrame:
        """Each metric over its replicates: ``arm``, the axes, ``metric``, ``mean``, ``low``, ``high`` and ``n``.

        ``low`` and ``high`` bound the 95 % interval (Student's t, clipped to the range of the metric), null where there
        is one value; ``n`` counts the replicates in which the metric is defined.
        """
        from ecnlab.base.stats import mean_interval
        from ecnlab.scenario.metric_ranges import of_metric

        keys = ["arm", *self.axes, "metric"]
        bounds = {name: of_metric(self.manifest["metrics"], name) for name in self.manifest["metrics"]}
        rows = []
        for key, group in self.metrics.group_by(keys, maintain_order=True):
            values = group["value"].drop_nulls()
            found = mean_interval(values) if values.len() else None
            ends = bounds[str(key[-1])].clip(found) if found and found.n > 1 else None
            rows.append(
                (
                    *key,
                    found.mean if found else None,
                    ends.low if ends else None,
                    ends.high if ends else None,
                    values.len(),
                )
            )
        types = {**dict.fromkeys(keys, pl.String), **dict.fromkeys(("mean", "low", "high"), pl.Float64), "n": pl.UInt32}
        return pl.DataFrame(rows, schema=types, orient="row")

    @cached_property
    def specs(self) -> dict[str, Any]:
        """The full specification of each ``spec_hash``: ``{"spec": ..., "departures": ...}``."""
        path = self._files.path(SPECS)
        specs = insist(path, read_json(path), dict[str, OneSpec])
        for stated, entry in specs.items():
            insist_on_hash(path, entry["spec"], stated)
        return specs

    @property
    def captures(self) -> dict[str, tuple[Path, ...]]:
        """The capture files of each run that has any, by its ``id``; see ``docs/captures.md``. Raises FolderError for a damaged one."""
        found: dict[str, tuple[Path, ...]] = {}
        for name in sorted(name for name in self._files.digests if name.startswith(f"{CAPTURES}/")):
            run = name.split("/")[1]
            found[run] = (*found.get(run, ()), self._files.path(name))
        return found

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables that were kept."""
        return tuple(self.manifest["tables"])

    def table(self, name: str) -> pl.LazyFrame:
        """The table ``name`` of all runs under each other, with the columns of ``runs`` in front.

        A column of the table that has the name of an axis gets ``_recorded`` behind it. Raises FolderError, saying how
        to get it, if the table was not kept.
        """
        if name not in self.tables:
            raise missing_table(name, dict.fromkeys(self.tables))
        rows = pl.scan_parquet(self._tables.path(name))
        return self.runs.lazy().join(rows, on="id", how="inner", suffix="_recorded", maintain_order="left_right")
