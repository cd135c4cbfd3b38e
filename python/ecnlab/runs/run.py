"""One run: a scenario and a seed in, tables out."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ecnlab._core import Scenario
from ecnlab.api.run import Run
from ecnlab.base import address_space
from ecnlab.base.errors import EcnlabError, SpecError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.provenance import maker
from ecnlab.base.threads import Threads, returned
from ecnlab.base.types import Engine
from ecnlab.engines.packets import Packets
from ecnlab.engines.protocol import MODEL, PACKETS, Answerer, Judge, seed_for, signature
from ecnlab.folder import size_limits
from ecnlab.folder.manifest import refuse_other
from ecnlab.folder.names import FORMAT
from ecnlab.folder.replaced import scratch_folder
from ecnlab.folder.streamed_tables import Growing
from ecnlab.results.parted import Parted, described
from ecnlab.runs.engine_by_name import answerer_of
from ecnlab.runs.isolated import read
from ecnlab.runs.scenario_files import laws
from ecnlab.runs.workers import worker
from ecnlab.scenario.files import read_scenario


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
    and ``out`` is a folder to store the run in. The captures of the scenario are written into the folder
    ``captures``, else into the run folder; without either there are none.

    ``engine`` is the engine: the simulator, ``"linux"`` (``docs/linux.md``), ``"linux-wall"`` (the same in real time
    on the machine's own kernel; ``manifest["evidence"]`` states whether time was kept well enough) or ``"model"``
    (``docs/models.md``), which has no seed, events or captures.

    Raises SpecError for a scenario that is not possible, or not for the engine; EcnlabError if the engine cannot do what
    is asked, or no Linux kernel has been built; FolderError and OSError as ``Run.save`` does; RunError if the simulator
    finds its own books not balanced, or the kernel fails.
    """
    address_space.refuse_too_little()
    seed = seed_for(engine, seed, events=events, captures=captures is not None)
    question = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    if overrides:
        question = question.with_overrides(dict(overrides))
    requested = {"kind": "run", "engine": engine, "spec_hash": question.hash, "seed": seed, "events": events}
    if out is not None:
        refuse_other(Path(out), requested, question.resolved)
    where = Path(tempfile.gettempdir() if out is None else out)
    if engine != MODEL:
        size_limits.refuse_too_large(question, where, events=events)
    answerer = answerer_of(engine)
    answerer.check(question)  # before a folder is created for a rejected run
    began, clock = datetime.now(UTC), time.perf_counter()
    with _capture_folder(question, engine, captures, out) as folder, ExitStack() as stack:
        scratch = _scratch(stack, out)
        tables = _tables(answerer, question, seed or 0, events, folder, scratch)
        seconds = time.perf_counter() - clock
        files = tuple(folder / name for name in question.captures) if folder else ()
        result = Run(_manifest(question, answerer, seed, events, tables, began, seconds), tables, files)
        result.manifest["wall"] |= _files_of(question, overrides)
        if out is not None:
            result.save(out)
        elif isinstance(tables, Parted):
            tables.scratch = stack.pop_all()  # the folder vanishes with the run
    return result


def _scratch(stack: ExitStack, out: str | os.PathLike[str] | None) -> Path:
    """Create a folder for tables that become large: in the parent folder of ``out``, or the folder of temporary files."""
    if out is not None:
        return stack.enter_context(scratch_folder(Path(out), "growing"))
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ecnlab-")))


@contextmanager
def _capture_folder(
    scenario: Scenario,
    engine: Engine,
    requested: str | os.PathLike[str] | None,
    out: str | os.PathLike[str] | None,
) -> Iterator[Path | None]:
    """Return the folder for captures: the given one, or one from which they are moved into ``out``."""
    if (requested is None and out is None) or engine == MODEL or not scenario.captures:
        yield None
    elif requested is not None:
        Path(requested).mkdir(parents=True, exist_ok=True)
        yield Path(requested)
    else:
        with scratch_folder(Path(out or "")) as scratch:
            yield scratch


