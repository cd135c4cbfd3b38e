"""ecnlab: a laboratory for congestion notification.

>>> import ecnlab
>>> run = ecnlab.run("dumbbell.toml", seed=1)  # doctest: +SKIP
>>> run.flows.group_by("group").agg(pl.col("goodput_bps").mean())  # doctest: +SKIP
"""

from ecnlab import starting as starting  # isort: skip

from ecnlab._core import Experiment, Scenario, __version__
from ecnlab.errors import Cancelled, EcnlabError, FolderError, MetricError, RunError, SpecError, TraceFailure
from ecnlab.results import load
from ecnlab.run import Run, run
from ecnlab.scenario import check
from ecnlab.sweep import Sweep, sweep
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
    "load",
    "run",
    "sweep",
    "trace",
]
