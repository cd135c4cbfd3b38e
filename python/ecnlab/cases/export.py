"""The changes of state of a case's run, as JSON lines and as qlog."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ecnlab._core import __version__
from ecnlab.cases.checks import Outcome
from ecnlab.vectors.export import store
from ecnlab.vectors.qlog import heading, sequence

Event = dict[str, Any]

METRICS: Final = {"cwnd_bytes": "congestion_window", "flight_bytes": "bytes_in_flight"}
"""Columns of an event, and their names in `quic:recovery_metrics_updated`."""


def events(outcome: Outcome) -> list[Event]:
    """Return an event for each state: its time, the state before, and the columns of the sample with which it begins.

    Values that are not set are null. A state that lasts for less than a sample has no event.
    """
    series, before, found = outcome.series, None, []
    for state, row in series.states():
        values = {name: series.column(name)[row] for name in series.suite.exported}
        shown = {name: None if math.isnan(value) else value for name, value in values.items()}
        found.append(
            {"event": "state", "time_ns": round(series.times[row] * 1e9), "old": before, "new": state, **shown}
        )
        before = state
    return found


def lines(outcome: Outcome) -> str:
    """Return the JSON lines of ``outcome``: the case with its checks, then an object for each state."""
    case = outcome.case
    results = [{"claim": one.claim, "holds": one.holds, "found": one.found} for one in outcome.results]
    head = {
        "case": case.name,
        "title": case.title,
        "source": case.suite.source,
        "tests": case.tests,
        "departure": case.departure,
        "scenario": case.text,
        "seed": case.seed,
        "checks": results,
        "ecnlab": __version__,
    }
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in (head, *events(outcome)))


def qlog(outcome: Outcome) -> str:
    """Return the changes of state of ``outcome`` as a qlog file."""
    case = outcome.case
    return sequence((heading(case.name, case.suite.source, case.title, case.tests, "client"), *_records(outcome)))


def _records(outcome: Outcome) -> Iterator[Event]:
    for event in events(outcome):
        time = event["time_ns"] / 1e6
        states = {key: event[key] for key in ("old", "new") if event[key] is not None}
        yield {"time": time, "name": "quic:congestion_state_updated", "data": states}
        metrics = {name: event[key] for key, name in METRICS.items() if event[key] is not None}
        yield {"time": time, "name": "quic:recovery_metrics_updated", "data": metrics}


def export(outcomes: list[Outcome], folder: Path) -> list[Path]:
    """Write JSON lines and qlog of ``outcomes`` into ``folder``, and return the paths.

    Raises EcnlabError if a file exists with another content, and OSError.
    """
    written: dict[Path, bytes] = {}
    for outcome in outcomes:
        written[folder / f"{outcome.case.name}.jsonl"] = lines(outcome).encode()
        written[folder / f"{outcome.case.name}.qlog"] = qlog(outcome).encode()
    names = [outcome.case.name for outcome in outcomes]
    store(folder, written, shlex.join(["ecnlab", "vectors", "cases", *names, "--out", str(folder)]))
    return list(written)
