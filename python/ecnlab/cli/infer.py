"""``ecnlab infer``: which unstated settings could have given printed numbers."""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab.base.lazy_imports import pl
from ecnlab.cli import console
from ecnlab.cli.cluster import cluster_at, cluster_option
from ecnlab.cli.options import File, Workers, examples, no_cache
from ecnlab.inference.api import SETTINGS, WAVES
from ecnlab.inference.api import infer as do_infer


@click.command()
@click.argument("question", type=File)
@click.option("--out", type=File, help="Folder of the answer. [default: results/NAME]")
@click.option(
    "--settings", type=click.IntRange(1), default=SETTINGS, show_default=True, help="Number of settings to run."
)
@click.option("--waves", type=click.IntRange(1), default=WAVES, show_default=True, help="Number of waves of settings.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the settings.")
@click.option("--hold-out", multiple=True, metavar="TARGET", help="Hold a target out of the fit; repeatable.")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@cluster_option
@no_cache
@examples("""
      ecnlab examples unstated && cd unstated
      ecnlab infer infer.toml
      ecnlab infer infer.toml --settings 2000 --waves 6
      ecnlab infer infer.toml --hold-out gain
      ecnlab infer infer.toml --cluster tcp://10.0.0.1:8786
""")
def infer(
    question: Path,
    out: Path | None,
    settings: int,
    waves: int,
    seed: int,
    hold_out: tuple[str, ...],
    workers: int | None,
    address: str | None,
) -> None:
    """Infer the unstated settings behind printed numbers from QUESTION, a TOML file.

    The answer is a region for each unknown setting, that no setting gives the numbers, or that they do not identify it.
    """
    from ecnlab.inference.result import rows_of_numbers, rows_of_unknowns  # loads NumPy

    folder = out or Path("results") / question.stem
    with cluster_at(address, workers) as cluster, console.progress(question.stem) as report:
        found = do_infer(
            question,
            folder,
            settings=settings,
            waves=waves,
            seed=seed,
            hold_out=hold_out,
            threads=workers,
            progress=report,
            cluster=cluster,
        )
    for title, columns, rows in (
        ("Settings", ("unknown", "before", "region", "identified"), rows_of_unknowns(found.answer)),
        ("Numbers", ("number", "printed", "predicted", "use", "agrees"), rows_of_numbers(found.answer)),
    ):
        console.write_frame(pl.DataFrame(rows, schema=list(columns), orient="row"), title, len(rows))
    console.say_filled(found.answer.sentence)
    console.say(f"{folder / 'infer.html'}")
