"""The networks of a paper, from its scenario files."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ecnlab.report import Topology
from ecnlab.scenario.files import read_scenario, read_text
from ecnlab.scenario.network import topology


def networks(folder: Path) -> list[Topology]:
    """A drawing of each scenario file in a paper's ``folder``."""
    return [_network(path) for path in sorted(folder.glob("*.toml")) if _is_scenario(path)]


def _is_scenario(path: Path) -> bool:
    table = tomllib.loads(read_text(path))
    return "link" in table and "scenario" not in table


def _network(path: Path) -> Topology:
    scenario = read_scenario(path)
    return topology(
        scenario.resolved,
        scenario.title or path.stem,
        f"As {path.name} has it; an experiment may set other values, which its file names. Drawn thick: the slowest.",
    )
