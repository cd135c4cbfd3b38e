"""``ecnlab check``: can these files be run?"""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab import console
from ecnlab.cli.codes import BAD_INPUT, IO_FAILED, NO, OK
from ecnlab.cli.options import File, as_json, examples
from ecnlab.errors import EcnlabError, SpecError
from ecnlab.scenario import check as check_file
from ecnlab.types import Diagnostic
from ecnlab.volume import Expected


@click.command()
@click.argument("files", nargs=-1, required=True, type=File)
@as_json
@examples("""
      ecnlab check dumbbell.toml
      ecnlab check dumbbell.toml gain.toml --json
""")
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """Check that scenario and experiment FILES can be run, and estimate the size of their tables.

    All files are checked; the exit code is that of the worst.
    """
    found: list[Diagnostic] = []
    codes = [OK]
    for file in files:
        wrong, sizes, code, said = _check(file)
        found += wrong
        codes.append(code)
        if code == OK and not as_json:
            console.say(f"{file}: ok")
            for size in sizes:
                console.say(f"  {size}")
        elif code != OK and not as_json:
            console.complain(said)
    if as_json:
        console.write_json(found)
    raise SystemExit(max(codes))


def _check(file: Path) -> tuple[list[Diagnostic], list[Expected], int, str]:
    """What is wrong with ``file``, what to expect of its tables, the exit code, and what to say of what is wrong."""
    try:
        return [], check_file(file), OK, ""
    except SpecError as error:
        return error.diagnostics, [], NO, str(error)
    except EcnlabError as error:
        return [_unread(file, str(error))], [], BAD_INPUT, str(error)
    except OSError as error:
        said = f"{error.filename or file}: {error.strerror or error}"
        return [_unread(file, said)], [], IO_FAILED, said


def _unread(file: Path, message: str) -> Diagnostic:
    return {"path": str(file), "line": 1, "column": 1, "key": "", "message": message, "help": ""}
