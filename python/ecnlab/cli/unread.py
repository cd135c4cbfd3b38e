"""The end of a command whose output no one reads any more, such as that of ``ecnlab schema | head -1``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


class Unread(BaseException):
    """The reader of standard output or standard error has closed it."""


@contextmanager
def noticed() -> Iterator[None]:
    """Raise Unread for a BrokenPipeError of the block. Click and Rich would end the process with exit code 1."""
    try:
        yield
    except BrokenPipeError as error:
        raise Unread from error
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            raise Unread from ended
        raise


class Commands(click.Group):
    """A group of commands that end with Unread if no one reads their output."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Parse the arguments, and print the help. Raises Unread."""
        with noticed():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Do the command. Raises Unread."""
        with noticed():
            return super().invoke(ctx)


def end() -> None:
    """End the process as other programs end then: by SIGPIPE, if the system has it."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            os.dup2(nothing, stream.fileno())
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.raise_signal(signal.SIGPIPE)
