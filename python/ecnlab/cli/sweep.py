"""``ecnlab sweep``: all runs of an experiment."""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab import console
from ecnlab.cli.glance import show_sweep, sweep_summary
from ecnlab.cli.options import File, as_json, engine_option, examples
from ecnlab.cli.resume import resumable
from ecnlab.columns import SUMMARY, TABLES
from ecnlab.engines import suffix
from ecnlab.run import CAPTURES
from ecnlab.scenario import read_experiment
from ecnlab.sweep import sweep as sweep_experiment
from ecnlab.types import Engine


@click.command()
@click.argument("experiment", type=File)
@click.option("--out", type=File, help="Sweep folder. [default: results/NAME]")
@click.option("--workers", type=click.IntRange(1), help="Runs at a time. [default: one a core]")
@click.option("--replicates", type=click.IntRange(1), help="Instead of what the experiment says.")
@click.option(
    "--keep",
    multiple=True,
    type=click.Choice([name for name in TABLES if name not in SUMMARY]),
    help="Store this table, too. Can be repeated.",
)
@click.option("--capture", "places", multiple=True, help="Capture the packets of this link or node. Can be repeated.")
@engine_option("Simulate every packet, or run on the Linux kernel in virtual time.")
@as_json
@examples("""
      ecnlab sweep gain.toml
      ecnlab sweep gain.toml --replicates 50        adds what is missing to 50
      ecnlab sweep gain.toml --keep transactions --out results/latency
      ecnlab sweep gain.toml --replicates 1 --capture bottleneck
""")
def sweep(
    experiment: Path,
    out: Path | None,
    workers: int | None,
    replicates: int | None,
    keep: tuple[str, ...],
    places: tuple[str, ...],
    engine: Engine,
    as_json: bool,
) -> None:
    """Do all runs of EXPERIMENT on all cores and store them.

    Runs that the folder already has are not done again: after an interruption, the same command continues.
    """
    question = read_experiment(experiment)
    folder = out or Path("results") / f"{experiment.stem}{suffix(engine)}"
    with resumable(folder), console.progress(experiment.stem) as report:
        result = sweep_experiment(
            question,
            folder,
            workers=workers,
            replicates=replicates,
            keep=keep,
            capture=places,
            engine=engine,
            progress=report,
        )
    if as_json:
        console.write_json(sweep_summary(result))
    else:
        show_sweep(result, rows=40)
        console.say(f"stored in {folder}")
        if result.captures:
            console.say(f"captures of {len(result.captures)} runs in {folder / CAPTURES}, by their id")
