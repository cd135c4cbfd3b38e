"""``ecnlab check``: can these files be run?"""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab import console
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, as_json, examples
from ecnlab.errors import SpecError
from ecnlab.scenario import check as check_file


@click.command()
@click.argument("files", nargs=-1, required=True, type=File)
@as_json
@examples("""
      ecnlab check dumbbell.toml
      ecnlab check dumbbell.toml gain.toml --json
""")
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """Say whether each of FILES, scenarios or experiments, can be run."""
    found = []
    for file in files:
        try:
            check_file(file)
        except SpecError as error:
            found += error.diagnostics
            if not as_json:
                console.complain(str(error))
        else:
            if not as_json:
                console.say(f"{file}: ok")
    if as_json:
        console.write_json(found)
    if found:
        raise SystemExit(NO)
