"""Processes that do the runs of a sweep: if one is killed, only its run is lost."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Final, NoReturn

from ecnlab._core import Cancelled, LawError, RunError, Scenario
from ecnlab.base import interpreter, lawcode
from ecnlab.base.errors import EcnlabError
from ecnlab.engines.packets import Packets
from ecnlab.engines.protocol import Answerer
from ecnlab.folder import digests
from ecnlab.folder.finished_runs import write_part
from ecnlab.folder.streamed_tables import Growing
from ecnlab.runs import isolated, scenario_files

_START: Final = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from ecnlab.runs.workers import main; main()"

DIED: Final = "died"
"""Start of the message for a run whose process ended."""

STARTS: Final = 3
"""How many times a process is started for a run, if it dies before the run begins."""

_BEGUN: Final = "begun\n"
"""What a process writes when it has received a task, before its answer."""


def do(answerer: Answerer, scenario: Scenario, task: Mapping[str, Any]) -> None:
    """Do the run that ``task`` describes, and store it as a part. Raises RunError, Cancelled, OSError, EcnlabError."""
    tables, captures = task["tables"], task["captures"]
    blocks = Path(task["folder"]) / f".{task['id']}.{os.getpid()}.partial"
    folder = Path(captures) if captures else None
    with Growing(blocks, tables, task["most"]) as large:
        packets = {"blocks": large.take, "wanted": tables} if isinstance(answerer, Packets) else {}
        found = answerer.tables(scenario, task["seed"], events="packets" in tables, captures=folder, **packets)
        for name in large.tables:
            large.add(name, found[name])
        files = {path.name: digests.of_file(path) for path in sorted(folder.iterdir())} if folder else {}
        part = {name: found[name] for name in tables if name in found}
        write_part(Path(task["folder"]), task["id"], part, files, large)


_ADMITTED: Final = {"ECNLAB_LAWS": "on", "ECNLAB_MAX_MEMORY": "1000000000 GB"}
"""Environment of a worker: the parent process has already read and checked its tasks."""


class Worker:
    """A process that does one run at a time; begun when there is one to do, and again when it has died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[str] | None = None
        self._shown = 0
        self._begins = threading.Lock()
        self.stopped = False
        """The process was requested to end and cannot be used any more."""

    def begin(self) -> None:
        """Start the process, if it is not running."""
        self._running()

    def do(self, scenario: Scenario, task: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of `do`, or of `isolated.write` for a task with a folder ``scratch``, by the simulator.

        Raises RunError also if the process dies in the run: LawError if a user-defined law may have ended it.
        """
        laws = scenario_files.from_here(scenario, scenario_files.laws(scenario))
        files = laws | scenario_files.from_here(scenario, scenario_files.traces(scenario))
        requested = {"cwd": str(Path.cwd()), "path": scenario.path, "text": scenario.to_toml(), "hash": scenario.hash}
        process = self._sent(json.dumps({**task, **requested, "files": files}) + "\n")
        assert process.stdout
        answer = process.stdout.readline()
        if laws:
            self._show_printed()
        if not answer:
            raise self._died(process, laws)
        reply: dict[str, Any] = json.loads(answer)
        if "errno" in reply:
            raise OSError(reply["errno"], reply["message"], reply["file"])
        if reply["error"]:
            raise _error(reply)
        return reply

    def _sent(self, line: str) -> subprocess.Popen[str]:
        """Return the process that has begun the task ``line``. One that was killed before, without a task, is replaced."""
        for tries_left in reversed(range(STARTS)):
            process = self._running()
            assert process.stdin and process.stdout
            with suppress(BrokenPipeError):
                process.stdin.write(line)
                process.stdin.flush()
                if process.stdout.readline() == _BEGUN:
                    return process
            died = self._died(process, ())
            if not tries_left:
                raise died
        raise AssertionError

    def stop(self) -> None:
        """End the process immediately; threads that wait for it raise Cancelled."""
        with self._begins:
            self.stopped = True
            if (process := self._process) and process.poll() is None:
                process.kill()

    def close(self) -> None:
        """End the process, which does nothing."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()
        if self._errors:
            self._errors.close()

    def _running(self) -> subprocess.Popen[str]:
        with self._begins:
            if self.stopped:
                raise Cancelled("the run was cancelled")
            self._process = self._process or self._begin()
            return self._process

    def _begin(self) -> subprocess.Popen[str]:
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 (as long as the process)
        self._shown = 0
        return subprocess.Popen(
            interpreter.command("-c", _START, json.dumps([path or str(Path.cwd()) for path in sys.path])),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            env={**os.environ, "POLARS_MAX_THREADS": "1", **_ADMITTED},
        )

    def _show_printed(self) -> None:
        """Write the output of laws to standard error; the process continues to write at its current position."""
        assert self._errors
        while text := os.pread(self._errors.fileno(), 1 << 16, self._shown):
            self._shown += len(text)
            sys.stderr.write(text.decode(errors="replace"))
        sys.stderr.flush()

    def _died(self, process: subprocess.Popen[str], laws: Iterable[str]) -> RunError | Cancelled:
        """Return the error about ``process``, which has ended: LawError if one of ``laws`` may have ended it."""
        code = process.wait()
        if self.stopped:
            return Cancelled("the run was cancelled")
        how = f"by {_signal(-code)}" if code < 0 else f"with exit code {code}"
        assert self._errors
        self._errors.seek(0)
        last = self._errors.read()[-400:].strip().splitlines()
        self.close()
        self._errors = None
        reply = f"its process {DIED}, ended {how}" + (f": {last[-1]}" if last else "")
        if laws:
            reply += f"; it executes the law in {', '.join(laws)}, which may have ended it"
        return (LawError if laws and code >= 0 else RunError)(reply)


def _signal(number: int) -> str:
    known = {one.value: one.name for one in signal.Signals}
    return known.get(number, f"signal {number}")


def _error(reply: Mapping[str, Any]) -> Exception:
    """The error that a process has answered with."""
    if reply["error"] == "LawError":
        failed = LawError(reply["message"])
        failed.traceback = reply["traceback"]
        return failed
    return (RunError if reply["error"] == "RunError" else EcnlabError)(reply["message"])


_idle: list[Worker] = []


def begin(number: int) -> None:
    """Start workers until ``number`` have nothing to do: they load their libraries before there is a run for them."""
    while len(_idle) < number:
        one = Worker()
        one.begin()
        _idle.append(one)


@contextmanager
def worker() -> Iterator[Worker]:
    """A worker of one's own: one that has nothing to do, or a new one."""
    one = Worker()
    while _idle:
        # A worker may be asked to end after it was returned.
        if not (known := _idle.pop()).stopped:
            one = known
            break
        known.close()
    try:
        yield one
    except BaseException:
        one.close()
        raise
    if one.stopped:
        one.close()
    else:
        _idle.append(one)


@atexit.register
def _close_all() -> None:
    while _idle:
        _idle.pop().close()


def main() -> None:
    """Do the runs requested on standard input, one per line, until it ends because the parent process has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # A law may read standard input, or close it, as `exit` does.
    requested = os.fdopen(os.dup(0), encoding="utf-8")
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
    tasks: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(requested, tasks), daemon=True).start()
    try:
        import_module("polars")
        _serve(tasks, answers)
    except BaseException:
        traceback.print_exc()
    finally:
        # Threads that a law has begun are not waited for: the parent process would wait for this one.
        os._exit(1)


def _serve(tasks: SimpleQueue[str], answers: IO[str]) -> NoReturn:
    answerer = Packets()
    while True:
        task = json.loads(tasks.get())
        answers.write(_BEGUN)
        answers.flush()
        answers.write(json.dumps(_answer(answerer, task)) + "\n")
        answers.flush()


def _listen(requested: IO[str], tasks: SimpleQueue[str]) -> None:
    """Detect during a run that the parent process has ended."""
    for line in requested:
        tasks.put(line)
    os._exit(0)


@lru_cache(maxsize=1)
def _without_files(path: str, text: str) -> Scenario:
    """The scenario of ``text``, which names no files: replicates have the same. The module of a law would keep its state."""
    return Scenario(path, text)


def _line(error: BaseException) -> str:
    """Return ``error`` as the last line of a traceback shows it, if it has no other text."""
    return str(error) or type(error).__name__


def _answer(answerer: Packets, task: Mapping[str, Any]) -> dict[str, Any]:
    try:
        os.chdir(task["cwd"])  # paths are relative to the folder of the parent process
        scenario_files.refuse_changed(task["files"])
        read = Scenario if task["files"] else _without_files
        scenario = read(task["path"], task["text"])
        if scenario.hash != task["hash"]:
            scenario_files.refuse_changed(task["files"])
            return {
                "error": "RunError",
                "message": "the worker received a different scenario: a defect of ecnlab",
            }
        if "scratch" in task:
            return {"error": None, **isolated.write(answerer, scenario, task)}
        do(answerer, scenario, task)
    except OSError as error:
        return {"errno": error.errno, "message": error.strerror or str(error), "file": error.filename}
    except LawError as error:
        return {"error": "LawError", "message": str(error), "traceback": getattr(error, "traceback", "")}
    except BaseException as error:
        if place := lawcode.place(error):
            reply = f"{task['path']}: {place}: {_line(error)}"
            return {"error": "LawError", "message": reply, "traceback": lawcode.lines(error)}
        return {"error": type(error).__name__, "message": _line(error)}
    finally:
        with suppress(OSError, ValueError):  # a law may have closed it
            sys.stdout.flush()
    return {"error": None}
