"""The closed forms, as one of the engines."""

from __future__ import annotations

from typing import Any

import polars as pl

from ecnlab._core import Scenario
from ecnlab.base import provenance
from ecnlab.base.types import Engine, Instead
from ecnlab.engines.model.table import prediction
from ecnlab.engines.protocol import MODEL, PACKETS


class Model:
    """Engine that predicts scenarios with `ecnlab.models`, if they cover the scenario."""

    engine: Engine = MODEL

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}

    @property
    def build(self) -> str:
        """Hash of the binary of this package."""
        return provenance.build()

    def check(self, scenario: Scenario) -> None:
        """Raise NotCoveredError for a scenario that no model covers, SpecError for one that requests packets."""
        self.tables(scenario, 0)

    def tables(self, scenario: Scenario, seed: int, /, **_recordings: object) -> dict[str, pl.DataFrame]:
        """Return the table ``prediction``; it is deterministic and simulates no packets. Raises as ``check`` does."""
        found = prediction(scenario.resolved, scenario.in_force(seed))
        refuse_packets(scenario)
        return {"prediction": found}

    def instead(self, _scenario: Scenario, /) -> list[Instead]:
        """Return nothing: scenarios that a model does not cover are rejected."""
        return []

    def stop(self) -> None:
        """Do nothing: a prediction takes no time."""


def refuse_packets(scenario: Scenario) -> None:
    """Raise SpecError, with file, line and key, for packet events and captures requested by the scenario."""
    requested = [f"capture.{name}" for name in scenario.resolved.get("capture", {})]
    if scenario.resolved["packets"]:
        requested.insert(0, "packets")
    remedy = f"leave it out, or use the engine `{PACKETS}`"
    if requested:
        raise scenario.refusal([(key, f"`{key}`: the engine `{MODEL}` sends no packets", remedy) for key in requested])
