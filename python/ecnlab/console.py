"""What the command line writes: results and tables on standard output, progress on standard error."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from ecnlab.later import pl
from ecnlab.sweep import Progress as Report
from ecnlab.text import json_safe, one_line, visible
from ecnlab.types import Instead

if TYPE_CHECKING:
    from rich.progress import Progress

WIDE: Final = 400
"""Columns of an output that is not a terminal: nothing is cut short there."""

QUIET_SECONDS: Final = 15.0
"""How often a sweep whose output is not a terminal says where it is."""


def say(text: str) -> None:
    """Write a line of the result."""
    print(visible(text), flush=True)  # noqa: T201


def complain(text: str) -> None:
    """Write a line about the work: a warning, an error, a hint."""
    print(visible(text), file=sys.stderr, flush=True)  # noqa: T201


def warn(lines: Iterable[str]) -> None:
    """Write warnings about a scenario or an experiment."""
    for line in lines:
        complain(f"warning: {line}")


def write_json(value: object) -> None:
    """Write ``value`` for a program to read. JSON has no infinity and no NaN: both become null."""
    document = json.dumps(_finite(value), indent=1, ensure_ascii=False, allow_nan=False, default=str)
    sys.stdout.write(json_safe(document) + "\n")


def write_json_parts(members: Iterable[tuple[str, object]]) -> None:
    """As `write_json` of an object with these ``members``; an iterator among their values gives parts of one list.

    No more than one part is held at a time.
    """
    before = "{"
    for name, value in members:
        sys.stdout.write(f"{before}\n {json.dumps(name)}: ")
        before = ","
        if not isinstance(value, Iterator):
            sys.stdout.write(_indented(value))
            continue
        opened = False
        for part in value:
            if part:
                sys.stdout.write(("," if opened else "[") + _indented(part)[1:-3])
                opened = True
        sys.stdout.write("\n ]" if opened else "[]")
    sys.stdout.write("\n}\n")


def _indented(value: object) -> str:
    text = json.dumps(_finite(value), indent=1, ensure_ascii=False, allow_nan=False, default=str)
    return json_safe(text.replace("\n", "\n "))


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def write_frame(frame: pl.DataFrame, title: str, limit: int, height: int | None = None) -> None:
    """Write the first ``limit`` rows of ``frame`` as a table; its columns become rows when there are few rows.

    ``height`` is how many rows there are, where ``frame`` has only the first of them.
    """
    from rich.console import Console  # Rich is loaded for tables and bars only
    from rich.table import Table
    from rich.text import Text

    height = frame.height if height is None else height
    upright = height <= 4 and frame.width > 8
    table = Table(
        title=Text(one_line(title), style="bold"),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    shown = frame.head(limit)
    if upright:
        table.add_column("column")
        for row in range(shown.height):
            table.add_column(str(row), justify="right")
        for name in shown.columns:
            table.add_row(Text(one_line(name)), *(Text(_cell(value)) for value in shown[name]))
    else:
        for name, dtype in shown.schema.items():
            table.add_column(Text(one_line(name)), justify="right" if dtype.is_numeric() else "left", overflow="fold")
        for values in shown.iter_rows():
            table.add_row(*(Text(_cell(value)) for value in values))
    width = None if sys.stdout.isatty() else WIDE
    Console(highlight=False, soft_wrap=True, width=width).print(table)
    if height > limit:
        say(f"... {height - limit} more rows (--rows {height} shows all)")
    say("")


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else one_line(str(value))


@contextmanager
def progress(what: str) -> Iterator[Report]:
    """A bar on standard error if that is a terminal, else a line now and then."""
    with progresses() as begin:
        yield begin(what)


@contextmanager
def progresses() -> Iterator[Callable[[str], Report]]:
    """As `progress`, for work of several parts: gives what begins the bar, or the lines, of a part."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(
            *columns,
            TimeRemainingColumn(),
            console=Console(stderr=True, highlight=False, soft_wrap=True),
            transient=True,
        ) as bars:
            yield lambda what: _bar(bars, what)
    else:
        yield _Lines


def _bar(bars: Progress, what: str) -> Report:
    from rich import markup

    task = bars.add_task(markup.escape(one_line(what)), total=None)
    return lambda done, total: bars.update(task, completed=done, total=total)


def now_and_then() -> Callable[[str], None]:
    """Says what it is told on standard error; of lines that differ only in their numbers, one now and then."""
    last: dict[str, float] = {}

    def say_it(text: str) -> None:
        kind, time_ = re.sub(r"\d+", "0", text), time.monotonic()
        if time_ - last.get(kind, float("-inf")) >= QUIET_SECONDS:
            last[kind] = time_
            complain(text)

    return say_it


class _Lines:
    """Progress as lines: the first, the last, and some between."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._last = float("-inf")

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - self._last >= QUIET_SECONDS:
            self._last = now
            complain(f"{self._what}: {done} of {total} runs")


def substituted(entry: Instead) -> str:
    """A value of a scenario that an engine replaces by its own, in a line."""
    asked, done = (json.dumps(entry[which], ensure_ascii=False, default=str) for which in ("asked", "kernel"))
    return f"substituted: {entry['key']} = {asked}; Linux has {'none' if entry['kernel'] is None else done}"


def late(evidence: Mapping[str, Any]) -> str:
    """What a manifest's ``evidence`` says of how real time was kept."""
    error, limit = (
        ", ".join(f"{name.removesuffix('_s')} {1e3 * value:.3g} ms" for name, value in evidence[what].items())
        for what in ("error", "limit")
    )
    return f"packets were late by {error}; allowed are {limit}"
