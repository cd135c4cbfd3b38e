"""Processes that do the runs of a sweep in blocks: if one is killed, only the run that it was doing is lost."""

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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Final, NoReturn

from ecnlab._core import Cancelled, LawError, RunError, Scenario
from ecnlab.base import interpreter
from ecnlab.base.errors import EcnlabError
from ecnlab.engines.packets import Packets
from ecnlab.runs import block, isolated, scenario_files
from ecnlab.runs.block import Ended, line, own_error

_START: Final = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from ecnlab.runs.workers import main; main()"

DIED: Final = "died"
"""Start of the message for a run whose process ended."""

STARTS: Final = 3
"""How many times a process is started for a run, if it dies before the run begins."""

_BEGUN: Final = "begun\n"
"""What a process writes when it has received a task, before its answer."""

_NEXT: Final = "next\n"
"""What a process writes before each run of a block."""


_ADMITTED: Final = {"ECNLAB_LAWS": "on", "ECNLAB_MAX_MEMORY": "1000000000 GB"}
"""Environment of a worker: the parent process has already read and checked its tasks."""


class Worker:
    """A process that does one block of runs at a time; begun when there is one to do, and again when it has died."""

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
        """Return the result of `isolated.write`, by the simulator.

        Raises RunError also if the process dies in the run: LawError if a user-defined law may have ended it.
        """
        answer, _ = self._answered(scenario, task)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def do_block(self, scenario: Scenario, task: Mapping[str, Any]) -> Ended:
        """Do the runs of ``task`` by `block.do` and the simulator: if the process dies in one of them, that has failed."""
        answer, place = self._answered(scenario, task)
        if isinstance(answer, Exception):
            runs = [run for run, _ in task["runs"]]
            failed = runs.pop(place)
            return Ended({failed: answer}, set(runs))
        failed = {run: _run_error(reply) for run, reply in answer["failed"].items()}
        return Ended(failed, set(answer["undone"]), answer["seconds"])

    def _answered(self, scenario: Scenario, task: Mapping[str, Any]) -> tuple[Mapping[str, Any] | RunError, int]:
        """Return the answer to ``task``, or the error if the process has died; and the place of the last run that was begun."""
        laws = scenario_files.from_here(scenario, scenario_files.laws(scenario))
        files = laws | scenario_files.from_here(scenario, scenario_files.traces(scenario))
        requested = {"cwd": str(Path.cwd()), "path": scenario.path, "text": scenario.to_toml(), "hash": scenario.hash}
        process = self._sent(json.dumps({**task, **requested, "files": files}) + "\n")
        if isinstance(process, Exception):
            return process, 0
        assert process.stdout
        begun = 0
        while (answer := process.stdout.readline()) == _NEXT:
            begun += 1
        if laws:
            self._show_printed()
        if not answer:
            return self._died(process, laws), max(0, begun - 1)
        reply: dict[str, Any] = json.loads(answer)
        if "errno" in reply:
            raise OSError(reply["errno"], reply["message"], reply["file"])
        if reply["error"]:
            raise _error(reply)
        return reply, begun

    def _sent(self, line: str) -> subprocess.Popen[str] | RunError:
        """Return the process that has begun the task ``line``. One that was killed before, without a task, is replaced.

        Returns the error of the last of `STARTS` that were.
        """
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
                return died
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

    def _died(self, process: subprocess.Popen[str], laws: Iterable[str]) -> RunError:
        """Return the error about ``process``, which has ended: LawError if one of ``laws`` may have ended it.

        Raises Cancelled if it was stopped.
        """
        code = process.wait()
        if self.stopped:
            raise Cancelled("the run was cancelled")
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
    return _run_error(reply) if reply["error"] in ("LawError", "RunError") else EcnlabError(reply["message"])


def _run_error(reply: Mapping[str, Any]) -> RunError:
    """The same, of a run."""
    if reply["error"] != "LawError":
        return RunError(reply["message"])
    failed = LawError(reply["message"])
    failed.traceback = reply["traceback"]
    return failed


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
        answers.write(json.dumps(_answer(answerer, task, partial(_begins, answers))) + "\n")
        answers.flush()


def _begins(answers: IO[str]) -> None:
    """Report that a run of a block begins: if the process dies in it, it is the one that failed."""
    answers.write(_NEXT)
    answers.flush()


def _listen(requested: IO[str], tasks: SimpleQueue[str]) -> None:
    """Detect during a run that the parent process has ended."""
    for task in requested:
        tasks.put(task)
    os._exit(0)


@lru_cache(maxsize=1)
def _without_files(path: str, text: str) -> Scenario:
    """The scenario of ``text``, which names no files: replicates have the same. The module of a law would keep its state."""
    return Scenario(path, text)


def _answer(answerer: Packets, task: Mapping[str, Any], begins: Callable[[], None]) -> dict[str, Any]:
    try:
        os.chdir(task["cwd"])  # paths are relative to the folder of the parent process
        scenario_files.refuse_changed(task["files"])
        read = Scenario if task["files"] else _without_files
        scenario = read(task["path"], task["text"])
        if scenario.hash != task["hash"]:
            scenario_files.refuse_changed(task["files"])
            raise RunError("the worker received a different scenario: a defect of ecnlab")
        if "scratch" in task:
            return {"error": None, **isolated.write(answerer, scenario, task)}
        ended = block.do(answerer, scenario, task, begins)
        failed = {run: _reply(error) for run, error in ended.failed.items()}
        return {"error": None, "failed": failed, "undone": list(ended.undone), "seconds": ended.seconds}
    except OSError as error:
        return {"errno": error.errno, "message": error.strerror or str(error), "file": error.filename}
    except BaseException as error:
        return _reply(own_error(error, task["path"]) or error)
    finally:
        with suppress(OSError, ValueError):  # a law may have closed it
            sys.stdout.flush()


def _reply(error: BaseException) -> dict[str, Any]:
    """The answer about ``error``."""
    kind = "LawError" if isinstance(error, LawError) else type(error).__name__
    return {"error": kind, "message": line(error), "traceback": getattr(error, "traceback", "")}
