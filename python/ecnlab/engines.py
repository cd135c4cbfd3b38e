"""Who answers a scenario: the simulator, or the Linux kernel. One face for runs and sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import polars as pl

from ecnlab._core import Cancel, Scenario
from ecnlab.provenance import maker
from ecnlab.types import Column, Engine, Instead


class Answerer(Protocol):
    """Runs scenarios. Several threads may ask at a time; ``stop`` ends what they wait for."""

    engine: Engine
    build: str
    """What results of one build have in common: the same code made them."""
    made: dict[str, Any]
    """What manifests say of the engine, where ``ecnlab`` in them does not say it."""

    def check(self, scenario: Scenario) -> None:
        """Raise SpecError for what the engine cannot do, with file, line and key."""

    def tables(self, scenario: Scenario, seed: int, *, events: bool) -> dict[str, pl.DataFrame]:
        """The tables of a run. Raises RunError, Cancelled; and what the engine's own page says."""

    def instead(self, scenario: Scenario, /) -> list[Instead]:
        """Where the engine does not do as the scenario says, and what it does."""

    def stop(self) -> None:
        """Make every run in progress raise."""


def answerer_of(engine: Engine) -> Answerer:
    """The answerer called ``engine``. Raises EcnlabError if that is Linux and no kernel has been built."""
    if engine == "simulator":
        return Simulator()
    from ecnlab.linux.engine import Linux

    return Linux()


class Simulator:
    """The packet simulator of this package."""

    engine: Engine = "simulator"

    def __init__(self) -> None:
        self.build = maker()["build"] or ""
        self.made: dict[str, Any] = {}
        self._cancel = Cancel()

    def check(self, scenario: Scenario) -> None:
        """Nothing to do: a scenario is what the simulator can do."""

    def tables(self, scenario: Scenario, seed: int, *, events: bool) -> dict[str, pl.DataFrame]:
        """The tables of a run."""
        return frames(scenario.run(seed, events=events, cancel=self._cancel))

    def instead(self, _scenario: Scenario, /) -> list[Instead]:
        """Nowhere."""
        return []

    def stop(self) -> None:
        """End within some milliseconds."""
        self._cancel.cancel()


def frames(tables: Mapping[str, Mapping[str, Column]]) -> dict[str, pl.DataFrame]:
    """The simulator's tables as Polars frames: NaN becomes missing, coded text becomes strings."""
    return {
        name: pl.DataFrame([_series(column, values) for column, values in columns.items()])
        for name, columns in tables.items()
    }


def _series(name: str, values: Column) -> pl.Series:
    if isinstance(values, tuple):
        codes, categories = values
        return pl.Series(name, categories, dtype=pl.String).gather(codes)
    return pl.Series(name, values, nan_to_null=True)
