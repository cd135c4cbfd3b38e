"""``ecnlab check``: validates scenario and experiment files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from ecnlab.base.errors import EcnlabError, SpecError
from ecnlab.base.types import Diagnostic
from ecnlab.base.user_files import special
from ecnlab.cli import console
from ecnlab.cli.codes import BAD_INPUT, IO_FAILED, NO, OK
from ecnlab.cli.options import File, as_json, examples, no_python
from ecnlab.folder import size_limits
from ecnlab.inference.question import is_question, read_question
from ecnlab.scenario.advice import Advice
from ecnlab.scenario.files import Checked, checked, keys_of, read_text

SHOWN: Final = 100_000_000
"""Memory estimates below this size, in bytes, are not shown."""


@click.command()
@click.argument("files", nargs=-1, required=True, type=File)
@no_python
@as_json
@examples("""
      ecnlab check dumbbell.toml
      ecnlab check dumbbell.toml gain.toml --json
""")
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """Check that scenario and experiment FILES, questions of `ecnlab infer` and spaces of `ecnlab search` can be run, and estimate the size of their tables and the memory of a run.

    All files are checked; the exit code is that of the worst. Warnings do not change it.

    A scenario with user-defined laws names files whose code is executed, with your rights, when the scenario is read: for files
    that you do not trust give --no-python.
    """
    found: list[Diagnostic] = []
    warnings: list[Diagnostic] = []
    estimates: list[dict[str, Any]] = []
    codes = [OK]
    for file in files:
        wrong, about, code, message = _check(file)
        found += wrong
        codes.append(code)
        warnings += about.advice.diagnostics
        estimates += [_estimate(file, about)] if code == OK else []
        if not as_json:
            console.warn(about.advice.lines)
        if code == OK and not as_json:
            console.say(f"{file}: ok")
            for size in about.expected:
                console.say(f"  {size}")
            if about.memory > SHOWN:
                console.say(f"  memory: about {size_limits.size(about.memory)}")
        elif code != OK and not as_json:
            console.complain(message)
    if as_json:
        console.write_json({"findings": found, "warnings": warnings, "estimates": estimates})
    raise SystemExit(max(codes))


def _check(file: Path) -> tuple[list[Diagnostic], Checked, int, str]:
    """Return the errors of ``file``, its estimate if there are none, the exit code, and the message about errors."""
    nothing = Checked([], Advice())
    try:
        return [], checked(_experiment(file)), OK, ""
    except SpecError as error:
        return error.diagnostics, nothing, NO, str(error)
    except EcnlabError as error:
        return [_unread(file, str(error))], nothing, BAD_INPUT, str(error)
    except OSError as error:
        message = f"{error.filename or file}: {error.strerror or error}"
        return [_unread(file, message)], nothing, IO_FAILED, message


def _experiment(file: Path) -> Path:
    """Return ``file``, or the experiment of a question of `ecnlab infer` or of a search of a space, which is checked."""
    if special(file):  # a pipe is read once
        return file
    keys = keys_of(read_text(file))
    if is_question(keys):
        question = read_question(file)
        return question.path.parent / question.file.experiment
    if {"experiment", "choice"} <= keys:
        from ecnlab.searching import FileSpace  # its libraries take a second to load

        return FileSpace(file).experiment
    return file


def _estimate(file: Path, about: Checked) -> dict[str, Any]:
    """Return the estimate of a run: bytes of memory, rows and bytes of the tables that grow; null if unbounded."""
    tables = [{"table": size.table, "rows": size.rows, "bytes": size.bytes} for size in about.expected]
    return {"path": str(file), "memory_bytes": about.memory, "tables": tables}


def _unread(file: Path, message: str) -> Diagnostic:
    return {"path": str(file), "line": 1, "column": 1, "key": "", "message": message, "help": ""}
