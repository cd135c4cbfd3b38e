"""A Dask scheduler and its workers on the loopback interface, each a process of its own, for tests of clusters.

They are forks of a process that has imported Dask, which takes longer than the sweeps of most tests. It has not imported ecnlab.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

get_context("forkserver").set_forkserver_preload(["distributed.cli.dask_scheduler", "distributed.cli.dask_worker"])

SECONDS = 60
"""After which a process that does not start fails its test; they start in two."""

SETTINGS = {"DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5 s"}
"""In place of 30 s: a scheduler that fetches a result of a worker that has just been killed tries so long to connect to it."""


class Forked(ForkServerProcess):
    """A command of Dask, with the methods of `subprocess.Popen`."""

    def poll(self) -> int | None:
        return self.exitcode

    def wait(self) -> int | None:
        self.join()
        return self.exitcode


def be(module: str, arguments: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
    """Be the command ``module`` of Dask, in the folder of its ``log``."""
    os.chdir(log.parent)
    os.environ.clear()
    os.environ.update(environment)
    written = os.open(log, os.O_WRONLY | os.O_CREAT)
    for descriptor in (1, 2):
        os.dup2(written, descriptor)
    import_module("dask.config").refresh()  # with the settings in the environment
    import_module(f"distributed.cli.{module}").main(arguments)


class Processes:
    """A scheduler and its workers. Used with ``with``, which ends them all."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        """``settings`` are values of Dask's configuration, as environment variables without their prefix."""
        self._folder = folder
        asked = {**SETTINGS, **(settings or {})}
        self._environment = {**os.environ, **{f"DASK_{key}": value for key, value in asked.items()}}
        self._started: list[Forked] = []
        self.address = ""
        self.scheduler = self.start_scheduler(0)

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_error: object) -> None:
        for process in self._started:
            process.kill()
        for process in self._started:
            process.wait()

    def start_scheduler(self, port: int) -> Forked:
        """Start a scheduler at ``port`` (0: a free one) and wait until it has written its address."""
        file = self._folder / f"scheduler-{len(self._started)}.json"
        without = self._folder / "without_ecnlab.py"
        without.write_text("import sys; sys.modules['ecnlab'] = None")  # a scheduler does not need it
        options = [
            "--preload",
            str(without),
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--no-dashboard",
            "--scheduler-file",
            str(file),
        ]
        self.scheduler = self._start("dask_scheduler", *options)
        until(lambda: file.exists() and file.read_text().endswith("}"), self.scheduler)
        self.address = json.loads(file.read_text())["address"]
        return self.scheduler

    def start_worker(self, name: str, preload: str = "") -> Forked:
        """Start a worker with one thread, which executes the Python text ``preload`` first; do not wait for it."""
        folder = self._folder / name
        folder.mkdir()
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--name", name, "--local-directory", str(folder)]
        if preload:
            (folder / "preloaded.py").write_text(preload)
            options += ["--preload", str(folder / "preloaded.py")]
        return self._start("dask_worker", self.address, *options)

    @contextmanager
    def worker(self, name: str, preload: str = "") -> Iterator[Forked]:
        """`start_worker` for the time of the context."""
        process = self.start_worker(name, preload)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def _start(self, module: str, *arguments: str) -> Forked:
        log = self._folder / f"{module}-{len(self._started)}.log"
        process = Forked(target=be, args=(module, arguments, log, self._environment))
        process.start()
        self._started.append(process)
        return process


def until(condition, process: Forked | subprocess.Popen[bytes] | None = None) -> None:
    """Wait until ``condition()``; fail if ``process`` ends before."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert process is None or process.poll() is None, f"{process} has ended"
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """End each test that hangs, of a module that imports this."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(2 * SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler with two workers, for tests that leave them alive."""
    with Processes(tmp_path_factory.mktemp("dask")) as processes:
        for name in ("one", "two"):
            processes.start_worker(name)
        yield processes
