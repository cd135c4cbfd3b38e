"""Errors, and their exit codes on the command line."""

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
    """The process received SIGTERM: work in progress is cleaned up."""


class EcnlabError(Exception):
    """A request that cannot be fulfilled. The message gives cause and remedy."""


class FolderError(EcnlabError):
    """A folder is not as required: another run or version, incomplete or without a result."""


class MetricError(EcnlabError):
    """An experiment's ``[metrics]`` name a table, column or metric that does not exist."""
