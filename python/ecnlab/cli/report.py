"""``ecnlab report``: any stored result, or a capture, as one HTML page."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from ecnlab.api.loading import load
from ecnlab.base.errors import FolderError
from ecnlab.cli import console
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, examples, names_option
from ecnlab.folder.names import FILES
from ecnlab.folder.outputs import PAGE as ENDINGS
from ecnlab.folder.outputs import refuse_output, write_named
from ecnlab.folder.verified import replace_file, stored_kind
from ecnlab.results.unfinished import load_unfinished

PAGE: Final = "report.html"
"""Name of the page in the folder of the result."""

EVERY_S: Final = 5.0
"""Seconds between two pages of --watch."""

RELOAD: Final = b'<meta http-equiv="refresh" content="5">'
"""Makes a browser load the page of an unfinished sweep again."""


@click.command()
@click.argument("result", type=File)
@click.option("-o", "--out", type=File, help=f"File of the page. [default: RESULT/{PAGE}; of a capture: RESULT.html]")
@click.option("--against", type=File, help="A second folder: the page compares both, as `ecnlab compare` does.")
@names_option
@click.option("--stages", type=File, help="A Python file with further stages; it is executed.")
@click.option("--layout", type=File, help="A TOML file with the sections and their stages.")
@click.option("--watch", is_flag=True, help="Write the page again every five seconds until the sweep is complete.")
@examples("""
      ecnlab report results/dumbbell
      ecnlab report results/gain --watch
      ecnlab report results/monday --against results/tuesday --names marks,drops -o both.html
      ecnlab report x.pcapng
      ecnlab report results/dumbbell --stages mine.py
""")
def report(
    result: Path,
    out: Path | None,
    against: Path | None,
    names: tuple[str, str] | None,
    stages: Path | None,
    layout: Path | None,
    watch: bool,
) -> None:
    """Write RESULT as one HTML page, which needs no other file and no network.

    RESULT is the folder of a run, of a sweep (of its finished runs if it is not complete), of `ecnlab agree`, `ecnlab
    reproduce` or `ecnlab score`; or a capture file. With --against the exit code is that of `ecnlab compare`.
    """
    if names is not None and against is None:
        raise click.UsageError("--names needs --against: name the second folder")
    equal = True
    given = {"--against": against, "--stages": stages, "--layout": layout, "--watch": watch or None}
    if result.is_file():
        _refuse("a capture", given)
        file = _capture(result, out)
    elif (result / FILES).is_file():
        _refuse("a result of `agree`, `reproduce` or `score`", given)
        file = _drawn_again(result, out)
    elif against is not None:
        _refuse("--against", {name: value for name, value in given.items() if name != "--against"})
        file, equal = _comparison(result, against, names, out)
    else:
        file = _watched(result, out, stages, layout) if watch else _page(result, out, stages, layout)
    console.say(f"report: {file}")
    if not equal:
        raise SystemExit(NO)


def _refuse(what: str, options: Mapping[str, object]) -> None:
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(f"{what} does not take {name}: leave it out")


def _page(folder: Path, out: Path | None, stages: Path | None, layout: Path | None) -> Path:
    from ecnlab.stages import write  # the report's libraries take a second to load

    return write(load_unfinished(folder) or load(folder), out or folder / PAGE, stages=stages, layout=layout)


def _watched(folder: Path, out: Path | None, stages: Path | None, layout: Path | None) -> Path:
    """Write the page again until the sweep is complete. Ends with Ctrl-C, too."""
    while True:
        complete = load_unfinished(folder) is None
        file = _page(folder, out, stages, layout)
        if complete:
            return file
        html = file.read_bytes()
        write_named(file, html.replace(b"<title>", RELOAD + b"\n<title>", 1), ENDINGS)
        time.sleep(EVERY_S)


def _capture(file: Path, out: Path | None) -> Path:
    from ecnlab.trace import trace
    from ecnlab.trace.page import capture_page

    target = out or file.with_name(f"{file.name}.html")
    refuse_output(target, ENDINGS)
    write_named(target, capture_page(trace(file)).encode(), ENDINGS)
    return target


def _comparison(first: Path, second: Path, names: tuple[str, str] | None, out: Path | None) -> tuple[Path, bool]:
    """Write the page of a comparison, and print its answer; return its file and whether the results are equal."""
    from ecnlab.report import render
    from ecnlab.stages.comparison_page import comparison_page

    target = out or Path(f"{first.name}-{second.name}.html")
    refuse_output(target, ENDINGS)
    page, found = comparison_page(first, second, names)
    write_named(target, render(page).encode(), ENDINGS)
    console.say_filled(found.answer)
    return target, found.equal


def _stored_page(folder: Path) -> tuple[str, str]:
    """The name and the text of the page of an agreement, a reproduction or a card."""
    from ecnlab.agreement import means
    from ecnlab.papers import reproduction
    from ecnlab.scoring import storing

    kind = stored_kind(folder)
    of = {module.STORED: module for module in (means, reproduction, storing)}
    if kind not in of:
        raise FolderError(f"{folder} has no single result ({kind}): name one of the folders in it")
    return of[kind].PAGE, of[kind].stored_page(folder)


def _drawn_again(folder: Path, out: Path | None) -> Path:
    if out is not None:
        refuse_output(out, ENDINGS)
    name, html = _stored_page(folder)
    if out is None:
        replace_file(folder, name, html.encode())
        return folder / name
    write_named(out, html.encode(), ENDINGS)
    return out
