"""One run: a scenario and a seed in, tables out."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from ecnlab import store
from ecnlab._core import Scenario
from ecnlab.engines import MODEL, PACKETS, Answerer, Judge, answerer_of, seed_for, signature
from ecnlab.scenario import read_scenario
from ecnlab.threads import as_finished
from ecnlab.types import Engine

IDENTITY: Final = ("kind", "engine", "spec_hash", "seed", "events")
"""What the manifests of two runs share if both are the same run."""

CAPTURES: Final = "captures"
"""The folder of a run folder that holds its capture files."""


class Run:
    """The result of one run. All tables are Polars frames (``.to_pandas()`` gives pandas', where that is installed).

    Columns, units and meanings are in ``docs/run-folder.md``; ``manifest["tables"]`` has the units, too.
    """

    def __init__(
        self, manifest: dict[str, Any], tables: Mapping[str, pl.DataFrame], captures: tuple[Path, ...] = ()
    ) -> None:
        self.manifest = manifest
        """What was asked and who answered: spec, hash, seed, version, units, wall time."""
        self.captures = captures
        """Its capture files, where they were written; see ``docs/captures.md``."""
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
        """One row a packet event; only if asked for."""
        return self.table("packets")

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the run folder, whole or not at all, and return its path.

        A folder that holds the same run (same spec and seed) is replaced. Raises FolderError if it holds anything
        else, OSError if it cannot be written.
        """
        target = Path(folder)
        store.refuse_other(target, {key: self.manifest[key] for key in IDENTITY}, self.manifest["spec"])
        with store.whole_folder(target) as scratch:
            for name in self._tables:
                store.write_table(scratch / f"{name}.parquet", self._tables[name])
            store.write_json(scratch / store.MANIFEST, self.manifest)
            if self.captures:
                (scratch / CAPTURES).mkdir()
            for capture in self.captures:
                store.link_or_copy(capture, scratch / CAPTURES / capture.name)
        return target


def run(
    scenario: str | os.PathLike[str] | Scenario,
    seed: int | None = None,
    *,
    events: bool = False,
    engine: Engine = PACKETS,
    out: str | os.PathLike[str] | None = None,
    captures: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Run:
    """Run ``scenario`` (a file, or one already read) and return its tables.

    ``seed`` (0 to 2**64 - 1, by default 1) chooses the random streams: the same scenario and seed give the same tables,
    bit for bit. ``events`` records every packet event, ``overrides`` sets dotted keys (``{"queue.red.max_p": 0.1}``),
    and ``out`` is a folder to store the run in. The captures that the scenario asks for are written into the folder
    ``captures``, else into the run folder; without either there are none.

    ``engine`` says who answers: the simulator, ``"linux"`` (``docs/linux.md``), ``"linux-wall"`` (the same in real time
    on the machine's own kernel; ``manifest["evidence"]`` says whether time was kept well enough) or ``"model"``
    (``docs/models.md``), which has no seed, events or captures.

    Raises SpecError for a scenario that is not possible, or not for the engine; EcnlabError if the engine cannot do what
    is asked, or no Linux kernel has been built; FolderError and OSError as ``Run.save`` does; RunError if the simulator
    finds its own books not balanced, or the kernel fails.
    """
    seed = seed_for(engine, seed, events=events, captures=captures is not None)
    question = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    if overrides:
        question = question.with_overrides(dict(overrides))
    asked = {"kind": "run", "engine": engine, "spec_hash": question.hash, "seed": seed, "events": events}
    if out is not None:
        store.refuse_other(Path(out), asked, question.resolved)
    answerer = answerer_of(engine)
    began, clock = datetime.now(UTC), time.perf_counter()
    with _capture_folder(question, engine, captures, out) as folder:
        tables = _tables(answerer, question, seed or 0, events, folder)
        seconds = time.perf_counter() - clock
        files = tuple(folder / name for name in question.captures) if folder else ()
        result = Run(_manifest(question, answerer, seed, events, tables, began, seconds), tables, files)
        if out is not None:
            result.save(out)
            result.captures = tuple(Path(out) / CAPTURES / file.name for file in files)
    return result


@contextmanager
def _capture_folder(
    scenario: Scenario,
    engine: Engine,
    asked: str | os.PathLike[str] | None,
    out: str | os.PathLike[str] | None,
) -> Iterator[Path | None]:
    """Where captures go: the folder asked for, or one beside ``out`` from which they move there."""
    if (asked is None and out is None) or engine == MODEL or not scenario.captures:
        yield None
    elif asked is not None:
        Path(asked).mkdir(parents=True, exist_ok=True)
        yield Path(asked)
    else:
        with store.scratch_folder(Path(out or "")) as scratch:
            yield scratch


def load_run(folder: str | os.PathLike[str]) -> Run:
    """The run stored in ``folder``; a table is read when first asked for. Raises FolderError, OSError."""
    path = Path(folder)
    manifest = store.read_manifest(path, "run")
    captures = tuple(sorted((path / CAPTURES).iterdir())) if (path / CAPTURES).is_dir() else ()
    return Run(manifest, store.StoredTables(path, list(manifest["tables"])), captures)


def _tables(
    answerer: Answerer, scenario: Scenario, seed: int, events: bool, captures: Path | None
) -> dict[str, pl.DataFrame]:
    """Run in a thread of its own, so that the calling thread can hear an interrupt and stop the run."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(answerer.tables, scenario, seed, events=events, captures=captures)
        try:
            (tables,) = as_finished([future])
        except BaseException:
            answerer.stop()
            raise
    return tables


def _manifest(
    scenario: Scenario,
    answerer: Answerer,
    seed: int | None,
    events: bool,
    tables: Mapping[str, pl.DataFrame],
    began: datetime,
    seconds: float,
) -> dict[str, Any]:
    """What a run folder says of itself (docs/run-folder.md)."""
    return {
        "format": store.FORMAT,
        "kind": "run",
        **signature(answerer, scenario.title, seed),
        "events": events,
        "spec_hash": scenario.hash,
        "spec": scenario.resolved,
        "departures": scenario.departures,
        "instead": answerer.instead(scenario),
        "tables": store.describe(tables),
        **({"evidence": answerer.evidence(scenario, dict(tables))} if isinstance(answerer, Judge) else {}),
        "wall": {"began": began.isoformat(timespec="seconds"), "seconds": round(seconds, 3)},
    }
