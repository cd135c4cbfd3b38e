"""``ecnlab sweep``: all runs of an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ecnlab._core import Experiment
from ecnlab.base.errors import EcnlabError
from ecnlab.base.looks import LEAST, MOST
from ecnlab.base.types import Engine
from ecnlab.cli import console
from ecnlab.cli.cluster import cluster_at, cluster_option
from ecnlab.cli.glance import show_run, show_sweep, sweep_summary
from ecnlab.cli.options import File, Replicates, Workers, as_json, engine_option, examples, no_cache, no_python
from ecnlab.cli.resume import resumable
from ecnlab.engines.protocol import suffix
from ecnlab.folder.columns import SUMMARY, TABLES
from ecnlab.folder.names import CAPTURES
from ecnlab.runs.run import run as run_scenario
from ecnlab.runs.sweep import sweep as sweep_experiment
from ecnlab.runs.until import sweep_until
from ecnlab.scenario.advice import of_experiment
from ecnlab.scenario.files import read_experiment, with_captures
from ecnlab.scenario.questions import FORMS


@click.command()
@click.argument("experiment", type=File)
@click.option("--out", type=File, help="Folder for the sweep. [default: results/NAME]")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@cluster_option
@click.option(
    "--replicates",
    type=Replicates,
    help=f"Number of replicates; with --until the largest. [default: as in the experiment, {MOST}]",
)
@click.option(
    "--until",
    multiple=True,
    metavar="QUESTION",
    help=f"Add replicates until this is decided: {FORMS}. Can be repeated.",
)
@click.option("--least", type=Replicates, help=f"With --until: smallest number of replicates. [default: {LEAST}]")
@click.option(
    "--keep",
    multiple=True,
    type=click.Choice([name for name in TABLES if name not in SUMMARY]),
    help="Also store this table of every run. Can be repeated.",
)
@click.option("--capture", "places", multiple=True, help="Capture the packets of this link or node. Can be repeated.")
@click.option("--only", metavar="ID", help="Do only the run with this id, and store it as a run.")
@engine_option("Simulate every packet, or run on the Linux kernel in virtual time.")
@no_cache
@no_python
@as_json
@examples("""
      ecnlab sweep gain.toml
      ecnlab sweep gain.toml --replicates 50        adds the replicates missing to 50
      ecnlab sweep gain.toml --until "goodput: ecn > plain" --until "timeouts < 5"
      ecnlab sweep gain.toml --keep transactions --out results/latency
      ecnlab sweep gain.toml --replicates 1 --capture bottleneck
      ecnlab sweep gain.toml --cluster tcp://10.0.0.1:8786
""")
def sweep(
    experiment: Path,
    out: Path | None,
    workers: int | None,
    address: str | None,
    replicates: int | None,
    until: tuple[str, ...],
    least: int | None,
    keep: tuple[str, ...],
    places: tuple[str, ...],
    only: str | None,
    engine: Engine,
    as_json: bool,
) -> None:
    """Do all runs of EXPERIMENT, in parallel, and store the results.

    Runs that the folder already has are not done again: after an interruption, the same command continues.
    """
    question = read_experiment(experiment)
    if least is not None and not until:
        raise click.UsageError("`--least` is the smallest number of replicates of `--until`: add `--until`")
    if only is not None:
        if until:
            raise click.UsageError("`--only` does one run, which decides nothing: leave `--until` out")
        if address is not None:
            raise click.UsageError("`--only` does one run on this machine: leave `--cluster` out")
        if replicates is not None:
            question = question.with_replicates(replicates)
        _do_only(question, only, out or Path("results") / f"{experiment.stem}-{only}{suffix(engine)}", places, engine)
        return
    advice = of_experiment(question)
    console.warn(advice.lines)
    folder = out or Path("results") / f"{experiment.stem}{suffix(engine)}"
    with (
        resumable(folder),
        cluster_at(address, workers, engine) as cluster,
        console.progress(experiment.stem) as report,
    ):
        options: dict[str, Any] = {
            "workers": workers,
            "keep": keep,
            "capture": places,
            "engine": engine,
            "progress": report,
            "cluster": cluster,
        }
        if until:
            result = sweep_until(question, folder, until, least=least or LEAST, most=replicates or MOST, **options)
        elif question.stop and replicates is None:
            result = sweep_until(question, folder, **options)
        else:
            result = sweep_experiment(question, folder, replicates=replicates, **options)
    if as_json:
        console.write_json({**sweep_summary(result), "warnings": advice.diagnostics})
    else:
        show_sweep(result, rows=40)
        if cached := result.manifest["wall"]["cached"]:
            console.say(f"runs from the cache: {cached}")
        console.say(f"stored in {folder}")
        if result.captures:
            console.say(f"captures of {len(result.captures)} runs in {folder / CAPTURES}, by their id")
        console.offer_report(folder)


def _do_only(question: Experiment, only: str, folder: Path, places: tuple[str, ...], engine: Engine) -> None:
    """Do the run of ``question`` whose id is ``only``, and store it in ``folder``."""
    index = next((index for index in range(len(question)) if question.id(index) == only), None)
    if index is None:
        raise EcnlabError(
            f"{question.path} has no run {only!r}: ids are in the table `runs` and in the messages of failed runs"
        )
    one = question.run(index)
    result = run_scenario(with_captures(one.scenario, places), one.seed, engine=engine, out=folder)
    show_run(result, rows=20)
    console.say(f"stored in {folder}")
    console.offer_report(folder)
