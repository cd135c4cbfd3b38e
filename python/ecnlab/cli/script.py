"""``ecnlab script``: scripts of segments, played to the TCP endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from ecnlab._core import play_scripts
from ecnlab.base import package_data
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import console
from ecnlab.cli.codes import NO
from ecnlab.cli.options import as_json, examples

SUFFIX: Final = ".script"

FOLDER: Final = "tests/data/scripts"
"""Scripts of the package, one for each rule of its TCP."""


@click.command()
@click.argument("scripts", nargs=-1)
@click.option("--list", "only_list", is_flag=True, help="List the scripts of the package instead of playing them.")
@as_json
@examples("""
      ecnlab script mine.script
      ecnlab script ecn/
      ecnlab script --list
""")
def script(scripts: tuple[str, ...], only_list: bool, as_json: bool) -> None:
    """Play scripts of segments to the TCP endpoint, and compare what it sends.

    SCRIPTS are files, folders, or names and folders of the package's own scripts; without any, all of these are played. Files
    that a script includes are in the folder `include` beside it, or in the package. The exit code is 1 if a script fails.
    """
    own = package_data.folder(FOLDER)
    if only_list:
        for path in _found(own):
            console.say(str(path.relative_to(own).with_suffix("")))
        return
    played = [row for root, files in _chosen(scripts, own) for row in play_scripts([root, own], files)]
    failed = [row for row in played if row[3]]
    if as_json:
        keys = ("script", "rule", "source", "failure")
        console.write_json([dict(zip(keys, row, strict=True)) for row in played])
    else:
        for name, rule, _, failure in failed:
            console.say(f"FAILED {name}: {rule}" if rule else f"FAILED {name}")
            console.say(failure or "")
        console.say(f"{len(played) - len(failed)} of {len(played)} scripts hold")
    if failed:
        raise SystemExit(NO)


def _chosen(given: tuple[str, ...], own: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield the folder that names are relative to, and files, for each argument."""
    if not given:
        yield own, _found(own)
    for one in given:
        here, there = Path(one), own / one
        if here.is_file():
            yield here.parent, [here]
        elif files := _found(here):
            yield here, files
        elif there.with_suffix(SUFFIX).is_file():
            yield own, [there.with_suffix(SUFFIX)]
        elif files := _found(there):
            yield own, files
        elif here.is_dir():
            raise EcnlabError(f"{one}: the folder has no file that ends in {SUFFIX}")
        else:
            raise EcnlabError(
                f"{one}: no script has this name, and no file; `ecnlab script --list` lists the scripts of ecnlab"
            )


def _found(folder: Path) -> list[Path]:
    """The scripts in ``folder`` and below, sorted."""
    return sorted(folder.rglob(f"*{SUFFIX}")) if folder.is_dir() else []
