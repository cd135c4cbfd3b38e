"""One boot of the kernel: files in, a time limit, files out; or why not."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ecnlab.base.errors import RunError
from ecnlab.linux.children import end_with_parent
from ecnlab.linux.kernel import Kernel
from ecnlab.linux.programs import install

MEMORY: Final = "512M"

EPOCH_NS: Final = 946_684_800_000_000_000
"""Clock value at the start of every run: 1 January 2000."""

CONSOLE_LINES: Final = 25
"""How much of the console an error shows."""

LOOK_SECONDS: Final = 0.2
"""Maximum delay until a request to stop is noticed, in seconds."""

ADDR_NO_RANDOMIZE: Final = 0x0040000
"""personality(2): the same addresses in every process, on which the kernel's hash tables depend."""


@contextmanager
def boot(
    kernel: Kernel,
    files: Mapping[str, str],
    seed: int,
    limit_s: float,
    check: Callable[[], None] = lambda: None,
    programs: Sequence[Path] = (),
    options: Sequence[str] = (),
) -> Iterator[Path]:
    """Boot ``kernel`` with ``files`` at the root of its file system; return the folder with the guest's output.

    ``seed`` is the only entropy, apart from the kernel's command line, which ends with ``options``. ``programs`` of
    this machine are in ``/bin`` of the guest. Raises RunError, with the end of the console, if the kernel fails or does
    not finish within ``limit_s`` seconds of wall time.
    """
    with tempfile.TemporaryDirectory(prefix="ecnlab-linux-") as name:
        root = Path(name)
        if " " in name or "," in name:
            raise RunError(
                f"the kernel's command line cannot name the folder {name!r}: set TMPDIR to a path without blanks and commas"
            )
        shutil.copytree(kernel.root, root, dirs_exist_ok=True, symlinks=True)
        for folder in ("dev", "proc", "out", "run"):
            (root / folder).mkdir(exist_ok=True)
        for file, text in files.items():
            (root / file).write_text(text)
        for program in programs:
            install(program, root)
        _run(kernel, root, seed, limit_s, check, options)
        yield root / "out"


def _run(
    kernel: Kernel, root: Path, seed: int, limit_s: float, check: Callable[[], None], options: Sequence[str]
) -> None:
    command = [
        str(kernel.binary),
        f"mem={MEMORY}",
        "root=/dev/root",
        "rootfstype=hostfs",
        # Not `rootflags=`: the kernel stirs its command line into its entropy, and this option is none of it.
        f"hostfs={root}",
        "rootflags=/",
        "seccomp=on",
        "rw",
        "init=/init",
        "time-travel=inf-cpu",
        f"time-travel-start={EPOCH_NS}",
        "con=null",
        "ssl=null",
        "con0=null,fd:1",
        "panic=-1",
        *options,
    ]
    environment = {"ECNLAB_SEED": str(seed), "LD_PRELOAD": str(kernel.entropy), "TMPDIR": str(root), "HOME": str(root)}
    console, parent = root / "console", os.getpid()
    with console.open("wb") as log, CORES.one() as core:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=root,
            start_new_session=True,
            preexec_fn=lambda: _prepare(core, parent),
        )
        try:
            why = _wait(child, limit_s, check)
        finally:
            _end(child)
    if (root / "out" / "error").exists():
        why = "the guest gave up: " + (root / "out" / "error").read_text().strip()
        setup = root / "out" / "setup"
        why += f"\n{setup.read_text().strip()}" if setup.exists() else ""
    if why is None and not (root / "out" / "done").exists():
        why = "the kernel ended before the run did"
    if why:
        raise RunError(f"{why}\nthe end of the kernel's console:\n{tail(console)}")


def _wait(child: subprocess.Popen[bytes], limit_s: float, check: Callable[[], None]) -> str | None:
    """Why the kernel had to be ended, None if it ended by itself. ``check`` is called now and then, and may raise."""
    waited = 0.0
    while True:
        try:
            child.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            waited += LOOK_SECONDS
            check()
            if waited >= limit_s:
                return f"the kernel was not done after {limit_s:.0f} s of wall time"
        else:
            return None


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the kernel and the processes in which it runs its own: all are in a session that was made for them."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _prepare(core: int, parent: int) -> None:
    end_with_parent(signal.SIGKILL, parent)
    os.sched_setaffinity(0, {core})
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


class Cores:
    """Allocation of the cores that this process may use to running kernels.

    A kernel and the processes of its user space alternate thousands of times per second. On one core the next process
    continues immediately; on two cores each has to wake the other, and a run takes two to four times as long on an
    otherwise idle machine.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kernels: Counter[int] = Counter()

    @contextmanager
    def one(self) -> Iterator[int]:
        """The core with the fewest kernels, for the next."""
        with self._lock:
            # Another process may do the same: it starts with another core.
            cores = sorted(os.sched_getaffinity(0), key=lambda core: (core + os.getpid()) % (os.cpu_count() or 1))
            core = min(cores, key=lambda core: self._kernels[core])
            self._kernels[core] += 1
        try:
            yield core
        finally:
            with self._lock:
                self._kernels[core] -= 1


CORES: Final = Cores()


def tail(console: Path) -> str:
    """Return the last lines of the output of a kernel or its guest."""
    lines = console.read_text(errors="replace").splitlines()
    return "\n".join(f"  {line}" for line in lines[-CONSOLE_LINES:]) or "  (no output)"
