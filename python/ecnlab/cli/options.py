"""Options shared by several commands."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from ecnlab.base.quantities import BYTES
from ecnlab.base.types import Engine
from ecnlab.engines.protocol import CLOCKS, ENGINES, PACKETS

LAWS: Final = "ECNLAB_LAWS"
"""The environment variable that forbids user-defined laws: "on" or "off"; `SWITCH` in ``crates/py/src/userlaws/mod.rs``."""

CACHE: Final = "ECNLAB_CACHE"
"""The environment variable of the cache of runs: `VARIABLE` in ``folder/cache.py``."""

F = TypeVar("F", bound=Callable[..., Any])


def examples(text: str) -> Callable[[F], F]:
    """Show ``text`` verbatim below the help of a command."""

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
    help="With --engine linux: `virtual` is the kernel of `ecnlab linux build`, `wall` is this machine's kernel in real time.",
)


def _switches_off(variable: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return a callback that sets ``variable`` to "off", also for child processes, until the command ends."""

    def callback(context: click.Context, _parameter: click.Parameter, given: bool) -> None:
        if not given:
            return
        before = os.environ.get(variable)

        def restore() -> None:
            os.environ.pop(variable, None)
            if before is not None:
                os.environ[variable] = before

        context.call_on_close(restore)
        os.environ[variable] = "off"

    return callback


no_python = click.option(
    "--no-python",
    is_flag=True,
    expose_value=False,
    callback=_switches_off(LAWS),
    help=f"Refuse a scenario with user-defined laws instead of executing their files, as {LAWS}=off does.",
)

no_cache = click.option(
    "--no-cache",
    is_flag=True,
    expose_value=False,
    callback=_switches_off(CACHE),
    help=f"Neither use nor fill the cache of runs, as {CACHE}=off does.",
)


def _two_names(_context: click.Context, _parameter: click.Parameter, given: str | None) -> tuple[str, str] | None:
    """Return the two names in "A,B"."""
    if given is None:
        return None
    parts = [part.strip() for part in given.split(",")]
    if len(parts) != 2 or not all(parts) or parts[0] == parts[1]:
        raise click.BadParameter(f"{given!r} is not two different names: write them with a comma, such as marks,drops")
    return parts[0], parts[1]


names_option = click.option(
    "--names",
    metavar="A,B",
    callback=_two_names,
    help="Names of the two sides, such as marks,drops. [default: those of the folders]",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Write JSON, for a program to read.")
File = click.Path(path_type=Path)
Rows = click.IntRange(1, 10**9)
Workers = click.IntRange(1, 1024)
Replicates = click.IntRange(1, 10**6)


class Memory(click.ParamType[int]):
    """Bytes with their unit, such as "4 GB"."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes; fail for an invalid size."""
        match str(value).split():
            case [number, unit] if unit in BYTES:
                with contextlib.suppress(ValueError, OverflowError):
                    size = int(float(number) * BYTES[unit])
                    if 0 < size < 2**63:
                        return size
        return self.fail(
            f"{value!r} is not a size: write a number and its unit ({', '.join(BYTES)}), such as '4 GB'", param, ctx
        )
