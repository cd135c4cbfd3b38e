"""``ecnlab score``: a card of a queue or a sender in the scenarios of an RFC."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, get_args

import click

from ecnlab.base.types import Engine
from ecnlab.cli import console
from ecnlab.cli.cluster import cluster_at, cluster_option
from ecnlab.cli.options import File, Workers, as_json, engine_option, examples, no_cache, no_python
from ecnlab.cli.resume import resumable
from ecnlab.engines.protocol import PACKETS, suffix
from ecnlab.runs.cluster import Cluster

Kind = Literal["aqm", "cc", "l4s"]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

PAGE: Final = "card.html"
"""Name of the page in the folder of a card."""


@click.group()
def score() -> None:
    """Score a law in the scenarios of an RFC: a card with measures and verdicts."""


def card_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that cards share."""
    for option in (
        as_json,
        no_python,
        no_cache,
        cluster_option,
        click.option(
            "--jobs", "--workers", "jobs", type=Workers, help="Number of runs at a time. [default: one per core]"
        ),
        click.option("--scenario", "only", multiple=True, help="Only this scenario. Can be repeated."),
        click.option("--criteria", type=File, help="File with other limits of criteria."),
        click.option(
            "--seed",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            help="Seed of drawn paths and of all runs.",
        ),
        click.option("--full", is_flag=True, help="More seeds and longer runs."),
        click.option(
            "--out",
            type=File,
            help="Folder of the card. [default: results/score-NAME, score-l4s-NAME or score-NAME-linux; of `all`: score-all-KIND]",
        ),
    ):
        command = option(command)
    return command


on_kernel = engine_option("Simulate every packet, or run on the Linux kernel in virtual time.")
"""The option of cards that the kernel can make: not those for L4S, where Prague, which it lacks, is in each scenario."""


@score.command()
@click.argument("queue")
@click.option("--against", help="The queue discipline to compare with. [default: that of RFC 7928, drop-tail]")
@on_kernel
@card_options
@examples("""
      ecnlab score aqm codel
      ecnlab score aqm mine.toml:gentle --full
      ecnlab score aqm laws/step.py:Step --scenario newreno --scenario cubic
      ecnlab score aqm codel --engine linux --scenario newreno
      ecnlab score aqm codel --full --cluster tcp://10.0.0.1:8786
""")
def aqm(queue: str, against: str | None, engine: Engine, **options: Any) -> None:
    """Run QUEUE in the scenarios of RFC 7928 next to drop-tail, and write a card.

    QUEUE is a queue discipline, FILE.toml or FILE.toml:NAME (a table [queue.NAME] of a scenario), or FILE.py:CLASS. Finished
    runs are not repeated: after an interruption, the same command continues.
    """
    _score("aqm", queue, against=against, engine=engine, **options)


@score.command()
@click.argument("sender")
@on_kernel
@card_options
@examples("""
      ecnlab score cc bbr
      ecnlab score cc mine.toml:gentle --full
      ecnlab score cc laws/reno.py:Reno --scenario harm --scenario loss
      ecnlab score cc quic:quinn/cubic
      ecnlab score cc bbr --engine linux --scenario shallow
""")
def cc(sender: str, engine: Engine, **options: Any) -> None:
    """Run SENDER in the scenarios of RFC 9743 next to Reno and CUBIC, and write a card.

    SENDER is a window law, quic:STACK/CONTROLLER, FILE.toml or FILE.toml:NAME (a table [tcp.NAME] or [quic.NAME] of a
    scenario), or FILE.py:CLASS. Finished runs are not repeated: after an interruption, the same command continues.
    """
    _score("cc", sender, engine=engine, **options)


@score.command()
@click.argument("sender")
@card_options
@examples("""
      ecnlab score l4s prague
      ecnlab score l4s mine.toml:gentle --full
      ecnlab score l4s laws/scalable.py:Scalable --scenario codepoint --scenario rtt
""")
def l4s(sender: str, **options: Any) -> None:
    """Run SENDER in scenarios of RFC 9331's requirements for L4S, next to CUBIC, Prague and DCTCP, and write a card.

    SENDER is a window law, quic:STACK/CONTROLLER, FILE.toml or FILE.toml:NAME (a table [tcp.NAME] or [quic.NAME] of a
    scenario), or FILE.py:CLASS. Finished runs are not repeated: after an interruption, the same command continues.
    """
    _score("l4s", sender, **options)


