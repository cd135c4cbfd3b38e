"""One run: a scenario and a seed in, tables out."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from ecnlab import store
from ecnlab._core import Scenario
from ecnlab.engines import Answerer, answerer_of
from ecnlab.errors import FolderError
from ecnlab.provenance import maker
from ecnlab.scenario import read_scenario
from ecnlab.threads import as_finished
from ecnlab.types import Engine


class Run:
    """The result of one run. All tables are Polars frames (``.to_pandas()`` gives pandas', where that is installed).

    Columns, units and meanings are in ``docs/run-folder.md``; ``manifest["tables"]`` has the units, too.
    """

    def __init__(self, manifest: dict[str, Any], tables: Mapping[str, pl.DataFrame]) -> None:
        self.manifest = manifest
        """What was asked and who answered: spec, hash, seed, version, units, wall time."""
        self._tables = tables

    def __repr__(self) -> str:
        return f"Run({self.manifest['title']!r}, seed={self.manifest['seed']}, tables={', '.join(self._tables)})"

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables there are."""
        return tuple(self._tables)

    def table(self, name: str) -> pl.DataFrame:
        """The table ``name``. Raises FolderError, saying how to get it, if it was not recorded."""
        if name not in self._tables:
            raise store.missing_table(name, self._tables)
        return self._tables[name]

    @property
    def flows(self) -> pl.DataFrame:
        """One row a flow instance; counters of the measurement window (``flows_run``: of the whole run)."""
        return self.table("flows")

    @property
    def transactions(self) -> pl.DataFrame:
        """One row a request and its response."""
        return self.table("transactions")

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
        """One row a packet event; only if asked for."""
        return self.table("packets")

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the run folder, whole or not at all, and return its path.

        A folder that holds the same run (same spec and seed) is replaced. Raises FolderError if it holds anything
        else, OSError if it cannot be written.
        """
        target = Path(folder)
        _refuse_other(target, self.manifest)
        with store.whole_folder(target) as scratch:
            for name in self._tables:
                store.write_table(scratch / f"{name}.parquet", self._tables[name])
            store.write_json(scratch / store.MANIFEST, self.manifest)
        return target


def run(
    scenario: str | os.PathLike[str] | Scenario,
    seed: int = 1,
    *,
    events: bool = False,
    engine: Engine = "simulator",
    out: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Run:
    """Run ``scenario`` (a file, or one already read) and return its tables.

    ``seed`` (0 to 2**64 - 1) chooses the random streams: the same scenario and seed give the same tables, bit for bit.
    ``events`` records every packet event, ``overrides`` sets dotted keys (``{"queue.red.max_p": 0.1}``), and ``out``
    is a folder to store the run in. With ``engine="linux"`` the Linux kernel runs it (``docs/linux.md``).

    Raises SpecError for a scenario that is not possible, FolderError and OSError as ``Run.save`` does, RunError if the
    simulator finds its own books not balanced; and on Linux, EcnlabError if no kernel has been built, RunError if the
    kernel fails.
    """
    question = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    if overrides:
        question = question.with_overrides(dict(overrides))
    if out is not None:
        asked = {"kind": "run", "engine": engine, "spec_hash": question.hash, "seed": seed, "events": events}
        _refuse_other(Path(out), asked)
    began, clock = datetime.now(UTC), time.perf_counter()
    answerer = answerer_of(engine)
    tables = answer(answerer, question, seed, events)
    seconds = time.perf_counter() - clock
    manifest = _manifest(question, seed, events, answerer, tables, began, seconds)
    result = Run(manifest, tables)
    if out is not None:
        result.save(out)
    return result


def load_run(folder: str | os.PathLike[str]) -> Run:
    """The run stored in ``folder``; a table is read when first asked for. Raises FolderError, OSError."""
    path = Path(folder)
    manifest = store.read_manifest(path, "run")
    return Run(manifest, store.StoredTables(path, list(manifest["tables"])))


def answer(answerer: Answerer, scenario: Scenario, seed: int, events: bool) -> dict[str, pl.DataFrame]:
    """Run in a thread of its own, so that the calling thread can hear an interrupt and stop the run."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(answerer.tables, scenario, seed, events=events)
        try:
            (tables,) = as_finished([future])
        except BaseException:
            answerer.stop()
            raise
    return tables


def _manifest(
    scenario: Scenario,
    seed: int,
    events: bool,
    answerer: Answerer,
    tables: Mapping[str, pl.DataFrame],
    began: datetime,
    seconds: float,
) -> dict[str, Any]:
    return {
        "format": store.FORMAT,
        "kind": "run",
        "engine": answerer.engine,
        "title": scenario.title,
        "ecnlab": maker(),
        **answerer.made,
        "seed": seed,
        "events": events,
        "spec_hash": scenario.hash,
        "spec": scenario.resolved,
        "departures": scenario.departures,
        "instead": answerer.instead(scenario),
        "tables": store.describe(tables),
        "wall": {"began": began.isoformat(timespec="seconds"), "seconds": round(seconds, 3)},
    }


def _refuse_other(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raise FolderError unless ``folder`` is free or holds the run that ``manifest`` describes."""
    if folder.is_dir() and not any(folder.iterdir()):
        return
    if not folder.exists():
        return
    there = store.read_manifest(folder)
    # Folders from before there were engines are the simulator's.
    if any(there.get(key, "simulator") != manifest[key] for key in ("kind", "engine", "spec_hash", "seed", "events")):
        held = f"another {there['kind']} ({there['title']!r})"
        raise FolderError(f"{folder} holds {held}: choose another folder, or remove that one first")
