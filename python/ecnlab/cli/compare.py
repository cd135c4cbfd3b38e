"""``ecnlab compare``: comparison of two result folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ecnlab.base.readable import cell
from ecnlab.cli import console
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, as_json, examples
from ecnlab.runs.results import compare as compare_folders


@click.command()
@click.argument("a", type=File)
@click.argument("b", type=File)
@as_json
@examples("""
      ecnlab compare results/monday results/tuesday
""")
def compare(a: Path, b: Path, as_json: bool) -> None:
    """Compare the result folders A and B: whether they have the same specification, and which results differ.

    Exit code 0 if the results are identical, 1 if they differ or cannot be compared. Wall time does not count.
    """
    result = compare_folders(a, b)
    if as_json:
        console.write_json(result.to_dict())
    else:
        _show_comparison(result.reasons, result.makers, result.tables, result.metrics)
    if not result.equal:
        raise SystemExit(NO)


def _show_comparison(
    reasons: list[str], makers: list[str], tables: dict[str, str], metrics: list[dict[str, Any]]
) -> None:
    if reasons:
        console.say("The folders cannot be compared, because their specifications differ:")
        for reason in reasons:
            console.say_filled(f"  {reason}")
    for maker in makers:
        console.say_filled(f"The programs differ in {maker}.")
    for name, how in tables.items():
        console.say_filled(f"Table {name} differs: {how}.")
    for row in metrics:
        point = [
            f"{name} {value}" for name, value in row.items() if name not in ("first", "second", "metric") and value
        ]
        where = f" ({', '.join(point)})" if point else ""
        first, second = (cell(row["metric"], row[side]) for side in ("first", "second"))
        console.say_filled(f"The mean of {row['metric']}{where} is {first} in the first and {second} in the second.")
    if not reasons and not tables:
        console.say("The results are the same, bit for bit.")
