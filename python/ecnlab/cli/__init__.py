"""The command line, a file for each thing to do.

Described in ``docs/cli.md``. Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

import click
import polars as pl

from ecnlab import _core, console
from ecnlab.cli import agree, catalogue, check, compare, linux, reproduce, run, show, sweep, trace
from ecnlab.cli.codes import BAD_INPUT, DEFECT, INTERRUPTED, IO_FAILED, OK
from ecnlab.errors import EcnlabError, RunError, SpecError, TraceFailure


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(_core.__version__, prog_name="ecnlab")
def cli() -> None:
    """A laboratory for congestion notification.

    \b
    Exit codes:
      0    done
      1    the answer is no: two results differ, a file is not valid
      2    the question cannot be answered as asked: usage, a scenario that is not possible, a folder of another run
      3    a file cannot be read or written
      4    a run gave no result: the simulator's books do not balance, a defect of ecnlab; or a kernel failed
      5    a run in real time was done and stored, but is no evidence: packets were too late for what was asked
      130  interrupted
    """


for _command in (
    run.run,
    check.check,
    sweep.sweep,
    reproduce.reproduce,
    agree.agree,
    show.show,
    compare.compare,
    catalogue.laws,
    catalogue.profiles,
    catalogue.schema,
    linux.linux,
    trace.trace,
):
    cli.add_command(_command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; every failure is a message and a code, never a traceback."""
    # When the reader of our output, such as `head`, has seen enough, end as other programs do.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        code = cli.main(arguments, prog_name="ecnlab", standalone_mode=False) or OK
    except click.ClickException as error:
        error.show()
        code = BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        console.complain("interrupted")
        code = INTERRUPTED
    except (EcnlabError, SpecError, TraceFailure) as error:
        console.complain(str(error))
        code = BAD_INPUT
    except pl.exceptions.PolarsError as error:
        console.complain(f"a stored table is damaged: {error}")
        code = BAD_INPUT
    except RunError as error:
        console.complain(str(error))
        code = DEFECT
    except OSError as error:
        console.complain(f"{error.filename or 'output'}: {error.strerror or error}")
        if error.filename is None:
            _give_up_output()
        code = IO_FAILED
    sys.exit(code)


def _give_up_output() -> None:
    """Let go of what standard output still holds: at exit Python would try to write it again, and exit with 120."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
