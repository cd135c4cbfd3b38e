"""The engine of a card: which one, what it cannot run, and what it replaces by its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab._core import Experiment, SpecError
from ecnlab.base.errors import FolderError
from ecnlab.base.types import Engine, Instead
from ecnlab.engines.protocol import LINUX, PACKETS
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.names import MANIFEST
from ecnlab.runs.engine_by_name import answerer_of

RUNS: Final = "runs"
"""Beginning of the names of the folders with runs, in the folder of a card."""

SIMULATOR: Final[Mapping[str, Any]] = {"name": PACKETS}
"""The engine of cards that name none."""


class Used:
    """The engine of one card."""

    def __init__(self, engine: Engine) -> None:
        """Raises EcnlabError if there is no such engine here, or no Linux kernel has been built."""
        self.engine = engine
        self.instead: list[Instead] = []
        """Values of the scenarios that the engine replaced by its own."""
        self._answerer = answerer_of(engine)
        self.as_json: dict[str, Any] = {"name": engine, **self._answerer.made.get(LINUX, {})}
        """Its name, and of Linux the kernel's version and build."""

    def why_not(self, question: Experiment) -> str:
        """Why the engine cannot run a scenario of ``question``: the keys, and the reason for each; "" if it can."""
        if self.engine == PACKETS:
            return ""
        found: dict[str, None] = {}
        for scenario in question.scenarios:
            try:
                self._answerer.check(scenario)
            except SpecError as error:
                found |= dict.fromkeys(one["message"] for one in error.diagnostics)
        return "; ".join(found)

    def add(self, instead: Iterable[Instead]) -> None:
        """Add replaced values, each once."""
        self.instead += [one for one in instead if one not in self.instead]


def refuse_other(folder: Path, engine: Engine) -> None:
    """Raise FolderError if ``folder``, that of a card, has runs of another engine than ``engine``."""
    for path in sorted(folder.glob(f"{RUNS}-*/*/{MANIFEST}")):
        there = read_manifest(path.parent)["engine"]
        if there != engine:
            raise FolderError(
                f"{folder} has runs of the engine `{there}`, not of `{engine}`: choose another folder with --out, "
                f"or use `--engine {there}`"
            )


def engine_of(card: Mapping[str, Any]) -> Mapping[str, Any]:
    """The engine of ``card``: its name, and of Linux the kernel's version and build."""
    found: Mapping[str, Any] = card.get("engine", SIMULATOR)
    return found


def words(card: Mapping[str, Any]) -> str:
    """The engine of ``card`` in words."""
    engine = engine_of(card)
    return f"Linux {engine['kernel']} in virtual time" if engine["name"] == LINUX else "simulator"


def on_kernel(card: Mapping[str, Any]) -> str:
    """The kernel of a card as words behind those for its scenarios; "" for a card of the simulator."""
    engine = engine_of(card)
    return f" on Linux {engine['kernel']}" if engine["name"] == LINUX else ""
