"""``ecnlab agree``: the simulator and another engine side by side."""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab import console, store
from ecnlab.cli.options import File, Workers, as_json, engine_option, examples
from ecnlab.cli.resume import resumable
from ecnlab.engines import LINUX
from ecnlab.types import Engine


@click.command()
@click.argument("file", type=File)
@click.option(
    "--margin",
    type=click.FloatRange(0.0, 1.0, True, True),
    default=0.1,
    show_default=True,
    help="Largest accepted distance of the ratio from 1.",
)
@click.option(
    "--replicates",
    type=click.IntRange(2, 10**6),
    help="Number of replicates. [default: 8, or what the experiment says]",
)
@click.option("--out", type=File, help="Folder for the runs and the page. [default: results/NAME-agreement]")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@engine_option("Engine to compare with the simulator.", LINUX)
@as_json
@examples("""
      ecnlab agree dumbbell.toml
      ecnlab agree papers/rfc2884/agree.toml --replicates 16 --margin 0.05
""")
def agree(
    file: Path,
    margin: float,
    replicates: int | None,
    out: Path | None,
    workers: int | None,
    engine: Engine,
    as_json: bool,
) -> None:
    """Run the scenario or experiment FILE in the simulator and in another engine, and compare the results.

    Runs that the folder already has are not done again: after an interruption, the same command continues.
    """
    from ecnlab.agree import agree as compare_engines

    folder = out or Path("results") / f"{file.stem}-agreement"
    with resumable(folder), console.progress(file.stem) as report:
        page = compare_engines(
            file, folder, engine=engine, margin=margin, replicates=replicates, workers=workers, progress=report
        )
    rows = store.read_table(store.read_files(folder).path("agreement.parquet"))
    if as_json:
        console.write_json({"page": str(page), "comparisons": rows.to_dicts()})
    else:
        console.write_frame(rows.drop("margin"), f"agreement within {margin:g}", rows.height)
        console.say(f"page: {page}")
