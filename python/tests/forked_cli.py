"""The command line in processes of its own that need not import anything: forks of one process that has.

Importing Polars takes longer than most commands. `ForkedCli` starts this file as a process, which imports what commands use and then
forks for each call. A fork has its own arguments, folder, environment and standard streams, and is waited for. It ends as any process
does, but without freeing its objects, which would copy the pages that it shares. What a command imports by itself is tested in
``test_startup.py``; tests of signals start ``python -m ecnlab`` (`ecnlab_command`).
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

SECONDS: Final = 120
"""After which a command is ended by SIGALRM."""

IMPORTED: Final = (
    "click._textwrap",
    "ecnlab.cli",
    "ecnlab.report",
    "ecnlab.scenario.metric_ranges",
    "numpy",
    "numpy.ma",
    "numpy.typing",
    "polars",
    "polars._utils.parquet",
    "rich.console",
    "rich.table",
)


class ForkedCli:
    """Calls of the command line, one after the other. Used with ``with``."""

    def __enter__(self) -> ForkedCli:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.communicate()

    def call(
        self, arguments: list[str], folder: Path, environment: Mapping[str, str] = os.environ
    ) -> subprocess.CompletedProcess[str]:
        """``ecnlab`` with ``arguments`` in ``folder``: its exit code, negative for a signal, and what it has written."""
        assert self._process.stdin and self._process.stdout
        with tempfile.TemporaryDirectory() as scratch:
            out, err = (Path(scratch) / name for name in ("out", "err"))
            asked = {
                "arguments": arguments,
                "folder": str(folder),
                "environment": dict(environment),
                "out": str(out),
                "err": str(err),
            }
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(["ecnlab", *arguments], code, out.read_text(), err.read_text())


def serve() -> None:
    """Fork for each line of standard input, and answer with the exit code of the fork."""
    requests, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.fsync = lambda _descriptor: None  # as in `conftest.py`
    # Sweeps start one worker: a second takes longer than their runs.
    import_module("ecnlab.runs.sweep_doing").cores = lambda: 1
    for name in IMPORTED:
        import_module(name)
    for module in import_module("ecnlab.cli.lazy_commands").MODULES.values():
        import_module(f"ecnlab.cli.{module}")
    import_module("ecnlab.base.provenance").maker()  # reads the simulator's binary, and calls git
    laws = import_module("ecnlab.laws")
    import_module("ecnlab.report.page").template()
    for family in (laws.queues, laws.windows, laws.recoveries, laws.feedbacks):
        family()  # imports a module for each law
    gc.freeze()  # a collection in a fork would copy every page
    for line in requests:
        pid = os.fork()
        if pid == 0:
            become(json.loads(line))
        _, status = os.waitpid(pid, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
        answers.flush()


def become(asked: Mapping[str, Any]) -> None:
    """Be the command that is ``asked`` for. Raises SystemExit with its exit code."""
    signal.alarm(SECONDS)
    os.chdir(asked["folder"])
    for descriptor, path in enumerate((os.devnull, asked["out"], asked["err"])):
        opened = os.open(path, os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["ecnlab", *asked["arguments"]]
    sys.path[0] = asked["folder"]
    code: object = 0
    try:
        sys.modules["ecnlab.cli"].main()
    except SystemExit as ended:
        code = ended.code
    # As Python ends, without the time to free each object.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    serve()
