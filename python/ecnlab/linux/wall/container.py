"""The guest on the machine's own kernel: started in new namespaces and ended with everything in them.

No part of a run has a name outside: its namespaces live as long as their processes, these end with the process that
started them, and a namespace's devices end with it. Only the folder of a run whose process was killed can remain; the
next run removes it after acquiring the lock that the dead process held.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from ecnlab.base import locks
from ecnlab.base.errors import RunError
from ecnlab.linux.kernel import cache
from ecnlab.linux.machine import tail
from ecnlab.linux.wall.guest import Guest

LOCK: Final = "lock"

SETUP_SECONDS: Final = 60.0
"""Seconds that the guest may take to create its namespaces, or to write its files."""


class Container:
    """A guest that runs."""

    def __init__(self, folder: Path, child: subprocess.Popen[bytes], control: socket.socket) -> None:
        self._folder, self._child, self._control = folder, child, control
        self._received = b""

    @property
    def out(self) -> Path:
        """Return the output folder of the guest."""
        return self._folder / "root/out"

    def namespace(self, host: str) -> Path:
        """Return the file of a host's network namespace, visible in the guest's mount namespace while it runs."""
        return Path(f"/proc/{self._child.pid}/root{self._folder}/root/run/netns/{host}")

    def receive(self, word: str, seconds: float = SETUP_SECONDS) -> str:
        """Wait for the line that starts with ``word``; return the rest of it. Raises RunError for any other line."""
        self._control.settimeout(seconds)
        while b"\n" not in self._received:
            try:
                got = self._control.recv(256)
            except TimeoutError:
                raise RunError(f"the hosts did not report `{word}` in {seconds:.0f} s\n{self.console()}") from None
            if not got:
                raise RunError(f"{self._why_it_ended()}\n{self.console()}")
            self._received += got
        line, _, self._received = self._received.partition(b"\n")
        received, _, rest = line.decode().partition(" ")
        if received != word:
            raise RunError(f"the hosts sent `{received}` instead of `{word}`\n{self.console()}")
        return rest

    def answer(self) -> None:
        """Let a waiting guest continue."""
        with suppress(OSError):
            # Not a write: without a reader that would be a SIGPIPE.
            self._control.send(b"\n", socket.MSG_NOSIGNAL)

    def finish(self) -> None:
        """Wait for the guest's end. Raises RunError if it is a bad one."""
        try:
            self._child.wait(SETUP_SECONDS)
        except subprocess.TimeoutExpired:
            raise RunError(f"the hosts did not exit\n{self.console()}") from None
        if self._child.returncode or not (self.out / "done").exists():
            raise RunError(f"{self._why_it_ended()}\n{self.console()}")

    def wait(self) -> None:
        """Until the guest has ended, however."""
        self._child.wait()

    def end(self) -> None:
        """End the guest, and wait until all its processes have ended."""
        with suppress(ProcessLookupError):
            self._child.send_signal(signal.SIGKILL)
        self._child.wait()
        # Its last process closes the other end.
        self._control.settimeout(SETUP_SECONDS)
        with suppress(OSError):
            while self._control.recv(256):
                pass
        self._control.close()

    def console(self) -> str:
        """Return the output of the guest's programs."""
        received = [
            f"  {line}" for file in (self.out / "setup",) if file.exists() for line in file.read_text().splitlines()
        ]
        return "\n".join([*received, tail(self._folder / "console")])

    def _why_it_ended(self) -> str:
        error = self.out / "error"
        return (
            f"the hosts failed: {error.read_text().strip()}" if error.exists() else "the hosts ended before the run did"
        )


@contextmanager
def contained(guest: Guest, files: Mapping[str, str]) -> Iterator[Container]:
    """Start ``guest`` with ``files`` at the root of its file system; end it, and remove everything, at the end."""
    folder, lock = _new_folder()
    with lock:
        try:
            container = _start(guest, folder, files)
            try:
                yield container
            finally:
                container.end()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _new_folder() -> tuple[Path, IO[str]]:
    """A folder for a run, once those are removed that others have left; and its lock, which lasts while it is open."""
    with _only_one():
        _remove_leftovers()
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=runs()))
        lock = (folder / LOCK).open("w")
        locks.acquire(lock.fileno(), wait=True)
        return folder, lock


@contextmanager
def _only_one() -> Iterator[None]:
    """Nobody else makes folders or removes them meanwhile: one that has no lock yet is not one that was left."""
    with (runs() / LOCK).open("w") as lock:
        locks.acquire(lock.fileno(), wait=True)
        yield


def _start(guest: Guest, folder: Path, files: Mapping[str, str]) -> Container:
    root = folder / "root"
    shutil.copytree(guest.root, root, symlinks=True)
    for name in ("proc", "out", "run"):
        (root / name).mkdir(exist_ok=True)
    for file, text in files.items():
        (root / file).write_text(text)
    ours, theirs = socket.socketpair()
    with theirs, (folder / "console").open("wb") as console:
        child = subprocess.Popen(
            [guest.container, str(os.getpid()), str(theirs.fileno()), root],
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            pass_fds=[theirs.fileno()],
            env={},
            # Ctrl-C is handled by the parent process, which ends this one.
            start_new_session=True,
        )
    return Container(folder, child, ours)


def runs() -> Path:
    """Where the folders of runs are while they last."""
    folder = cache() / "wall"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def remove_leftovers() -> list[Path]:
    """Remove the remains of runs whose process was killed; return their folders.

    A folder belongs to such a run if its lock is free. A remaining process of it, though not expected, is identified by
    its root in that folder and killed first.
    """
    with _only_one():
        return _remove_leftovers()


def _remove_leftovers() -> list[Path]:
    removed = []
    for folder in sorted(runs().glob("run-*")):
        with suppress(OSError), (folder / LOCK).open("w") as lock:
            locks.acquire(lock.fileno())
            for pid in processes_in(folder / "root"):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


def processes_in(root: Path) -> list[int]:
    """The processes whose root is ``root``."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "root").readlink() == root:
                found.append(int(process.name))
    return found
