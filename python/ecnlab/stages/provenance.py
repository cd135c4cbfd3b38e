"""Provenance: how a result was made, and how to make it again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.report import Table
from ecnlab.report.words import NONE
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult
    from ecnlab.results.sweep import SweepResult
    from ecnlab.results.unfinished import Unfinished

MAX_SPECS: Final = 1
"""Specifications of a sweep that the page has in full."""


@stage("made-by", of="run")
@stage("made-by", of="sweep")
@stage("made-by", of="unfinished")
def made_by(result: RunResult | SweepResult | Unfinished) -> Table:
    """Title, engine, seed, version, commit, hash, kernel, and the command that repeats the result."""
    return Table("Origin", ("item", "value"), [list(row) for row in facts(result.manifest)])


def facts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the items of the provenance that the manifest has."""
    made, wall = manifest["ecnlab"], manifest.get("wall", {})
    yield "title", manifest["title"]
    yield "engine", manifest["engine"]
    if manifest["seed"] is not None:
        yield "seed", str(manifest["seed"])
    if manifest["kind"] == "sweep":
        yield "replicates", str(manifest["replicates"])
    yield "ecnlab", f"{made['version']}, commit {made['commit'] or NONE}, build {made['build']}"
    if "spec_hash" in manifest:
        yield "specification", manifest["spec_hash"]
    if linux := manifest.get("linux"):
        yield "kernel", f"Linux {linux['kernel']}, build {linux['build']}"
    if remake := wall.get("remake"):
        yield "command", str(remake)


@stage("departures", of="run")
def _departures_of_run(run: RunResult) -> Table | None:
    return departures(run.manifest["departures"])


@stage("departures", of="sweep")
def _departures_of_sweep(sweep: SweepResult) -> Table | None:
    found: list[dict[str, Any]] = []
    for spec in sweep.specs.values():
        found += [entry for entry in spec["departures"] if entry not in found]
    return departures(found)


def departures(entries: list[dict[str, Any]]) -> Table | None:
    """TCP values that differ from their profile, with the profile's value and its source."""
    if not entries:
        return None
    rows = [
        [one["key"], _plain(one["value"]), _plain(one["profile_value"]), one["profile"], one["source"]]
        for one in entries
    ]
    return Table(
        "TCP settings that differ from their profile",
        ("key", "value", "of the profile", "profile", "source of the profile's value"),
        rows,
    )


@stage("specification", of="run")
def _specification_of_run(run: RunResult) -> Table:
    return specification("The scenario: every key with its value", run.manifest["spec"])


@stage("specification", of="sweep")
def _specification_of_sweep(sweep: SweepResult) -> Table | None:
    specs = sweep.specs
    if not specs:
        return None
    of = f", of the first of {len(specs)} specifications (specs.json has all)" if len(specs) > MAX_SPECS else ""
    return specification(f"The scenario: every key with its value{of}", next(iter(specs.values()))["spec"])


def specification(caption: str, spec: Mapping[str, Any]) -> Table:
    """Every key of a resolved scenario with its value; folded."""
    return Table(caption, ("key", "value"), [[key, value] for key, value in _flat(spec)], folded=True)


@stage("definitions", of="sweep")
@stage("definitions", of="unfinished")
def definitions(result: SweepResult | Unfinished) -> list[Table]:
    """The axes with their labels, where there are runs, and the definitions of the metrics."""
    metrics = [[name, _plain(metric)] for name, metric in result.manifest["metrics"].items()]
    found = [Table("Definitions of the metrics", ("metric", "definition"), metrics, folded=True)]
    if isinstance(runs := getattr(result, "runs", None), pl.DataFrame) and result.manifest["axes"]:
        axes = [[name, ", ".join(map(str, runs[name].unique(maintain_order=True)))] for name in result.manifest["axes"]]
        found.insert(0, Table("Axes of the grid", ("axis", "points"), axes))
    return found


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield dotted keys and values of ``table``."""
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", _plain(value)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
