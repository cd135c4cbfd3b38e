"""What can go wrong, and the exit code the command line gives it."""

from __future__ import annotations

from ecnlab._core import Cancelled, LawError, RunError, SpecError, TraceFailure

__all__ = [
    "Cancelled",
    "EcnlabError",
    "FolderError",
    "LawError",
    "MetricError",
    "RunError",
    "SpecError",
    "Terminated",
    "TraceFailure",
]


class Terminated(BaseException):
    """The process was asked to end (SIGTERM): what it has begun is cleared away."""


class EcnlabError(Exception):
    """A question that cannot be answered as asked. The message says why and what to do."""


class FolderError(EcnlabError):
    """A folder is not what it should be: another run's, another version's, incomplete or no result at all."""


class MetricError(EcnlabError):
    """An experiment's ``[metrics]`` name a table, column or metric that does not exist."""
