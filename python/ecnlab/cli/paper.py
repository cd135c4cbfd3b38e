"""``ecnlab paper``: papers of your own."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ecnlab.cli import console
from ecnlab.cli.options import File, examples


@click.group()
def paper() -> None:
    """Write the folder of a paper of your own, for reproduce."""


@paper.command()
@click.argument("name")
@click.option("--out", type=File, default=Path("papers"), help="Folder that gets the folder NAME. [default: papers]")
@examples("""
      ecnlab paper new buffers
      ecnlab reproduce papers/buffers
""")
def new(name: str, out: Path) -> None:
    """Write a paper with an example: a scenario, an experiment, three printed numbers, a report.

    The folder must not exist. `ecnlab docs new-paper` explains its files.
    """
    from ecnlab.papers.new import new_paper  # the report's libraries take a second to load

    folder = new_paper(name, out)
    for path in sorted(folder.iterdir()):
        console.say(str(path))
    console.complain(f"next: {shlex.join(['ecnlab', 'reproduce', str(folder)])}")
