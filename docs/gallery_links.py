"""Links from the gallery to the studio: the scenarios that an example runs, and the address that opens them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.runs.run import run
from ecnlab.scenario.built import toml_text
from ecnlab.scenario.files import read_scenario
from ecnlab.studio.opened import refuse
from ecnlab.studio.share import fragment

RUNS: Final[list[tuple[ecnlab.Scenario, int]]] = []
"""The scenarios of the example that is executed, each with its seed."""


def start(_config: Any = None, _name: str = "") -> None:
    """Forget the runs of the example before, and let `ecnlab.run` note each run in `RUNS`."""
    RUNS.clear()
    ecnlab.run = noted


def noted(path: str | Path, seed: int | None = None, *, overrides: Any = None, **options: Any) -> ecnlab.Run:
    """Do a run as `ecnlab.run` does, and note it in `RUNS`."""
    RUNS.append((read_scenario(path).with_overrides(overrides or {}), 1 if seed is None else seed))
    return run(path, seed, overrides=overrides, **options)


def end() -> str | None:
    """Return the end of the studio's address that opens the scenarios of `RUNS`, if they are one or two with one seed.

    None for others, and for scenarios that the studio does not run.
    """
    seeds = {seed for _, seed in RUNS}
    scenarios = list({scenario.hash: scenario for scenario, _ in RUNS}.values())
    if len(seeds) != 1 or len(scenarios) > 2:
        return None
    try:
        for scenario in scenarios:
            refuse(scenario.resolved, Path(scenario.path))
    except EcnlabError:
        return None
    return fragment([toml_text(tomllib.loads(scenario.to_toml())) for scenario in scenarios], seeds.pop())
