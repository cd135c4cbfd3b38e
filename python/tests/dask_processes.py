"""A Dask scheduler and its workers on the loopback interface, each a process of its own, for tests of clusters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SECONDS = 60
"""After which a process that does not start fails its test; they start in two."""


class Processes:
    """A scheduler and its workers. Used with ``with``, which ends them all."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        """``settings`` are values of Dask's configuration, as environment variables without their prefix."""
        self._folder = folder
        self._environment = {**os.environ, **{f"DASK_{key}": value for key, value in (settings or {}).items()}}
        self._started: list[subprocess.Popen[bytes]] = []
        self.address = ""
        self.scheduler = self.start_scheduler(0)

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_error: object) -> None:
        for process in self._started:
            process.kill()
        for process in self._started:
            process.wait()

    def start_scheduler(self, port: int) -> subprocess.Popen[bytes]:
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

    def start_worker(self, name: str, preload: str = "") -> subprocess.Popen[bytes]:
        """Start a worker with one thread, which executes the Python text ``preload`` first; do not wait for it."""
        folder = self._folder / name
        folder.mkdir()
        options = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--name", name, "--local-directory", str(folder)]
        if preload:
            (folder / "preloaded.py").write_text(preload)
            options += ["--preload", str(folder / "preloaded.py")]
        return self._start("dask_worker", self.address, *options)

    @contextmanager
    def worker(self, name: str, preload: str = "") -> Iterator[subprocess.Popen[bytes]]:
        """`start_worker` for the time of the context."""
        process = self.start_worker(name, preload)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{module}-{len(self._started)}.log").open("wb") as log:
            command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder, env=self._environment)
        self._started.append(process)
        return process


def until(condition, process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until ``condition()``; fail if ``process`` ends before."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert process is None or process.poll() is None, f"{process.args} has ended"
        assert time.monotonic() < deadline
        time.sleep(0.05)
