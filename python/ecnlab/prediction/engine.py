"""The closed forms, as one of the engines."""

from __future__ import annotations

from typing import Any

import polars as pl

from ecnlab._core import Scenario
from ecnlab.engines import MODEL
from ecnlab.prediction import prediction
from ecnlab.provenance import maker
from ecnlab.types import Engine, Instead


class Model:
    """`ecnlab.models`, for the scenarios that they cover."""

    engine: Engine = MODEL

    def __init__(self) -> None:
        self.build = maker()["build"] or ""
        self.made: dict[str, Any] = {}

    def check(self, scenario: Scenario) -> None:
        """Raise NotCoveredError for a scenario that no model covers."""
        prediction(scenario.resolved)

    def tables(self, scenario: Scenario, _seed: int, /, **_recordings: object) -> dict[str, pl.DataFrame]:
        """The table ``prediction``: nothing in it is random, and no packet is sent. Raises NotCoveredError."""
        return {"prediction": prediction(scenario.resolved)}

    def instead(self, _scenario: Scenario, /) -> list[Instead]:
        """Nowhere: what a model does not cover is refused."""
        return []

    def stop(self) -> None:
        """Nothing to do: a prediction takes an instant."""
