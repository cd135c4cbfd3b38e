"""What several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ecnlab.engines import CLOCKS, ENGINES, PACKETS
from ecnlab.types import Engine

F = TypeVar("F", bound=Callable[..., Any])


def examples(text: str) -> Callable[[F], F]:
    """Show ``text`` under the help of a command, as it stands."""

    def add(function: F) -> F:
        lines = text.strip("\n")
        function.__doc__ = f"{function.__doc__}\n\n    \b\n    Examples:\n{lines}\n    "
        return function

    return add


def engine_option(help_: str, default: Engine = PACKETS) -> Callable[[F], F]:
    """The option that names an engine."""
    return click.option("--engine", type=click.Choice(ENGINES), default=default, show_default=True, help=help_)


clock_option = click.option(
    "--clock",
    type=click.Choice(CLOCKS),
    default="virtual",
    show_default=True,
    help="With --engine linux: the built kernel in virtual time, or the machine's own in real time.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Write JSON, for a program to read.")
File = click.Path(path_type=Path)
