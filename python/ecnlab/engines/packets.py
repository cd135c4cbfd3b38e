"""The packet simulator, as one of the engines."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from ecnlab._core import Cancel, Scenario
from ecnlab.base import provenance
from ecnlab.base.lazy_imports import pl
from ecnlab.base.types import Column, Engine, Instead
from ecnlab.engines.frames import frames
from ecnlab.engines.protocol import PACKETS, Blocks


class Packets:
    """The packet simulator of this package."""

    engine: Engine = PACKETS

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}
        self._cancel = Cancel()

    @property
    def build(self) -> str:
        """Hash of the simulator's binary."""
        return provenance.build()

    def check(self, scenario: Scenario) -> None:
        """Do nothing: the simulator supports every scenario."""

    def tables(
        self,
        scenario: Scenario,
        seed: int,
        /,
        *,
        events: bool,
        captures: Path | None = None,
        blocks: Blocks | None = None,
        wanted: Collection[str] | None = None,
    ) -> dict[str, pl.DataFrame]:
        """Return the ``wanted`` tables of a run (None: all); those that grow are passed to ``blocks``, if given, except their last rows."""
        return frames(self.columns(scenario, seed, events=events, captures=captures, blocks=blocks, wanted=wanted))

    def columns(
        self,
        scenario: Scenario,
        seed: int,
        /,
        *,
        events: bool,
        captures: Path | None = None,
        blocks: Blocks | None = None,
        wanted: Collection[str] | None = None,
    ) -> dict[str, dict[str, Column]]:
        """Return the columns of the same tables."""
        asked = None if wanted is None else set(wanted)
        return scenario.run(seed, events=events, cancel=self._cancel, captures=captures, blocks=blocks, wanted=asked)

    def instead(self, _scenario: Scenario, /) -> list[Instead]:
        """Nowhere."""
        return []

    def stop(self) -> None:
        """End within some milliseconds."""
        self._cancel.cancel()
