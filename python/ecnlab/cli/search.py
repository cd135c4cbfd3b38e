"""``ecnlab search``: where a law fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click

from ecnlab.base.types import Engine
from ecnlab.cli import console
from ecnlab.cli.cluster import cluster_at, cluster_option
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, Workers, engine_option, examples
from ecnlab.cli.resume import resumable

if TYPE_CHECKING:
    from ecnlab.searching.searching import Search
    from ecnlab.searching.space import Space

EVALUATIONS: Final = 2048
"""That of `ecnlab.searching`, which loads more libraries."""


@click.group()
def search() -> None:
    """Search for paths on which a law is worse than others: maps of harm, and the smallest scenarios."""


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that searches share."""
    for option in (
        cluster_option,
        click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]"),
        click.option("--seed", type=click.IntRange(min=1), default=1, show_default=True, help="Seed of the search."),
        click.option(
            "--evaluations",
            type=click.IntRange(min=1),
            default=EVALUATIONS,
            show_default=True,
            help="Points to run the law on.",
        ),
        click.option("--out", type=File, help="Folder of the search. [default: results/search-NAME]"),
    ):
        command = option(command)
    return command


@search.command()
@click.argument("queue")
@search_options
@examples("""
      ecnlab search aqm codel
      ecnlab search aqm mine.toml:gentle --evaluations 10000
      ecnlab search aqm laws/step.py:Step --evaluations 256
""")
def aqm(queue: str, **options: Any) -> None:
    """Search for paths on which QUEUE is worse than CoDel, PIE and FQ-CoDel.

    QUEUE is a queue discipline, FILE.toml or FILE.toml:NAME (a table [queue.NAME] of a scenario), or FILE.py:CLASS. After an
    interruption the same command continues; with more evaluations, so does a finished search.
    """
    _of_law("aqm", queue, **options)


@search.command()
@click.argument("sender")
@search_options
@examples("""
      ecnlab search cc bbr
      ecnlab search cc mine.toml:gentle --evaluations 10000
""")
def cc(sender: str, **options: Any) -> None:
    """Search for paths on which SENDER is worse than Reno and CUBIC in its place.

    SENDER is a window law, FILE.toml or FILE.toml:NAME (a table [tcp.NAME] of a scenario), or FILE.py:CLASS. After an
    interruption the same command continues; with more evaluations, so does a finished search.
    """
    _of_law("cc", sender, **options)


@search.command()
@click.argument("file", type=File)
@search_options
@examples("""
      ecnlab search space examples/search/red.toml --evaluations 128
""")
def space(file: Path, **options: Any) -> None:
    """Search the space of FILE: an experiment, choices of keys and values, and metrics, for points where an arm is worse than the others.

    After an interruption the same command continues; with more evaluations, so does a finished search.
    """
    from ecnlab import searching

    made = searching.FileSpace(file)
    _search(made, made.name, **options)


@search.command(name="all")
@click.argument("kind", type=click.Choice(("aqm", "cc")))
@search_options
@examples("""
      ecnlab search all aqm --evaluations 1024
""")
def all_laws(kind: Literal["aqm", "cc"], out: Path | None, **options: Any) -> None:
    """Search for all built-in laws, as `ecnlab search KIND` does, and write a page with the finds and maps of all.

    Finished searches are not repeated: after an interruption, the same command continues.
    """
    from ecnlab import searching
    from ecnlab.scoring import names

    folder = out or Path("results") / f"search-all-{kind}"
    found = {name: _found(searching.of_law(kind, name), folder / name, **options) for name in names(kind)}
    console.complain(f"page: {searching.write_index(found, folder)}")


@search.command()
@click.argument("find", type=File)
@engine_option("Simulate every packet, or run on the Linux kernel in virtual time.")
@click.option("--seeds", type=click.IntRange(min=3), default=20, show_default=True, help="Number of seeds.")
@click.option("--workers", type=Workers, help="Number of runs at a time. [default: one per core]")
@examples("""
      ecnlab search replay results/search-codel/find/delay
      ecnlab search replay results/search-codel/find/delay --engine linux --seeds 5
""")
def replay(find: Path, engine: Engine, seeds: int, workers: int | None) -> None:
    """Run the find in the folder FIND again; exit with 1 if fewer than 19 of 20 seeds show its harm."""
    from ecnlab.searching import finds

    again = finds.replay(find, engine, seeds, workers)
    console.say_filled(again["sentence"])
    if not again["holds"]:
        raise SystemExit(NO)


def _of_law(kind: Literal["aqm", "cc"], argument: str, **options: Any) -> None:
    from ecnlab import searching  # its libraries take a second to load

    space = searching.of_law(kind, argument)
    _search(space, space.name, **options)


def _search(space: Space, name: str, *, out: Path | None, **options: Any) -> None:
    _found(space, out or Path("results") / f"search-{name}", **options)


def _found(
    space: Space, folder: Path, *, evaluations: int, seed: int, workers: int | None, address: str | None
) -> Search:
    """The search of ``space``, done or continued in ``folder``, with its page; its finds are printed."""
    from ecnlab import searching

    with resumable(folder), cluster_at(address, workers) as cluster, console.progresses() as begin:
        found = searching.search(
            space, folder, evaluations=evaluations, seed=seed, workers=workers, cluster=cluster, progress=begin
        )
    for one in found.finds.values():
        console.say_filled(one["sentence"])
    if not found.finds:
        console.say(f"no path on which {space.labels[space.subject]} is worse was confirmed by new seeds")
    console.complain(f"page: {searching.write_page(found, folder)}")
    return found
