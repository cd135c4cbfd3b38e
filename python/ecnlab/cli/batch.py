"""``ecnlab batch``: the metrics of all runs of an experiment, without a folder."""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab.cli import console
from ecnlab.cli.cluster import cluster_at, cluster_option
from ecnlab.cli.options import File, Replicates, Workers, examples
from ecnlab.folder.outputs import write_named
from ecnlab.folder.tables import table_bytes
from ecnlab.runs.batch import batch as do_batch
from ecnlab.scenario.files import read_experiment


@click.command()
@click.argument("experiment", type=File)
@click.option("--out", type=File, help="Table to write, .csv or .parquet. [default: CSV on standard output]")
@click.option("--replicates", type=Replicates, help="Number of replicates. [default: as in the experiment]")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@cluster_option
@examples("""
      ecnlab batch gain.toml > gain.csv
      ecnlab batch gain.toml --replicates 100 --out gain.parquet
""")
def batch(experiment: Path, out: Path | None, replicates: int | None, workers: int | None, address: str | None) -> None:
    """Do all runs of EXPERIMENT in one process, or on a cluster, and write only their metrics.

    Nothing else is stored, so that many short runs take a fraction of the time of a sweep.
    """
    question = read_experiment(experiment)
    if replicates is not None:
        question = question.with_replicates(replicates)
    with cluster_at(address, workers) as cluster, console.progress(experiment.stem) as report:
        found = do_batch(question, threads=workers, progress=report, cluster=cluster)
    if out is None:
        click.echo(found.write_csv(), nl=False)
        return
    data = table_bytes(found) if out.suffix.lower() == ".parquet" else found.write_csv().encode()
    write_named(out, data, (".csv", ".parquet"))
