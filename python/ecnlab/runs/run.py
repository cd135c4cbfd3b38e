"""One run: a scenario and a seed in, tables out."""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ecnlab._core import Scenario
from ecnlab.base import address_space
from ecnlab.base.errors import EcnlabError, SpecError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.provenance import maker
from ecnlab.base.threads import Threads, returned
from ecnlab.base.types import Engine
from ecnlab.engines.packets import Packets
from ecnlab.engines.protocol import LINUX_WALL, MODEL, PACKETS, Answerer, Judge, seed_for, signature
from ecnlab.folder import size_limits
from ecnlab.folder.atomic import link_or_copy
from ecnlab.folder.manifest import read_manifest, refuse_other
from ecnlab.folder.names import CAPTURES, FORMAT, MANIFEST
from ecnlab.folder.replaced import restore_folder, scratch_folder, whole_folder
from ecnlab.folder.sealed_json import write_json
from ecnlab.folder.streamed_tables import Growing
from ecnlab.folder.tables import describe, describe_stored, missing_table, read_table, write_table
from ecnlab.folder.verified import Files, StoredTables, digests_of
from ecnlab.runs.engine_by_name import answerer_of
from ecnlab.runs.isolated import read
from ecnlab.runs.scenario_files import laws
from ecnlab.runs.workers import worker
from ecnlab.scenario.files import read_scenario

if TYPE_CHECKING:
    from ecnlab.plots.run import RunPlots

IDENTITY: Final = ("kind", "engine", "spec_hash", "seed", "events")
"""Keys of the manifest that are equal if two runs are the same."""


class Run:
    """The result of one run. All tables are Polars frames (``.to_pandas()`` gives pandas', where that is installed).

    Columns, units and meanings are in ``docs/run-folder.md``; ``manifest["tables"]`` has the units, too.
    """

    def __init__(
        self, manifest: dict[str, Any], tables: Mapping[str, pl.DataFrame], captures: tuple[Path, ...] = ()
    ) -> None:
        self.manifest = manifest
        """``manifest`` describes the question and the engine: spec, hash, seed, version, units, wall time."""
        self._captures = captures
        self._tables = tables
        self._files: Files | None = None
        self._scratch: object = None

    @property
    def captures(self) -> tuple[Path, ...]:
        """Its capture files, where they were written; see ``docs/captures.md``. Raises FolderError for a damaged one."""
        if self._files is None:
            return self._captures
        names = (name for name in self._files.digests if name.startswith(f"{CAPTURES}/"))
        return tuple(self._files.path(name) for name in names)

    def __repr__(self) -> str:
        return f"Run({self.manifest['title']!r}, seed={self.manifest['seed']}, tables={', '.join(self._tables)})"

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
        if isinstance(self._tables, _Parted) and name in self._tables.stored:
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

    @property
    def plot(self) -> RunPlots:
        """Its figures: ``run.plot.queue()``, see ``docs/plots.md``."""
        from ecnlab.plots.run import RunPlots  # only needed for drawing

        return RunPlots(self)

    def report(
        self,
        file: str | os.PathLike[str],
        *,
        stages: str | os.PathLike[str] | None = None,
        layout: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Write its page to ``file`` and return the path, see ``docs/reports.md``.

        ``stages`` is a Python file with further stages, ``layout`` a TOML file with other sections. Raises EcnlabError for
        a file that is not as required or a stage that fails, FolderError for a damaged table, OSError.
        """
        from ecnlab.stages import write  # only needed for pages

        return write(self, file, stages=stages, layout=layout)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the run folder atomically, and return its path.

        A folder that holds the same run (same spec and seed) is replaced. Raises FolderError if it holds anything else,
        OSError if it cannot be written.
        """
        target = Path(folder)
        refuse_other(target, {key: self.manifest[key] for key in IDENTITY}, self.manifest["spec"])
        with whole_folder(target) as scratch:
            for name in self._tables:
                if isinstance(self._tables, _Parted) and name in self._tables.stored:
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
        if isinstance(self._tables, _Parted):
            self._tables = StoredTables(self._files, list(self._tables))
            self._scratch = None


class _Parted(Mapping[str, "pl.DataFrame"]):
    """Tables of which some are in files because they are too large for memory."""

    def __init__(self, held: Mapping[str, pl.DataFrame], stored: Mapping[str, Path], order: list[str]) -> None:
        self.held, self.stored, self._order = held, stored, order

    def __contains__(self, name: object) -> bool:
        return name in self._order  # that of `Mapping` reads the table

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.held[name] if name in self.held else read_table(self.stored[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __len__(self) -> int:
        return len(self._order)


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
    address_space.refuse_too_little()
    seed = seed_for(engine, seed, events=events, captures=captures is not None)
    question = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    if overrides:
        question = question.with_overrides(dict(overrides))
    asked = {"kind": "run", "engine": engine, "spec_hash": question.hash, "seed": seed, "events": events}
    if out is not None:
        refuse_other(Path(out), asked, question.resolved)
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
        result.manifest["wall"] |= _asked(question, overrides)
        if out is not None:
            result.save(out)
        elif isinstance(tables, _Parted):
            result._scratch = stack.pop_all()  # the folder vanishes with the run
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
    asked: str | os.PathLike[str] | None,
    out: str | os.PathLike[str] | None,
) -> Iterator[Path | None]:
    """Return the folder for captures: the given one, or one from which they are moved into ``out``."""
    if (asked is None and out is None) or engine == MODEL or not scenario.captures:
        yield None
    elif asked is not None:
        Path(asked).mkdir(parents=True, exist_ok=True)
        yield Path(asked)
    else:
        with scratch_folder(Path(out or "")) as scratch:
            yield scratch


def load_run(folder: str | os.PathLike[str]) -> Run:
    """Return the run stored in ``folder``; a table is read and verified on first use. Raises FolderError, OSError."""
    path = Path(folder)
    restore_folder(path)
    manifest = read_manifest(path, "run")
    files = Files(path, manifest)
    rows = {name: about["rows"] for name, about in manifest["tables"].items()}
    found = Run(manifest, StoredTables(files, manifest["tables"], rows=rows))
    found._settle(path)
    return found


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
    return _Parted(held, stored, list(tables))


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
        (said,) = threads.values()
    held, stored = read(said, scratch)
    return _Parted(held, stored, said["order"]) if stored else held


def _asked(scenario: Scenario, overrides: Mapping[str, object] | None) -> dict[str, Any]:
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
        "tables": _describe(tables),
        **({"evidence": answerer.evidence(scenario, dict(tables))} if isinstance(answerer, Judge) else {}),
        "wall": {
            "began": began.isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
        },
    }


def _describe(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    if not isinstance(tables, _Parted):
        return describe(tables)
    stored = describe_stored(tables.stored)
    held = describe(tables.held)
    return {name: {**held, **stored}[name] for name in tables}
