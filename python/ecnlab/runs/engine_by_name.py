"""The engines themselves, by name. Those that a run does not ask for are not loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ecnlab._core import Cancel, Scenario
from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.provenance import maker
from ecnlab.base.types import Engine, Instead
from ecnlab.engines.frames import frames
from ecnlab.engines.protocol import ENGINES, LINUX, LINUX_WALL, MODEL, PACKETS, Answerer, Blocks


def answerer_of(engine: Engine) -> Answerer:
    """The answerer called ``engine``. Raises EcnlabError if there is none, or no Linux kernel has been built."""
    if engine == PACKETS:
        return Packets()
    if engine == MODEL:
        from ecnlab.engines.model.engine import Model  # SciPy takes a second to load

        return Model()
    if engine == LINUX:
        from ecnlab.linux.engine import Linux

        return Linux()
    if engine == LINUX_WALL:
        from ecnlab.linux.wall.engine import LinuxWall

        return LinuxWall()
    raise EcnlabError(f"no engine is called {engine!r}; there are {', '.join(ENGINES)}")


class Packets:
    """The packet simulator of this package."""

    engine: Engine = PACKETS

    def __init__(self) -> None:
        self.build = maker()["build"] or ""
        self.made: dict[str, Any] = {}
        self._cancel = Cancel()

    def check(self, scenario: Scenario) -> None:
        """Nothing to do: a scenario is what the simulator can do."""

    def tables(
        self,
        scenario: Scenario,
        seed: int,
        /,
        *,
        events: bool,
        captures: Path | None = None,
        blocks: Blocks | None = None,
    ) -> dict[str, pl.DataFrame]:
        """The tables of a run; those that grow are handed to ``blocks``, if given, but for their last rows."""
        return frames(scenario.run(seed, events=events, cancel=self._cancel, captures=captures, blocks=blocks))

    def instead(self, _scenario: Scenario, /) -> list[Instead]:
        """Nowhere."""
        return []

    def stop(self) -> None:
        """End within some milliseconds."""
        self._cancel.cancel()
