"""ecnlab: a laboratory for congestion notification.

>>> import ecnlab
>>> run = ecnlab.run("dumbbell.toml", seed=1)  # doctest: +SKIP
>>> run.flows.group_by("group").agg(pl.col("goodput_bps").mean())  # doctest: +SKIP
"""

from ecnlab.base import early_interrupt as early_interrupt  # isort: skip

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ecnlab._core import Experiment, Scenario, __version__
from ecnlab.base.errors import Cancelled, EcnlabError, FolderError, MetricError, RunError, SpecError, TraceFailure
from ecnlab.trace import Trace, trace  # not in `_MODULES`: `trace` is also the name of the package

if TYPE_CHECKING:
    from ecnlab.api.loading import load
    from ecnlab.api.run import Run
    from ecnlab.api.sweep import Sweep
    from ecnlab.inference.api import infer
    from ecnlab.inference.result import Inference
    from ecnlab.runs.batch import Batch, batch
    from ecnlab.runs.examples import copy_example
    from ecnlab.runs.run import run
    from ecnlab.runs.sweep import sweep
    from ecnlab.runs.until import sweep_until
    from ecnlab.scenario.built import experiment
    from ecnlab.scenario.files import check

__all__ = [
    "Batch",
    "Cancelled",
    "EcnlabError",
    "Experiment",
    "FolderError",
    "Inference",
    "MetricError",
    "Run",
    "RunError",
    "Scenario",
    "SpecError",
    "Sweep",
    "Trace",
    "TraceFailure",
    "__version__",
    "batch",
    "check",
    "copy_example",
    "experiment",
    "infer",
    "load",
    "run",
    "sweep",
    "sweep_until",
    "trace",
]

_MODULES: Final = {
    "Batch": "ecnlab.runs.batch",
    "Inference": "ecnlab.inference.result",
    "Run": "ecnlab.api.run",
    "Sweep": "ecnlab.api.sweep",
    "batch": "ecnlab.runs.batch",
    "check": "ecnlab.scenario.files",
    "copy_example": "ecnlab.runs.examples",
    "experiment": "ecnlab.scenario.built",
    "infer": "ecnlab.inference.api",
    "load": "ecnlab.api.loading",
    "run": "ecnlab.runs.run",
    "sweep": "ecnlab.runs.sweep",
    "sweep_until": "ecnlab.runs.until",
}
"""Modules that are imported when the name is first used."""

_PACKAGES: Final = ("api", "runs", "scenario")
"""Packages of these modules: ``ecnlab.scenario.read_scenario`` works after ``import ecnlab``."""

if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            for module in _MODULES.values():
                import_module(module)
            return globals()[name]
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
