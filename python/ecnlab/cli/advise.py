"""``ecnlab advise``: which queue for an access line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from ecnlab.base.lazy_imports import pl
from ecnlab.cli import console
from ecnlab.cli.options import File, Workers, as_json, examples, no_cache
from ecnlab.cli.resume import resumable

if TYPE_CHECKING:
    from ecnlab.advise.advice import Advice

FEW: Final = 10
"""Seeds below which an advice warns of wide intervals."""


@click.command()
@click.option("--down", required=True, help="Rate towards the home, on the wire, such as 50Mbps.")
@click.option("--up", required=True, help="Rate from the home.")
@click.option(
    "--link", default="ethernet", show_default=True, help="Kind of line: ethernet, dsl, adsl, docsis, lte or wifi."
)
@click.option("--rtt", default="30ms", show_default=True, help="Round trip to the servers without queueing.")
@click.option(
    "--mix",
    "apps",
    default="call,web,download",
    show_default=True,
    help="Applications, the most important first: call, game, web, download, upload.",
)
@click.option("--buffer", help="Buffer of the line, in time at its rate. [default: the RTT, at least 100ms]")
@click.option(
    "--ecn",
    type=click.Choice(["half", "on", "off"]),
    default="half",
    show_default=True,
    help="TCP flows that offer ECN.",
)
@click.option("--queues", help="Candidates besides drop-tail, with commas. [default: all]")
@click.option("--seeds", type=click.IntRange(2, 1000), default=FEW, show_default=True, help="Runs of each candidate.")
@click.option(
    "--cost",
    type=click.FloatRange(0, 100),
    default=100.0,
    help="Leave candidates out that cost more than this percentage of a transfer. [default: none]",
)
@click.option("--no-variations", is_flag=True, help="Do not test the answer on four changed lines.")
@click.option("--out", type=File, help="Folder for runs and page. [default: results/advise-LINE]")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@no_cache
@as_json
@examples("""
      ecnlab advise --down 50Mbps --up 10Mbps --rtt 30ms --link dsl --mix web,call,download
      ecnlab advise --down 200Mbps --up 20Mbps --link docsis --queues cake,fq_codel
""")
def advise(
    down: str,
    up: str,
    link: str,
    rtt: str,
    apps: str,
    buffer: str | None,
    ecn: Literal["half", "on", "off"],
    queues: str | None,
    seeds: int,
    cost: float,
    no_variations: bool,
    out: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Compare queues for an access line, and print the best one with its tc lines.

    Finished runs are not repeated: after an interruption, the same command continues.
    """
    from ecnlab.advise.advice import advise as run_advise
    from ecnlab.advise.candidates import candidates
    from ecnlab.advise.line import line
    from ecnlab.advise.mix import mix
    from ecnlab.advise.page import write_page
    from ecnlab.advise.question import Question
    from ecnlab.advise.result import as_json as json_of
    from ecnlab.advise.result import write_json
    from ecnlab.advise.variations import variations

    question = Question(line(link, down, up, rtt, buffer), mix(apps), candidates(queues), ecn, seeds, cost / 100)
    if seeds < FEW:
        console.warn([f"{seeds} seeds give wide intervals: the default is {FEW}"])
    folder = out or Path("results") / f"advise-{question.line.name}-{'-'.join(app.name for app in question.apps)}"
    with resumable(folder), console.progresses() as begin:
        advice = run_advise(question, folder, workers=workers, progress=begin(folder.name))
        varied = [] if no_variations else variations(advice, workers=workers, progress=begin)
    answer = json_of(advice, varied)
    write_json(answer, folder)
    page = write_page(advice, varied)
    if as_json:
        console.write_json(answer)
    else:
        _show(advice, answer, page)


def _show(advice: Advice, answer: dict[str, Any], page: Path) -> None:
    from ecnlab.advise.page import page_table

    console.say_filled(answer["answer"])
    console.say("")
    columns, rows = page_table(advice)
    table: dict[str, Any] = {name: [row[index] for row in rows] for index, name in enumerate(columns)}
    console.write_frame(pl.DataFrame(table), f"{advice.question.line.words}: means (95 % intervals)", len(rows))
    if advice.lines:
        console.say_table("Set-up", advice.lines)
    if answer["changes"]:
        console.say_table("What would change the answer", answer["changes"])
    console.say(f"page: {page}")
