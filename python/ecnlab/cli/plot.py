"""``ecnlab plot``: a figure of a run or sweep, as a file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from ecnlab.api.loading import load
from ecnlab.api.run import Run
from ecnlab.api.sweep import Sweep
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import console
from ecnlab.cli.options import File, examples
from ecnlab.plots import values
from ecnlab.plots.figure import Figure, FigureWarning

Given = Mapping[str, Any]
"""Options of the command by name, without those left out."""

OVER: Final = "goodput-over-delay"

OF_RUN: Final[dict[str, tuple[set[str], Callable[[Run, Given], Figure]]]] = {
    "queue": ({"link"}, lambda run, given: run.plot.queue(**given)),
    "sojourn": ({"link", "by", "tail"}, lambda run, given: run.plot.sojourn(**given)),
    "completion": ({"tail"}, lambda run, given: run.plot.completion(**given)),
    "cwnd": (
        {"flow", "panels"},
        lambda run, given: run.plot.cwnd(given.get("flow", ()), panels=given.get("panels", False)),
    ),
    "goodput": (set(), lambda run, _: run.plot.goodput()),
    OVER: ({"sigma"}, lambda run, given: run.plot.goodput_over_delay(**given)),
}
"""Kinds of figures of runs: their options, and the drawing function."""

OF_SWEEP: Final[dict[str, tuple[set[str], Callable[[Sweep, Given], Figure]]]] = {
    "effect": (
        {"metric", "by", "against", "panels", "panel", "ratio"},
        lambda sweep, given: sweep.plot.effect(
            **{"metric": next(iter(sweep.manifest["metrics"]), ""), **given},
        ),
    ),
    "sojourn": ({"link", "tail", "panel"}, lambda sweep, given: sweep.plot.sojourn(**given)),
    "completion": ({"tail", "panel"}, lambda sweep, given: sweep.plot.completion(**given)),
    OVER: ({"goodput", "delay", "sigma", "panel"}, lambda sweep, given: sweep.plot.goodput_over_delay(**given)),
}
"""Kinds of figures of sweeps."""

KINDS: Final = tuple(dict.fromkeys((*OF_RUN, *OF_SWEEP)))


OVER_TIME: Final = ("queue", "cwnd", "goodput")
"""Kinds with --from and --to."""


class Written(click.ParamType[Any]):
    """A value that a function of `ecnlab.plots.values` reads."""

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        self.name, self._read = name, read

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value; fail with the remedy if the text is not valid."""
        try:
            return self._read(value) if isinstance(value, str) else value
        except ValueError as error:
            return self.fail(str(error), param, ctx)


