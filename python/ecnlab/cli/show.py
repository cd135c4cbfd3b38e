"""``ecnlab show``: contents of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ecnlab.api.loading import load
from ecnlab.api.run import Run
from ecnlab.api.sweep import Sweep
from ecnlab.base.errors import FolderError
from ecnlab.base.lazy_imports import pl
from ecnlab.cli import console
from ecnlab.cli.glance import (
    ALL,
    brief_frames,
    show_run,
    show_sweep,
    show_unfinished,
    sweep_summary,
    unfinished_summary,
)
from ecnlab.cli.options import File, Rows, as_json, examples
from ecnlab.cli.paper_tables import as_csv, as_latex, of_frame, of_sweep
from ecnlab.cli.sketch import show_sketch
from ecnlab.folder.names import REMEDY
from ecnlab.results.loading import refuse_file
from ecnlab.results.unfinished import load_unfinished


@click.command()
@click.argument("folder", type=File)
@click.option("--table", "tables", multiple=True, help="Show this table. Can be repeated.")
@click.option("--rows", type=Rows, default=20, show_default=True, help="Number of rows to show of each table.")
@click.option("--all", "whole", is_flag=True, help="Show all rows.")
@click.option("--csv", "written", flag_value="csv", help="Print a table for a paper as CSV, with units in the header.")
@click.option("--latex", "written", flag_value="latex", help="Print a table for a paper as LaTeX (booktabs).")
@as_json
@examples("""
      ecnlab show results/dumbbell
      ecnlab show results/dumbbell --table transactions --rows 100
      ecnlab show results/gain --json
      ecnlab show results/gain --latex > gain.tex
      ecnlab show results/dumbbell --table flows --csv > flows.csv
""")
def show(folder: Path, tables: tuple[str, ...], rows: int, whole: bool, written: str | None, as_json: bool) -> None:
    """Show the run or sweep stored in FOLDER."""
    if written and as_json:
        raise click.UsageError(f"`--{written}` and `--json` are two forms of the output: leave one out")
    rows = ALL if whole else rows
    refuse_file(folder)
    unfinished = None if tables or written else load_unfinished(folder)
    if unfinished:
        if as_json:
            console.write_json(unfinished_summary(unfinished))
        else:
            show_unfinished(unfinished, rows)
        return
    result = load(folder)
    if written:
        _write_for_paper(result, tables, written)
    elif as_json:
        wanted = {name: _frame(result, name).to_dicts() for name in tables}
        summary = {"manifest": result.manifest} if isinstance(result, Run) else sweep_summary(result)
        console.write_json({**summary, **wanted})
    elif tables:
        for name in tables:
            console.write_frame(_frame(result, name), name, rows)
    elif isinstance(result, Run):
        show_run(result, rows)
        show_sketch(result)
    else:
        show_sweep(result, rows)


def _write_for_paper(result: Run | Sweep, tables: tuple[str, ...], form: str) -> None:
    """Print the chosen tables, or the metrics of a sweep, or the tables of a run's summary; several have their names."""
    shape = as_csv if form == "csv" else as_latex
    if tables:
        parts = [(name, of_frame(_frame(result, name))) for name in tables]
    elif isinstance(result, Run):
        parts = [(name, of_frame(frame)) for name, frame in brief_frames(result)]
    else:
        parts = [("metrics", of_sweep(result))]
    mark = "#" if form == "csv" else "%"
    for place, (name, (head, rows)) in enumerate(parts):
        if len(parts) > 1:
            console.say(f"{'' if place == 0 else chr(10)}{mark} {name}")
        console.say(shape(head, rows))


def _frame(result: Run | Sweep, name: str) -> Any:
    if isinstance(result, Run):
        return result.table(name)
    if name in ("runs", "metrics"):
        return getattr(result, name)
    try:
        return result.table(name).collect()
    except pl.exceptions.PolarsError as error:
        raise FolderError(f"table {name} of {result.folder} is damaged: {REMEDY}") from error
