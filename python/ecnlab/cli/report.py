"""``ecnlab report``: a run or a sweep as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ecnlab.cli import console
from ecnlab.cli.options import File, examples
from ecnlab.runs.results import load
from ecnlab.runs.sweep_result import load_unfinished

PAGE: Final = "report.html"
"""Name of the page in the folder of the result."""


@click.command()
@click.argument("folder", type=File)
@click.option("-o", "--out", type=File, help=f"File of the page. [default: FOLDER/{PAGE}]")
@click.option("--stages", type=File, help="A Python file with further stages; it is executed.")
@click.option("--layout", type=File, help="A TOML file with the sections and their stages.")
@examples("""
      ecnlab report results/dumbbell
      ecnlab report results/gain -o gain.html
      ecnlab report results/dumbbell --stages mine.py
      ecnlab report results/dumbbell --layout short.toml -o short.html
""")
def report(folder: Path, out: Path | None, stages: Path | None, layout: Path | None) -> None:
    """Write the run or sweep in FOLDER as one HTML page, which needs no other file and no network.

    A sweep that is not complete gets a page of its finished runs.
    """
    from ecnlab.stages import write  # the report's libraries take a second to load

    result = load_unfinished(folder) or load(folder)
    file = write(result, out or folder / PAGE, stages=stages, layout=layout)
    console.say(f"report: {file}")