@click.command()
@click.argument("folder", type=File)
@click.argument("kind", type=click.Choice(KINDS))
@click.option("-o", "--out", type=File, required=True, help="File: .svg, .pdf or .png; .csv for the data.")
@click.option("--link", help="For `queue` and `sojourn`: the link. [default: the one with the longest mean queue]")
@click.option("--flow", multiple=True, help="For `cwnd`: this flow. Can be repeated. [default: the first three]")
@click.option("--panels", is_flag=True, help="For `cwnd` and `effect`: draw small multiples.")
@click.option("--panel", help="Of a sweep: draw a panel for each label of this axis, or for each `arm`.")
@click.option(
    "--metric", multiple=True, help="For `effect`: the metric. Repeated: a row of panels for each. [default: the first]"
)
@click.option("--against", help="For `effect`: draw the paired differences of the other arms to this one.")
@click.option("--ratio", is_flag=True, help="With --against: draw the paired ratios instead of the differences.")
@click.option(
    "--by", help="For `effect`: the axis, or `arm`. For `sojourn` of a run: `group` or `class`, a line for each."
)
@click.option(
    "--tail", is_flag=True, help="For `sojourn` and `completion`: draw the complementary CDF on a logarithmic axis."
)
@click.option(
    "--where",
    type=Written("axis=value", values.chosen),
    multiple=True,
    help="Of a sweep: only runs with this label of an axis, or of this arm. Can be repeated.",
)
@click.option("--goodput", help=f"For `{OVER}` of a sweep: the metric. [default: the first in bit/s]")
@click.option("--delay", help=f"For `{OVER}` of a sweep: the metric. [default: the first in seconds]")
@click.option(
    "--sigma", type=click.FloatRange(0.1, 5), help=f"For `{OVER}`: standard deviations of the ellipses. [default: 1]"
)
@click.option(
    "--size",
    type=Written("size", values.size),
    help="Width and height with mm, cm or in, such as 88x60mm. [default: 5x2.8in]",
)
@click.option(
    "--from",
    "start",
    type=Written("time", values.seconds),
    help="For figures over time: where they start. [default: 0 s; `cwnd`: the warm-up]",
)
@click.option("--to", "end", type=Written("time", values.seconds), help="For figures over time: where they end.")
@click.option("--title", help='The title; "" for none. [default: the contents of the figure]')
@click.option(
    "--labels",
    type=Written("old=new", values.renaming),
    multiple=True,
    help="Rename a series, a panel or the label of an axis. Can be repeated.",
)
@examples("""
      ecnlab plot results/dumbbell queue -o queue.svg
      ecnlab plot results/dumbbell queue --size 88x60mm --from '10 s' --to '20 s' --title '' -o q.pdf
      ecnlab plot results/dumbbell cwnd --flow 'bulk[0]' --flow 'bulk[1]' -o cwnd.pdf
      ecnlab plot results/dumbbell sojourn --by group --tail -o tail.pdf
      ecnlab plot results/gain effect --metric goodput --by max_p -o gain.pdf
      ecnlab plot results/gain effect --metric goodput --where arm=plain -o plain.pdf
      ecnlab plot results/pies goodput-over-delay -o pies.pdf
      ecnlab plot results/dumbbell queue -o queue.csv
""")
def plot(
    folder: Path, kind: str, out: Path, size: Any, title: str | None, labels: Sequence[str], **options: Any
) -> None:
    """Draw the figure KIND of the run or sweep in FOLDER.

    \b
    queue, cwnd, goodput   of a run whose scenario sets `sample`: over time
    sojourn                distribution of the times in a queue: of a run with --events, or of
                           a run or sweep whose queue has `quantiles = true`
    completion             of a run, or a sweep with `--keep transactions`: distribution of the
                           completion times of transactions
    goodput-over-delay     of a run: its flows; of a sweep: its runs; with ellipses (RFC 7928)
    effect                 of a sweep: a metric along an axis, with intervals
    """
    given = {name: value for name, value in options.items() if value is not None and value is not False and value != ()}
    interval = {name: given.pop(name) for name in ("start", "end") if name in given}
    if interval and kind not in OVER_TIME:
        option = "--from" if "start" in interval else "--to"
        raise EcnlabError(f"{folder}: the figure `{kind}` has no {option}: leave it out")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FigureWarning)
        figure = _figure(folder, kind, given)
        renamed = dict(values.label(text, figure.texts()) for text in labels)
        figure = figure.with_(size=size, title=title, labels=renamed, **interval)
        file = figure.save(out)
    for one in caught:
        console.complain(f"{file}: {one.message}")
    console.say(f"figure: {file}")


def _figure(folder: Path, kind: str, given: Given) -> Figure:
    result = load(folder)
    if isinstance(result, Run):
        return _drawn(folder, result, kind, given, "run", OF_RUN, "sweep")
    where = given.get("where", ())
    chosen = {axis: [label for of, label in where if of == axis] for axis, _ in where}
    options = {name: value for name, value in given.items() if name != "where"}
    return _drawn(folder, result.where(chosen), kind, options, "sweep", OF_SWEEP, "run")


def _drawn(
    folder: Path, result: Any, kind: str, given: Given, is_: str, kinds: Mapping[str, tuple[set[str], Any]], other: str
) -> Figure:
    if kind not in kinds:
        remedy = ", ".join(kinds)
        raise EcnlabError(
            f"{folder}: no figure `{kind}`: it is of a {other}, and this is a {is_}; a {is_} has {remedy}"
        )
    options, draw = kinds[kind]
    if unused := sorted(given.keys() - options):
        raise EcnlabError(f"{folder}: the figure `{kind}` of a {is_} has no --{unused[0]}: leave it out")
    if kind == "sojourn" and given.get("by") not in (None, "group", "class"):
        raise EcnlabError(f"{folder}: the figure `sojourn` has no lines by {given['by']!r}: write `group` or `class`")
    figure: Figure = draw(result, given)
    return figure