def _tables(
    answerer: Answerer, scenario: Scenario, seed: int, events: bool, captures: Path | None, scratch: Path
) -> Mapping[str, pl.DataFrame]:
    """Run in a separate thread, so that the calling thread can receive an interrupt and stop the run.

    Tables that become large are in ``scratch``.
    """
    if isinstance(answerer, Packets) and laws(scenario):
        return _isolated(scenario, seed, events, captures, scratch)
    with Growing(scratch) as growing:
        tables = _simulated(answerer, scenario, seed, events, captures, growing)
        if not growing.tables:
            return tables
        stored = {name: scratch / f"{name}.parquet" for name in growing.tables}
        for name, path in stored.items():
            growing.add(name, tables[name])
            growing.finish(name, path)
    held = {name: rows for name, rows in tables.items() if name not in stored}
    return Parted(held, stored, list(tables))


def _simulated(
    answerer: Answerer, scenario: Scenario, seed: int, events: bool, captures: Path | None, growing: Growing
) -> Mapping[str, pl.DataFrame]:
    """Return the tables of a run in another thread; of those in ``growing``, the last rows."""
    # Other engines return complete tables.
    blocks = {"blocks": growing.take} if isinstance(answerer, Packets) else {}
    with Threads[Mapping[str, "pl.DataFrame"]](answerer.stop) as threads:
        threads.begin(returned(lambda: answerer.tables(scenario, seed, events=events, captures=captures, **blocks)))
        if isinstance(answerer, Packets):  # it would disturb a kernel in real time
            _prepare_tables(threads)
        (tables,) = threads.values()
    return tables


def _prepare_tables(threads: Threads[Any]) -> None:
    """Load Polars, hash the binary and call git during the simulation, which needs no Python, instead of after it."""
    threads.begin(_load_polars())
    maker()


def _load_polars() -> Iterator[Any]:
    """Load Polars in the thread that iterates; there are no values."""
    _ = pl.DataFrame
    yield from ()


def _isolated(
    scenario: Scenario, seed: int, events: bool, captures: Path | None, scratch: Path
) -> Mapping[str, pl.DataFrame]:
    """Like `_tables`, by the simulator in a separate process."""
    task = {
        "seed": seed,
        "events": events,
        "captures": str(captures.absolute()) if captures else None,
        "scratch": str(scratch.absolute()),
        "most": size_limits.limit(),
    }
    scratch.mkdir(exist_ok=True)
    with worker() as one, Threads[Mapping[str, Any]](one.stop) as threads:
        threads.begin(returned(lambda: one.do(scenario, task)))
        _prepare_tables(threads)
        (index,) = threads.values()
    held, stored = read(index, scratch)
    return Parted(held, stored, index["order"]) if stored else held


def _files_of(scenario: Scenario, overrides: Mapping[str, object] | None) -> dict[str, Any]:
    """Return the file of the scenario, and its overrides."""
    captures = scenario.resolved.get("capture", {})
    try:
        # A pipe is read once.
        file = Path(scenario.path)
        own = read_scenario(file).resolved.get("capture", {}) if captures and file.is_file() else captures
    except (OSError, EcnlabError, SpecError):
        own = captures
    places = [one.get("link") or one.get("node") for name, one in captures.items() if name not in own]
    beside = {"overrides": dict(overrides or {}), "capture": places}
    return {"file": scenario.path, **{key: value for key, value in beside.items() if value}}


def _manifest(
    scenario: Scenario,
    answerer: Answerer,
    seed: int | None,
    events: bool,
    tables: Mapping[str, pl.DataFrame],
    began: datetime,
    seconds: float,
) -> dict[str, Any]:
    """Return the manifest of a run folder (docs/run-folder.md)."""
    return {
        "format": FORMAT,
        "kind": "run",
        **signature(answerer, scenario.title, seed),
        "events": events,
        "spec_hash": scenario.hash,
        "spec": scenario.resolved,
        "in_force": {} if seed is None else scenario.in_force(seed),
        "departures": scenario.departures,
        "instead": answerer.instead(scenario),
        "tables": described(tables),
        **({"evidence": answerer.evidence(scenario, dict(tables))} if isinstance(answerer, Judge) else {}),
        "wall": {
            "began": began.isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
        },
    }
