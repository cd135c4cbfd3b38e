"""ecnlab: a laboratory for congestion notification.

>>> import ecnlab
>>> run = ecnlab.run("dumbbell.toml", seed=1)  # doctest: +SKIP
>>> run.flows.group_by("group").agg(pl.col("goodput_bps").mean())  # doctest: +SKIP
"""

from ecnlab.base import early_interrupt as early_interrupt  # isort: skip

from ecnlab._core import Experiment, Scenario, __version__
from ecnlab.base.errors import Cancelled, EcnlabError, FolderError, MetricError, RunError, SpecError, TraceFailure
from ecnlab.runs.results import load
from ecnlab.runs.run import Run, run
from ecnlab.runs.sweep import sweep
from ecnlab.runs.sweep_result import Sweep
from ecnlab.scenario.built import experiment
from ecnlab.scenario.files import check
from ecnlab.trace import Trace, trace

__all__ = [
    "Cancelled",
    "EcnlabError",
    "Experiment",
    "FolderError",
    "MetricError",
    "Run",
    "RunError",
    "Scenario",
    "SpecError",
    "Sweep",
    "Trace",
    "TraceFailure",
    "__version__",
    "check",
    "experiment",
    "load",
    "run",
    "sweep",
    "trace",
]
