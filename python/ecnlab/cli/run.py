"""``ecnlab run``: one scenario, once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from ecnlab.api.run import Run
from ecnlab.base.types import Engine
from ecnlab.cli import console
from ecnlab.cli.codes import NO_EVIDENCE
from ecnlab.cli.console import late
from ecnlab.cli.glance import brief, show_run
from ecnlab.cli.options import File, as_json, clock_option, engine_option, examples, no_python
from ecnlab.engines.protocol import seed_for, suffix, with_clock
from ecnlab.runs.run import run as run_scenario
from ecnlab.scenario.advice import of_scenario
from ecnlab.scenario.files import read_scenario, with_captures

NOT_EVIDENCE: Final = "the run is stored, but is not valid evidence (`ecnlab docs linux`, real time):"


@click.command()
@click.argument("file", type=File)
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Seed of all random streams. [default: 1]")
@click.option("--out", type=File, help="Folder for the run. [default: results/NAME-HASH-seedN]")
@click.option("--events", is_flag=True, help="Record every packet event, in the table `packets`.")
@click.option("--capture", "places", multiple=True, help="Capture the packets of this link or node. Can be repeated.")
@engine_option("Simulate every packet, predict by closed forms, or run on the Linux kernel.")
@clock_option
@no_python
@as_json
@examples("""
      ecnlab run dumbbell.toml
      ecnlab run dumbbell.toml --capture bottleneck
      ecnlab run dumbbell.toml --seed 7 --events --out results/look
      ecnlab run dumbbell.toml --json | jq '.flows[].goodput_bps'
      ecnlab run dumbbell.toml --engine model
      ecnlab run dumbbell.toml --engine linux       after `ecnlab linux build`
      ecnlab run dumbbell.toml --engine linux --clock wall
""")
def run(
    file: Path,
    seed: int | None,
    out: Path | None,
    events: bool,
    places: tuple[str, ...],
    engine: Engine,
    clock: str,
    as_json: bool,
) -> None:
    """Run the scenario FILE once, with the chosen engine, and store the results."""
    engine = with_clock(engine, clock)
    chosen = seed_for(engine, seed, events=events, captures=bool(places))
    scenario = with_captures(read_scenario(file), places)
    advice = of_scenario(scenario)
    console.warn(advice.lines)
    how = ("" if chosen is None else f"-seed{chosen}") + ("-events" if events else "") + suffix(engine)
    folder = out or Path("results") / f"{file.stem}-{scenario.hash[:8]}{how}"
    result = run_scenario(scenario, chosen, events=events, engine=engine, out=folder)
    if as_json:
        tables = {name: result.table(name).to_dicts() for name in brief(result) if name in result.tables}
        found = {"folder": str(folder), "warnings": advice.diagnostics, "manifest": result.manifest}
        console.write_json({**found, **tables})
    else:
        show_run(result, rows=20)
        console.say(f"stored in {folder}")
        for capture in result.captures:
            console.say(f"capture {capture}")
        console.offer_report(folder)
    _insist_on_evidence(result)


def _insist_on_evidence(result: Run) -> None:
    """Exit with a message if the run was stored but cannot serve as evidence."""
    found = result.manifest.get("evidence")
    if found and not found["ok"]:
        console.complain(f"{NOT_EVIDENCE} {late(found)}")
        raise SystemExit(NO_EVIDENCE)
