"""The result of one run: its manifest and tables, in memory or in a folder."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

from ecnlab.base.lazy_imports import pl
from ecnlab.engines.protocol import LINUX_WALL, PACKETS
from ecnlab.folder.atomic import link_or_copy
from ecnlab.folder.manifest import read_manifest, refuse_other
from ecnlab.folder.names import CAPTURES, MANIFEST
from ecnlab.folder.replaced import restore_folder, whole_folder
from ecnlab.folder.sealed_json import write_json
from ecnlab.folder.tables import missing_table, write_table
from ecnlab.folder.verified import Files, StoredTables, digests_of
from ecnlab.results.parted import Parted

IDENTITY: Final = ("kind", "engine", "spec_hash", "seed", "events")
"""Keys of the manifest that are equal if two runs are the same."""


class RunResult:
    """The manifest, tables and captures of one run."""

    def __init__(
        self, manifest: dict[str, Any], tables: Mapping[str, pl.DataFrame], captures: tuple[Path, ...] = ()
    ) -> None:
        self.manifest = manifest
        """``manifest`` describes the question and the engine: spec, hash, seed, version, units, wall time."""
        self._captures = captures
        self._tables = tables
        self._files: Files | None = None

    @property
    def captures(self) -> tuple[Path, ...]:
        """Its capture files, where they were written; see ``docs/captures.md``. Raises FolderError for a damaged one."""
        if self._files is None:
            return self._captures
        names = (name for name in self._files.digests if name.startswith(f"{CAPTURES}/"))
        return tuple(self._files.path(name) for name in names)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Return the run stored in ``folder``; a table is read and verified on first use. Raises FolderError, OSError."""
        path = Path(folder)
        restore_folder(path)
        manifest = read_manifest(path, "run")
        rows = {name: about["rows"] for name, about in manifest["tables"].items()}
        found = cls(manifest, StoredTables(Files(path, manifest), manifest["tables"], rows=rows))
        found._settle(path)
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.manifest['title']!r}, seed={self.manifest['seed']}, tables={', '.join(self._tables)})"

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables there are."""
        return tuple(self._tables)

    def table(self, name: str) -> pl.DataFrame:
        """The table ``name``. Raises FolderError, saying how to get it, if it was not recorded."""
        if name not in self._tables:
            raise missing_table(name, self._tables)
        return self._tables[name]

    def scan(self, name: str) -> pl.LazyFrame:
        """The table ``name`` as a query, without reading a stored one into memory. Raises as `table` does."""
        if name not in self._tables:
            raise missing_table(name, self._tables)
        if isinstance(self._tables, StoredTables):
            return pl.scan_parquet(self._tables.path(name))
        if isinstance(self._tables, Parted) and name in self._tables.stored:
            return pl.scan_parquet(self._tables.stored[name])
        return self._tables[name].lazy()

    @property
    def flows(self) -> pl.DataFrame:
        """One row a flow instance; counters of the measurement window (``flows_run``: of the whole run)."""
        return self.table("flows")

    @property
    def transactions(self) -> pl.DataFrame:
        """One row a request and its response."""
        return self.table("transactions")

    @property
    def objects(self) -> pl.DataFrame:
        """One row a web object; only where a flow is web traffic."""
        return self.table("objects")

    @property
    def queues(self) -> pl.DataFrame:
        """One row a link and flow group; counters of the measurement window."""
        return self.table("queues")

    @property
    def links(self) -> pl.DataFrame:
        """One row a link; measurement window."""
        return self.table("links")

    @property
    def queue_series(self) -> pl.DataFrame:
        """Queue and its average over time; only if the scenario sets ``sample``."""
        return self.table("queue_series")

    @property
    def flow_series(self) -> pl.DataFrame:
        """Window, threshold and timers over time; only if the scenario sets ``sample``."""
        return self.table("flow_series")

    @property
    def packets(self) -> pl.DataFrame:
        """One row per packet event; only if requested."""
        return self.table("packets")

    @property
    def folder(self) -> Path | None:
        """Where it is stored, if it is."""
        return self._files.folder if self._files else None

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the run folder atomically, and return its path.

        A folder that holds the same run (same spec and seed) is replaced. Raises FolderError if it holds anything else,
        OSError if it cannot be written.
        """
        target = Path(folder)
        refuse_other(target, {key: self.manifest[key] for key in IDENTITY}, self.manifest["spec"])
        with whole_folder(target) as scratch:
            for name in self._tables:
                if isinstance(self._tables, Parted) and name in self._tables.stored:
                    link_or_copy(self._tables.stored[name], scratch / f"{name}.parquet")
                else:
                    write_table(scratch / f"{name}.parquet", self._tables[name], durable=False)
            self._complete(scratch, target, self.captures)
        self._settle(target)
        return target

    def _complete(self, scratch: Path, target: Path, captures: tuple[Path, ...]) -> None:
        """Add captures and manifest to the tables in ``scratch``, which will be renamed to ``target``."""
        if captures:
            (scratch / CAPTURES).mkdir(exist_ok=True)
        for capture in captures:
            if capture.parent != scratch / CAPTURES:
                link_or_copy(capture, scratch / CAPTURES / capture.name)
        wall = {**self.manifest["wall"], "remake": _remake(self.manifest, target)}
        self.manifest = {**self.manifest, "files": digests_of(scratch)}
        self.manifest["wall"] = self.manifest.pop("wall") | wall
        write_json(scratch / MANIFEST, self.manifest)

    def _settle(self, folder: Path) -> None:
        """Use the contents of ``folder`` as the run from now on."""
        self._files = Files(folder, self.manifest)
        if isinstance(self._tables, Parted):
            self._tables = StoredTables(self._files, list(self._tables))


def _remake(manifest: Mapping[str, Any], folder: Path) -> str:
    """The command that makes the run in ``folder`` again; a call in Python, if none does."""
    made = manifest["wall"]
    if "overrides" in made:
        seed, events, engine = manifest["seed"], manifest["events"], manifest["engine"]
        options = f"seed={seed}, events={events}, engine={engine!r}, overrides={made['overrides']!r}"
        return f"ecnlab.run({made['file']!r}, {options}, out={str(folder)!r})"
    words = ["ecnlab", "run", made["file"]]
    words += [] if manifest["seed"] is None else ["--seed", str(manifest["seed"])]
    words += ["--events"] if manifest["events"] else []
    words += [word for place in made.get("capture", []) for word in ("--capture", place)]
    engine = {PACKETS: [], LINUX_WALL: ["--engine", "linux", "--clock", "wall"]}
    words += engine.get(manifest["engine"], ["--engine", manifest["engine"]])
    return shlex.join([*words, "--out", str(folder)])
