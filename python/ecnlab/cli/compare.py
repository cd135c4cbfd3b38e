"""``ecnlab compare``: comparison of two result folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ecnlab.base.lazy_imports import pl
from ecnlab.cli import console
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, as_json, examples, names_option

if TYPE_CHECKING:
    from ecnlab.results.comparison import Comparison

ROWS: Final = 20
"""Rows of the table of quantities."""


@click.command()
@click.argument("a", type=File)
@click.argument("b", type=File)
@names_option
@as_json
@examples("""
      ecnlab compare results/monday results/tuesday
      ecnlab compare results/marks results/drops --names marks,drops
""")
def compare(a: Path, b: Path, names: tuple[str, str] | None, as_json: bool) -> None:
    """Compare the result folders A and B: the largest difference, and whether they have the same specification.

    Exit code 0 if the results are identical, 1 if they or their specifications differ. Wall time does not count.
    """
    from ecnlab.results.comparison import compare as compare_folders

    result = compare_folders(a, b, names)
    if as_json:
        console.write_json(result.to_dict())
    else:
        _show_comparison(result)
    if not result.equal:
        raise SystemExit(NO)


def _show_comparison(result: Comparison) -> None:
    console.say_filled(result.answer)
    for note in result.notes:
        console.say_filled(note)
    if result.equal or not result.contrasts:
        return
    first, second = result.names
    rows = [(one.name, *one.sides, one.difference()) for one in result.contrasts]
    columns = [" ", first, second, f"{second} − {first}"]
    console.say("")
    console.write_frame(pl.DataFrame(rows, schema=columns, orient="row"), "quantities", ROWS)
