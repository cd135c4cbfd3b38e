"""A block of runs on a Dask worker, returned as bytes.

Runs of a sweep are done by a process of their own, in a scratch folder; those of a batch by a thread.
"""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from ecnlab._core import Cancelled, LawError, Pool, RunError, Scenario, SpecError
from ecnlab.base.errors import EcnlabError
from ecnlab.runs.block import Ended
from ecnlab.runs.cluster_task import depth
from ecnlab.runs.workers import Worker, worker

LOOK_SECONDS: Final = 0.5
"""Interval at which a worker looks whether its block is still wanted."""


def do(requested: Mapping[str, Any]) -> dict[str, Any]:
    """Do the runs of the request ``requested``: a `cluster_answer.Answer`, as a dictionary without its ``worker``.

    The client's path of the scenario's folder replaces that of the scratch folder in messages.
    """
    from distributed import get_worker

    with tempfile.TemporaryDirectory(prefix="ecnlab-", dir=get_worker().local_directory) as scratch:
        path = _lay_out(Path(scratch), requested)

        def failure(error: Exception) -> dict[str, Any]:
            message = str(error).replace(str(path.parent), str(Path(requested["path"]).parent))
            traceback, number = getattr(error, "traceback", ""), getattr(error, "errno", None)
            return {"error": _kind(error), "message": message, "traceback": traceback, "errno": number}

        try:
            scenario, doing = _scenario(path, requested), _measured if "metrics" in requested else _done
            ended, results = doing(scenario, Path(scratch), requested, _wanted())
            return {**results, "errors": {run: failure(e) for run, e in ended.failed.items()}, "seconds": ended.seconds}
        except (RunError, EcnlabError, SpecError, OSError, Cancelled) as error:
            return {"error": failure(error)}


def _lay_out(scratch: Path, requested: Mapping[str, Any]) -> Path:
    """Write the files of ``requested`` into ``scratch``; return the path of the scenario, which is not written."""
    folder = scratch.joinpath("files", *["below"] * depth(requested["files"]))
    folder.mkdir(parents=True)
    for name, (digest, data) in requested["files"].items():
        if hashlib.sha256(data).hexdigest() != digest:
            raise RuntimeError(f"the file {name} has changed on its way to the worker")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder / Path(requested["path"]).name


def _scenario(path: Path, requested: Mapping[str, Any]) -> Scenario:
    scenario = Scenario(str(path), requested["text"])
    if scenario.hash != requested["hash"]:
        raise RunError("the worker received a different scenario: a defect of ecnlab")
    return scenario


def _done(
    scenario: Scenario, scratch: Path, requested: Mapping[str, Any], wanted: Callable[[], bool]
) -> tuple[Ended, dict[str, dict[str, bytes]]]:
    """Return the end of the block, and the files of the runs that are done: ``parts`` and ``captures``."""
    parts, captures = scratch / "parts", scratch / "captures"
    parts.mkdir()
    captures.mkdir()
    task = {key: requested[key] for key in ("runs", "tables", "most", "seconds")}
    task |= {"folder": str(parts), "captures": str(captures) if requested["captures"] else None}
    with worker() as one:
        ended = _watched(one, scenario, task, wanted)
    # What a process has stored before it died counts as undone, and so may the captures of a run that failed.
    files = {"parts": parts} if ended.seconds else {}
    files |= {} if ended.failed else {"captures": captures}
    return ended, {kind: _contents(folder) for kind, folder in files.items()}


def _measured(
    scenario: Scenario, _scratch: Path, requested: Mapping[str, Any], wanted: Callable[[], bool]
) -> tuple[Ended, dict[str, dict[str, list[float | None]]]]:
    """Return the end of the block, and the metrics of the runs that are done: ``values``."""
    began, ended, values = perf_counter(), Ended(), dict[str, list[float | None]]()
    pool = Pool(requested["metrics"], 1)
    for place, (run, seed) in enumerate(requested["runs"]):
        if place and perf_counter() - began > requested["seconds"]:
            break
        pool.submit(place, scenario, [seed])
        while not (taken := pool.take()):
            if not wanted():
                pool.cancel()
                raise Cancelled("the client has gone")
        ((_, found),) = taken
        if isinstance(found, str):
            ended.failed[run] = RunError(found)
        else:
            values[run] = found
    ended.seconds = perf_counter() - began
    return ended, {"values": values}


def _watched(one: Worker, scenario: Scenario, task: Mapping[str, Any], wanted: Callable[[], bool]) -> Ended:
    """Do the runs of ``task`` by ``one``, and stop it when it is not ``wanted`` any more: the client has gone."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            if not wanted():
                one.stop()
                return

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        return one.do_block(scenario, task)
    finally:
        over.set()
        watching.join()


def _wanted() -> Callable[[], bool]:
    """Return a function that returns whether Dask still wants the task that calls this one."""
    from distributed import get_worker

    here = get_worker()
    tasks, key = here.state.tasks, here.get_current_task()

    def wanted() -> bool:
        task = tasks.get(key)
        return task is not None and task.state != "cancelled"

    return wanted


def _contents(folder: Path) -> dict[str, bytes]:
    """The files in ``folder`` by name; unfinished ones are left out."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.startswith(".")}


def _kind(error: Exception) -> str:
    """The class of ``error`` that the client raises."""
    kinds = (LawError, RunError, SpecError, EcnlabError, OSError, Cancelled)
    return next(kind.__name__ for kind in kinds if isinstance(error, kind))