@score.command()
@click.argument("first", type=File)
@click.argument("second", type=File)
@click.option("--out", type=File, default="compare.html", show_default=True, help="File of the page.")
@examples("""
      ecnlab score compare results/score-codel results/score-pie
      ecnlab score compare monday/card.json tuesday/card.json --out days.html
""")
def compare(first: Path, second: Path, out: Path) -> None:
    """Compare two cards of the same command, FIRST and SECOND: folders, or files card.json.

    Three lines have the verdicts that differ, the criteria whose intervals do not overlap, and what is not comparable.
    """
    from ecnlab import scoring  # its libraries take a second to load

    found = scoring.compare(first, second)
    scoring.write_comparison(found, out)
    for line in found.lines:
        console.say(line)
    console.complain(f"page: {out}")


@score.command(name="all")
@click.argument("kind", type=click.Choice(KINDS))
@card_options
@examples("""
      ecnlab score all aqm
      ecnlab score all l4s --scenario codepoint --out results/codepoints
""")
def all_laws(
    kind: Kind, out: Path | None, as_json: bool, address: str | None, jobs: int | None, **options: Any
) -> None:
    """Write cards of all built-in laws, as `ecnlab score KIND` does, and a page with links to them.

    Finished runs are not repeated: after an interruption, the same command continues.
    """
    from ecnlab import scoring  # its libraries take a second to load

    folder = out or Path("results") / f"score-all-{kind}"
    scoring.refuse_other_index(folder)
    cards = {}
    with resumable(folder), cluster_at(address, jobs) as cluster:
        for name in scoring.names(kind):
            cards[name] = _card(kind, name, out=folder / name, jobs=jobs, cluster=cluster, **options)
            if not as_json:
                console.say(cards[name]["summary"][0])
    page = scoring.write_index(cards, folder)
    if as_json:
        console.write_json(cards)
    else:
        console.complain(f"page: {page}")


def _score(
    kind: Kind,
    argument: str,
    *,
    as_json: bool,
    out: Path | None,
    address: str | None,
    jobs: int | None,
    engine: Engine = PACKETS,
    **options: Any,
) -> None:
    """Print and write the card of one law."""
    name = "" if out else _name(kind, argument)
    name = f"score-l4s-{name}" if kind == "l4s" else f"score-{name}"
    folder = out or Path("results") / f"{name}{suffix(engine)}"
    with resumable(folder), cluster_at(address, jobs, engine) as cluster:
        card = _card(kind, argument, out=folder, engine=engine, jobs=jobs, cluster=cluster, **options)
    if as_json:
        console.write_json(card)
        return
    for line in card["summary"]:
        console.say(line)
    for one in card["scenarios"]:
        if one["why_not"]:
            console.complain(f"not applicable: {one['name']}: {one['why_not']}")
    console.complain(f"card: {folder / PAGE}")


def _name(kind: Kind, argument: str) -> str:
    from ecnlab import scoring

    return scoring.subject(argument, kind).name


def _card(
    kind: Kind,
    argument: str,
    *,
    out: Path,
    full: bool,
    seed: int,
    criteria: Path | None,
    only: tuple[str, ...],
    jobs: int | None,
    cluster: Cluster | None,
    against: str | None = None,
    engine: Engine = PACKETS,
) -> dict[str, Any]:
    """The card of one law, written into the folder ``out``."""
    from ecnlab import scoring

    sheet = scoring.built_in(kind)
    subjects = scoring.subjects(sheet, scoring.subject(argument, kind), against)
    with console.progresses() as begin:
        card = scoring.score(
            subjects,
            out,
            sheet,
            size="full" if full else "quick",
            seed=seed,
            only=only,
            criteria=criteria,
            workers=jobs,
            engine=engine,
            progress=begin,
            cluster=cluster,
        )
    scoring.store(card, out)
    return card
