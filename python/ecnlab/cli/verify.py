"""``ecnlab verify``: checks that every stored file is as written."""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab.cli import console
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, as_json, examples
from ecnlab.folder.verified import verify as verify_folder


@click.command()
@click.argument("folder", type=File)
@as_json
@examples("""
      ecnlab verify results/dumbbell
      ecnlab verify results
""")
def verify(folder: Path, as_json: bool) -> None:
    """Check every stored file in FOLDER and below against its digest: runs, sweeps, reproductions.

    Exit code 0 if all files match, 1 if not. The message about a damaged file names the command that recreates it.
    """
    count, wrong = verify_folder(folder)
    if as_json:
        console.write_json({"files": count, "damaged": [str(error) for error in wrong]})
    else:
        for error in wrong:
            console.complain(str(error))
        console.say(f"{count} files, {len(wrong)} damaged")
    if wrong:
        raise SystemExit(NO)
