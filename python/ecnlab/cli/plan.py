"""``ecnlab plan``: how many runs an experiment needs for intervals of a given width."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from ecnlab.base.lazy_imports import pl
from ecnlab.base.readable import cell
from ecnlab.cli import console
from ecnlab.cli.options import File, Workers, as_json, examples, no_cache, no_python
from ecnlab.cli.resume import resumable
from ecnlab.runs.planning import MAX_REPLICATES, PILOT, Plan
from ecnlab.runs.planning import plan as plan_experiment

ROWS: Final = 10
"""Default number of rows of the table."""


@click.command()
@click.argument("experiment", type=File)
@click.option(
    "--half-width",
    required=True,
    help='Half-width of the 95 % intervals: "2%" of each mean, or in the unit of the metrics.',
)
@click.option("--metric", "metrics", multiple=True, help="Only this metric counts. Can be repeated. [default: all]")
@click.option(
    "--pilot", type=click.IntRange(2, MAX_REPLICATES), default=PILOT, show_default=True, help="Replicates of the pilot."
)
@click.option("--out", type=File, help="Folder of the pilot and of the sweep. [default: results/NAME]")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@click.option("--rows", type=click.IntRange(1), default=ROWS, show_default=True, help="Rows of the table.")
@no_cache
@no_python
@as_json
@examples("""
      ecnlab plan gain.toml --half-width 2%
      ecnlab plan gain.toml --half-width 0.01 --metric fairness --pilot 20
""")
def plan(
    experiment: Path,
    half_width: str,
    metrics: tuple[str, ...],
    pilot: int,
    out: Path | None,
    workers: int | None,
    rows: int,
    as_json: bool,
) -> None:
    """Run a few replicates of EXPERIMENT, and compute how many give intervals of a half-width.

    The sweep into the same folder continues with the runs of the pilot.
    """
    folder = out or Path("results") / experiment.stem
    with resumable(folder), console.progress(experiment.stem) as report:
        found = plan_experiment(
            experiment, half_width, folder, pilot=pilot, metrics=metrics, workers=workers, progress=report
        )
    if as_json:
        console.write_json(_members(found))
        return
    console.write_frame(_table(found), "replicates that each metric needs, by the pilot's standard deviation", rows)
    for line in _lines(found, experiment, half_width):
        console.say(line)


def _members(found: Plan) -> dict[str, object]:
    return asdict(found) | {"folder": str(found.folder), "replicates": found.replicates, "runs": found.runs}


def _table(found: Plan) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "metric": [need.metric for need in found.needs],
            "point": [need.point for need in found.needs],
            "mean": [need.mean for need in found.needs],
            "sd": [need.sd for need in found.needs],
            "replicates": [need.replicates for need in found.needs],
        },
        schema_overrides={"metric": pl.String, "point": pl.String, "replicates": pl.UInt32},
    )


def _lines(found: Plan, experiment: Path, half_width: str) -> list[str]:
    lines = []
    if found.undecided:
        lines.append(f"{found.undecided} metrics at points have fewer than two values in the pilot: not counted")
    if not found.needs:
        return [*lines, "no metric has a standard deviation: nothing can be planned"]
    impossible = sum(need.replicates is None for need in found.needs)
    if found.runs is None:
        return [
            *lines,
            f"{impossible} of {len(found.needs)} cannot have a half-width of {half_width} with {MAX_REPLICATES:,} replicates (missing "
            "in the table): the mean is 0 or small; name metrics with --metric, or give the half-width in their unit",
        ]
    lines.append(
        f"{found.replicates:,} replicates of {found.points:,} points: {found.runs:,} runs, {cell('bytes', found.bytes_per_run * found.runs)}"
    )
    if found.core_seconds is not None:
        lines.append(f"about {_time(found.core_seconds * found.runs)} of one core, by the time of the pilot's runs")
    lines.append(
        f"the standard deviations are of {found.pilot} replicates and uncertain themselves: a larger --pilot makes the number firmer"
    )
    if (found.replicates or 0) > found.pilot:
        lines.append(f"ecnlab sweep {experiment} --replicates {found.replicates} --out {found.folder}")
    return lines


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:,.3g} h"
