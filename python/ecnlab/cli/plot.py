"""``ecnlab plot``: a figure of a run or sweep, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ecnlab import console
from ecnlab.cli.options import File, examples
from ecnlab.errors import EcnlabError
from ecnlab.plots.figure import Figure
from ecnlab.results import load
from ecnlab.run import Run

OPTIONS: Final = {
    "queue": {"link"},
    "sojourn": {"link"},
    "cwnd": {"flow"},
    "goodput": set(),
    "effect": {"metric", "by"},
}
"""Kinds of figures, and the options that each has."""


@click.command()
@click.argument("folder", type=File)
@click.argument("kind", type=click.Choice(list(OPTIONS)))
@click.option("-o", "--out", type=File, required=True, help="File: .svg, .pdf or .png; .csv for the data.")
@click.option("--link", help="For `queue` and `sojourn`: the link. [default: the one with the longest mean queue]")
@click.option("--flow", multiple=True, help="For `cwnd`: this flow. Can be repeated. [default: the first three]")
@click.option("--metric", help="For `effect`: the metric. [default: the first]")
@click.option("--by", help="For `effect`: the axis. [default: the first]")
@examples("""
      ecnlab plot results/dumbbell queue -o queue.svg
      ecnlab plot results/dumbbell cwnd --flow 'bulk[0]' --flow 'bulk[1]' -o cwnd.pdf
      ecnlab plot results/gain effect --metric goodput --by max_p -o gain.pdf
      ecnlab plot results/dumbbell queue -o queue.csv
""")
def plot(
    folder: Path, kind: str, out: Path, link: str | None, flow: tuple[str, ...], metric: str | None, by: str | None
) -> None:
    """Draw the figure KIND of the run or sweep in FOLDER.

    \b
    queue, cwnd, goodput   of a run whose scenario sets `sample`: over time
    sojourn                of a run with --events: distribution of the times in a queue
    effect                 of a sweep: a metric along an axis, with intervals
    """
    given = {name for name, value in {"link": link, "flow": flow, "metric": metric, "by": by}.items() if value}
    if unused := sorted(given - OPTIONS[kind]):
        raise EcnlabError(f"{folder}: the figure `{kind}` has no --{unused[0]}: leave it out")
    console.say(f"figure: {_figure(folder, kind, link, flow, metric, by).save(out)}")


def _figure(
    folder: Path, kind: str, link: str | None, flow: tuple[str, ...], metric: str | None, by: str | None
) -> Figure:
    result = load(folder)
    if isinstance(result, Run) == (kind == "effect"):
        is_, of = ("run", "sweep") if isinstance(result, Run) else ("sweep", "run")
        remedy = ", ".join(name for name in OPTIONS if (name == "effect") == (is_ == "sweep"))
        raise EcnlabError(f"{folder}: no figure `{kind}`: it is of a {of}, and this is a {is_}; a {is_} has {remedy}")
    if not isinstance(result, Run):
        return result.plot.effect(metric or next(iter(result.manifest["metrics"]), ""), by)
    match kind:
        case "queue":
            return result.plot.queue(link)
        case "sojourn":
            return result.plot.sojourn(link)
        case "cwnd":
            return result.plot.cwnd(flow)
        case _:
            return result.plot.goodput()
