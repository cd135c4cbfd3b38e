"""``ecnlab vectors cases``: test cases of a specification, run and checked."""

from __future__ import annotations

from pathlib import Path

import click

from ecnlab.cases import case, names, read
from ecnlab.cases.checks import Outcome, perform
from ecnlab.cases.export import export
from ecnlab.cli import console
from ecnlab.cli.codes import NO
from ecnlab.cli.options import File, as_json, examples


@click.command()
@click.argument("cases", nargs=-1, metavar="[NAME]...")
@click.option("--wrong", is_flag=True, help="Run with the change of the scenario that makes a check fail.")
@click.option("--out", type=File, help="Folder for the changes of state, as JSON lines and qlog.")
@as_json
@examples("""
      ecnlab vectors cases
      ecnlab vectors cases 4 18-spurious-fast-recovery
      ecnlab vectors cases 10 --wrong
      ecnlab vectors cases --out bbr
""")
def cases(cases: tuple[str, ...], wrong: bool, out: Path | None, as_json: bool) -> None:
    """Run the test cases NAME, or all, and show whether their checks hold.

    NAME is a name, a number, or a file of a case of your own.
    """
    chosen = [read(Path(name)) if name.endswith(".toml") else case(name) for name in cases or names()]
    found = [perform(one, one.wrong if wrong else None) for one in chosen]
    if out is not None:
        export(found, out)
    if as_json:
        console.write_json([_as_json(one) for one in found])
    else:
        for one in found:
            _show(one)
        failed = sum(not one.holds for one in found)
        console.say(f"{len(found)} cases: {failed} fail" if failed else f"{len(found)} cases: all checks hold")
    if not all(one.holds for one in found):
        raise SystemExit(NO)


def _show(outcome: Outcome) -> None:
    one = outcome.case
    console.say(f"{one.name}: {one.title}")
    for result in outcome.results:
        console.say(f"  {'holds' if result.holds else 'FAILS'}  {result.claim}: {result.found}")
    if one.departure:
        console.say(f"  departure: {' '.join(one.departure.split())}")


def _as_json(outcome: Outcome) -> dict[str, object]:
    one = outcome.case
    checks = [{"claim": result.claim, "holds": result.holds, "found": result.found} for result in outcome.results]
    return {
        "case": one.name,
        "title": one.title,
        "tests": one.tests,
        "departure": one.departure,
        "note": one.note,
        "holds": outcome.holds,
        "checks": checks,
    }
