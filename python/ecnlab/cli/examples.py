"""``ecnlab examples``: the examples by question, and copies of them."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import click

from ecnlab.base import package_data
from ecnlab.cli import console
from ecnlab.cli.options import File, as_json
from ecnlab.cli.options import examples as shown_below
from ecnlab.folder.outputs import write_new
from ecnlab.runs.examples import LESSONS, files_of, sources

QUESTIONS: Final = Path(__file__).parent / "assets" / "questions.toml"
"""Questions, each with its examples."""

TITLES: Final = {
    "lab": "Lab: AIMD and RED, marks and drops",
    "lab-solutions": "Solutions of the lab, and a program that grades a class",
}
"""Titles of `LESSONS`."""


@dataclass(frozen=True, slots=True)
class Example:
    """An example or lesson, with the question that it helps to answer."""

    name: str
    question: str
    title: str
    kind: str
    """"scenario", "experiment" or "notebook"."""
    files: list[str]
    """Its files, by their names in a copy: its own, its scenario's, and those of user-defined laws and traces."""

    def command(self, folder: Path) -> str:
        """The command that runs or opens its copy in ``folder``."""
        program = {"scenario": "ecnlab run", "experiment": "ecnlab sweep", "notebook": "jupyter lab"}[self.kind]
        return f"{program} {shlex.quote(str(folder / self.files[0]))}"


def catalogue() -> list[Example]:
    """Return all examples in the order of `QUESTIONS`."""
    folder = package_data.folder("examples")
    requested = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
    return [_read(folder, name, each["text"]) for each in requested["question"] for name in each["examples"]]


def _read(folder: Path, name: str, question: str) -> Example:
    content = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    kind = "experiment" if "scenario" in content else "scenario"
    return Example(name, question, content["title"], kind, files_of(name))


def lessons() -> list[Example]:
    """Return the lab for a class and its solutions."""
    return [Example(name, "For a class", TITLES[name], "notebook", list(sources(name))) for name in LESSONS]


@click.group(invoke_without_command=True)
@as_json
@click.pass_context
@shown_below("""
      ecnlab examples
      ecnlab examples copy gain
""")
def examples(context: click.Context, as_json: bool) -> None:
    """List the examples by question, or copy one."""
    if context.invoked_subcommand is not None:
        return
    found = [*catalogue(), *lessons()]
    if as_json:
        console.write_json([asdict(example) for example in found])
        return
    question, wide = "", max(len(example.name) for example in found)
    for example in found:
        if example.question != question:
            question = example.question
            console.say(question)
        console.say(f"  {example.name:{wide}}  {example.kind:10}  {example.title}")
    console.complain("`ecnlab examples copy NAME` copies one with the files that it needs")


@examples.command()
@click.argument("name")
@click.option("--out", type=File, default=Path(), help="Folder to copy to. [default: the current folder]")
def copy(name: str, out: Path) -> None:
    """Copy the example NAME, the lab or its solutions, and the files that it needs.

    Existing files with another content are not replaced.
    """
    contents = {out / file: source.read_bytes() for file, source in sources(name).items()}
    write_new(contents, "choose another folder with --out")
    for path in contents:
        console.say(str(path))
    found = {example.name: example for example in [*catalogue(), *lessons()]}
    console.complain(f"next: {found[name].command(out)}")
