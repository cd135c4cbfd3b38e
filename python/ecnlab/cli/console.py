"""Output of the command line: results and tables on standard output, progress on standard error."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.readable import cell
from ecnlab.base.safe_text import json_safe, one_line, visible
from ecnlab.base.types import Instead
from ecnlab.cli.text_tables import MIN_WIDTH, Column, laid_out

if TYPE_CHECKING:
    from rich.progress import Progress

    from ecnlab.runs.sweep_doing import Progress as Report

WIDE: Final = 400
"""Columns of an output that is not a terminal: nothing is cut short there."""

QUIET_SECONDS: Final = 15.0
"""Interval of progress lines of a sweep whose output is not a terminal."""


def say(text: str) -> None:
    """Write a line of the result."""
    print(visible(text), flush=True)  # noqa: T201


def say_filled(text: str) -> None:
    """Like `say`, wrapped to the width of the output."""
    say(textwrap.fill(text, width(), subsequent_indent="  ", break_on_hyphens=False))


def complain(text: str) -> None:
    """Write a line about the work: a warning, an error, a hint. If standard error cannot be written, the work continues."""
    try:
        print(visible(text), file=sys.stderr, flush=True)  # noqa: T201
    except BrokenPipeError:
        raise
    except OSError:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115


def warn(lines: Iterable[str]) -> None:
    """Write warnings about a scenario or an experiment."""
    for line in lines:
        complain(f"warning: {line}")


def write_json(value: object) -> None:
    """Write ``value`` for a program to read. JSON has no infinity and no NaN: both become null."""
    document = json.dumps(_finite(value), indent=1, ensure_ascii=False, allow_nan=False, default=str)
    sys.stdout.write(json_safe(document) + "\n")


def write_json_parts(members: Iterable[tuple[str, object]]) -> None:
    """Like `write_json` for an object with these ``members``; an iterator in a value yields the parts of one list as JSON text.

    A part has elements of the list with commas between them. Only one part is held in memory at a time.
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
                sys.stdout.write(("," if opened else "[") + json_safe(part))
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


def write_frame(frame: pl.DataFrame, title: str, limit: int, height: int | None = None, more: str = "") -> None:
    """Write the first ``limit`` rows of ``frame`` as a table with the columns that fit; columns become rows if rows are few.

    ``height`` is how many rows there are, where ``frame`` has only the first of them; ``more`` is how to see all.
    """
    height = frame.height if height is None else height
    shown = frame.head(limit)
    names = [one_line(name) for name in shown.columns]
    cells = [[one_line(cell(name, value)) for value in shown[name]] for name in shown.columns]
    right = [dtype.is_numeric() for dtype in shown.dtypes]
    if height <= 4 and frame.width > 8:
        rows = [str(row) for row in range(shown.height)]
        columns = [Column("column", names, right=False)]
        for i, row in enumerate(rows):
            values = [part[i] for part in cells]
            whole = max((len(value) for value, numeric in zip(values, right, strict=True) if numeric), default=0)
            columns.append(Column(row, values, right=True, whole=whole))
    else:
        columns = [Column(*one) for one in zip(names, cells, right, strict=True)]
    lines, left_out = laid_out(columns, width())
    _write_table(title, lines)
    if left_out:
        say_filled(f"not shown for lack of width: {', '.join(left_out)}")
    if height > limit:
        say_filled(f"... {height - limit} more rows ({more or f'--rows {height} shows all'})")
    say("")


def width() -> int:
    """Return the columns of the output: those of the terminal, or COLUMNS in the environment for another output."""
    terminal = sys.stdout.isatty() or "COLUMNS" in os.environ
    return max(shutil.get_terminal_size().columns, MIN_WIDTH) if terminal else WIDE


def encodes(text: str) -> bool:
    """Return whether the encoding of standard output has the characters of ``text``."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def say_table(title: str, lines: Iterable[str]) -> None:
    """Write ``lines`` below a ``title`` as above a table."""
    bold, end = ("", "") if _plain() else ("\x1b[1m", "\x1b[0m")
    print(f"{bold}{one_line(title)}{end}")  # noqa: T201
    for line in lines:
        say_filled(line)
    say("")


SEVERITIES: Final = {"ok": "\x1b[32m", "warning": "\x1b[33m", "problem": "\x1b[1;31m", "none": "\x1b[2m"}
"""Escape sequences of the colours of the severities of verdicts."""


def say_verdict(head: str, text: str, severity: str) -> None:
    """Write ``head`` and ``text`` as a line of the result; on a terminal ``head`` in the colour of ``severity``."""
    filled = visible(textwrap.fill(f"{head} {text}", width(), subsequent_indent="  ", break_on_hyphens=False))
    start, end = ("", "") if _plain() else (SEVERITIES[severity], "\x1b[0m")
    whole = len(head) if filled.startswith(head) else 0
    print(f"{start}{filled[:whole]}{end}{filled[whole:]}", flush=True)  # noqa: T201


def _plain() -> bool:
    """Return whether output has no colours or bold type."""
    return not sys.stdout.isatty() or "NO_COLOR" in os.environ


def _write_table(title: str, lines: list[str]) -> None:
    bold, dim, end = ("", "", "") if _plain() else ("\x1b[1m", "\x1b[2m", "\x1b[0m")
    head, *rows = lines
    print(f"{bold}{one_line(title)}{end}")  # noqa: T201
    print(f"{dim}{head}{end}", *rows, sep="\n", flush=True)  # noqa: T201


@contextmanager
def progress(what: str) -> Iterator[Report]:
    """Show a progress bar on standard error if that is a terminal, else a line every `QUIET_SECONDS`."""
    with progresses() as begin:
        yield begin(what)


@contextmanager
def progresses() -> Iterator[Callable[[str], Report]]:
    """Like `progress`, for work of several parts: returns a function that starts the bar, or the lines, of a part."""
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
    """Write messages to standard error; of lines that differ only in their numbers, only one per interval."""
    last: dict[str, float] = {}

    def say_it(text: str) -> None:
        kind, time_ = re.sub(r"\d+", "0", text), time.monotonic()
        if time_ - last.get(kind, float("-inf")) >= QUIET_SECONDS:
            last[kind] = time_
            complain(text)

    return say_it


class _Lines:
    """Progress as lines: the first, the last, and one per `QUIET_SECONDS` between them."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._last = float("-inf")

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done == total or now - self._last >= QUIET_SECONDS:
            self._last = now
            complain(f"{self._what}: {done} of {total} runs")


def offer_report(folder: Path) -> None:
    """Print the command that writes the page of the result in ``folder``."""
    say(f"report: {shlex.join(['ecnlab', 'report', str(folder)])}")


def substituted(entry: Instead) -> str:
    """Return a line about a value of a scenario that an engine replaces by its own."""
    requested, done = (json.dumps(entry[which], ensure_ascii=False, default=str) for which in ("asked", "kernel"))
    return f"substituted: {entry['key']} = {requested}; Linux has {'none' if entry['kernel'] is None else done}"


def late(evidence: Mapping[str, Any]) -> str:
    """Return the text about the timing ``evidence`` in a manifest."""
    error, limit = (
        ", ".join(f"{name.removesuffix('_s')} {1e3 * value:.3g} ms" for name, value in evidence[what].items())
        for what in ("error", "limit")
    )
    return f"packets were late by {error}; allowed are {limit}"
