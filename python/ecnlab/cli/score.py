"""``ecnlab score``: a card of a queue in the scenarios of an RFC."""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab.cli import console
from ecnlab.cli.options import File, Workers, as_json, examples, no_python
from ecnlab.cli.resume import resumable


@click.group()
def score() -> None:
    """Score a law in the scenarios of an RFC: a card with measures and verdicts."""


@score.command()
@click.argument("queue")
@click.option("--out", type=File, help="Folder of the card. [default: results/score-NAME]")
@click.option("--full", is_flag=True, help="More seeds and longer runs.")
@click.option("--against", help="The queue discipline to compare with. [default: that of RFC 7928, drop-tail]")
@click.option("--criteria", type=File, help="File with other limits of criteria.")
@click.option("--scenario", "only", multiple=True, help="Only this scenario. Can be repeated.")
@click.option("--jobs", "--workers", "jobs", type=Workers, help="Number of runs at a time. [default: one per core]")
@no_python
@as_json
@examples("""
      ecnlab score aqm codel
      ecnlab score aqm mine.toml:gentle --full
      ecnlab score aqm laws/step.py:Step --scenario newreno --scenario cubic
""")
def aqm(
    queue: str,
    out: Path | None,
    full: bool,
    against: str | None,
    criteria: Path | None,
    only: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
) -> None:
    """Run QUEUE in the scenarios of RFC 7928 beside drop-tail, and write a card.

    QUEUE is a queue discipline, FILE.toml or FILE.toml:NAME (a table [queue.NAME] of a scenario), or FILE.py:CLASS. Finished
    runs are not repeated: after an interruption, the same command continues.
    """
    from ecnlab import scoring  # its libraries take a second to load

    sheet = scoring.built_in()
    subject = scoring.subject(queue)
    reference = scoring.discipline(against or sheet.against)
    folder = out or Path("results") / f"score-{subject.name}"
    with resumable(folder), console.progresses() as begin:
        card = scoring.score(
            subject,
            reference,
            folder,
            sheet,
            size="full" if full else "quick",
            only=only,
            criteria=criteria,
            workers=jobs,
            progress=begin,
        )
    scoring.write(card, folder)
    page = scoring.write_page(card, folder)
    if as_json:
        console.write_json(card)
        return
    for line in card["summary"]:
        console.say(line)
    console.complain(f"card: {page}")
