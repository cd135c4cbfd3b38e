"""The command line, one file per command.

Described in ``docs/cli.md``. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
import tempfile
import threading
import traceback
import warnings
from typing import NoReturn

import click

from ecnlab import _core
from ecnlab.base import early_interrupt, interrupts
from ecnlab.base.errors import EcnlabError, LawError, RunError, SpecError, Terminated, TraceFailure
from ecnlab.base.lazy_imports import pl
from ecnlab.base.threads import are_left
from ecnlab.cli import console, groups, unread
from ecnlab.cli.codes import BAD_INPUT, DEFECT, INTERNAL, INTERRUPTED, IO_FAILED, LAW_FAILED, OK, TERMINATED
from ecnlab.cli.lazy_commands import LazyCommands


@click.group(
    cls=groups.Commands,
    commands=LazyCommands(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(_core.__version__, prog_name="ecnlab")
def cli() -> None:
    """A laboratory for congestion notification.

    \b
    Exit codes:
      0    done
      1    the check failed: two results differ, or a file is not valid
      2    bad input: wrong usage, an impossible scenario, or a folder with another run
      3    a file cannot be read or written
      4    a run gave no result: its counters do not balance, which is a defect of ecnlab; or a kernel failed
      5    a run in real time was stored, but is not valid evidence: packets were later than its limits
      6    an unexpected defect of ecnlab: please report it, with the file that the message names
      7    a user-defined law (of the scenario) failed in a run: its error is shown
      130  interrupted
      141  the reader of the output has closed it
      143  terminated
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; every failure is a message and a code, never a traceback."""
    requested = sys.argv[1:] if arguments is None else arguments
    interrupts.listen()
    _prepare_streams()
    try:
        with unread.noticed():
            code = _finish(_called(arguments, in_json="--json" in requested))
    except unread.Unread:
        atexit._run_exitfuncs()  # the processes and folders of this one
        unread.end()
        os._exit(IO_FAILED)
    _leave(code)


def _called(arguments: list[str] | None, *, in_json: bool) -> int:
    """Do the command, report an error, and return its exit code. Raises Unread."""
    try:
        code = cli.main(arguments, prog_name="ecnlab", standalone_mode=False) or OK
        if lost := interrupts.settle():
            raise lost
    except unread.Unread:
        raise
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else OK
    except BaseException as error:
        interrupts.settle()
        code, message = _explain(error)
        console.complain(_usage(error) if isinstance(error, click.ClickException) else message)
        if in_json:
            code = _answer_in_json(error, code, message)
    return code


def _prepare_streams() -> None:
    """Write characters that the encoding lacks as escapes, and continue without standard error if it is closed. Warnings are lines."""
    warnings.formatwarning = lambda message, *_args, **_more: f"warning: {message}\n"
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        console.complain("standard output is closed: there is nowhere to write results")
        sys.exit(IO_FAILED)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _explain(error: BaseException) -> tuple[int, str]:
    """Return the exit code for ``error``, and its message."""
    match error:
        case click.Abort() | KeyboardInterrupt():
            return INTERRUPTED, "interrupted"
        case Terminated():
            return TERMINATED, "terminated"
        case click.ClickException():
            return BAD_INPUT, error.format_message()
        case EcnlabError() | SpecError() | TraceFailure():
            return BAD_INPUT, str(error)
        # Without Polars loaded the error cannot be one of Polars.
        case _ if "polars" in sys.modules and isinstance(error, pl.exceptions.PolarsError):
            return BAD_INPUT, f"a stored table is damaged: {_first_line(error)}"
        case LawError():
            return LAW_FAILED, f"{error}\n{getattr(error, 'traceback', '')}".rstrip()
        case RunError():
            return DEFECT, str(error)
        case OSError():
            if error.filename is None:
                _give_up_output()
            return IO_FAILED, f"{error.filename or 'output'}: {error.strerror or error}"
        case MemoryError():
            return IO_FAILED, "there is not enough memory for this"
        case _:
            return INTERNAL, _report(error)


def _usage(error: click.ClickException) -> str:
    """Return click's message about wrong usage, which may quote arguments and thus names of files."""
    text = io.StringIO()
    if isinstance(error, click.UsageError) and error.ctx:
        error.ctx.color = True  # otherwise it would silently omit text that must be escaped
    error.show(text)
    return text.getvalue().rstrip("\n")


def _report(error: BaseException) -> str:
    """Write a report of an unexpected failure; return its location and a remedy."""
    name = type(error).__name__
    text = "".join(traceback.format_exception(error))
    about = f"ecnlab {_core.__version__}, Python {sys.version}\n{sys.argv!r}\n\n{text}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="ecnlab-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(about)
    except OSError:
        return f"a defect of ecnlab ({name}: {_first_line(error)}); please report it"
    return f"a defect of ecnlab ({name}); please report it with the details in {file.name}"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:200]


def _answer_in_json(error: BaseException, code: int, message: str) -> int:
    """Report the error as JSON; the exit code is that of a write failure, if writing fails."""
    found = list(getattr(error, "diagnostics", []))
    try:
        console.write_json({"error": {"code": code, "message": message, "findings": found}})
    except BrokenPipeError:
        raise
    except OSError:
        _give_up_output()
    return code


def _leave(code: int) -> NoReturn:
    """End the process. Threads that a law has begun, or that an interrupt has left behind, are not waited for."""
    if early_interrupt.is_command() and (threading.active_count() > 1 or are_left()):
        atexit._run_exitfuncs()  # the processes and folders of this one
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _finish(code: int) -> int:
    """Flush the output; a failure is one of the command."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        _give_up_output()
        if code == OK:
            console.complain(f"output: {getattr(error, 'strerror', None) or error}")
            return IO_FAILED
    return code


def _give_up_output() -> None:
    """Discard the rest of standard output: at exit Python would try to write it again, and exit with 120."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
