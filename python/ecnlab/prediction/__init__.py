"""Predictions of `ecnlab.models` for a scenario: where its senders and its queue come to rest.

>>> from ecnlab.prediction import predict
>>> predict("examples/dumbbell.toml").table("prediction")  # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ecnlab._core import Scenario
from ecnlab.api.run import Run
from ecnlab.engines.model.table import prediction
from ecnlab.engines.protocol import MODEL
from ecnlab.laws.model_coverage import NotCoveredError
from ecnlab.runs.run import run

__all__ = ["NotCoveredError", "predict", "prediction"]


def predict(
    scenario: str | os.PathLike[str] | Scenario,
    *,
    out: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Run:
    """What `ecnlab.models` predicts for ``scenario`` (a file, or one already read), as a run of the engine ``model``.

    Its one table, ``prediction``, has a row for each flow table of the scenario (docs/run-folder.md). ``overrides`` and
    ``out`` are as for `ecnlab.run`; nothing is random, so there is no seed.

    Raises NotCoveredError, naming what stands in the way, for a scenario that no model covers; else as `ecnlab.run`.
    """
    return run(scenario, engine=MODEL, out=out, overrides=overrides)
