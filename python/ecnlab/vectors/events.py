"""The events of a vector: what its sender or its queue did, in the order of time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from ecnlab.runs.run import Run, run
from ecnlab.vectors.queue import fates
from ecnlab.vectors.sender import states
from ecnlab.vectors.vector import SEED, Vector

Event = dict[str, Any]
CAPTURED: Final = "sender"
"""The node whose packets the capture of a vector has."""


def events(vector: Vector, overrides: Mapping[str, object] | None = None) -> list[Event]:
    """Run the scenario of ``vector`` and return its events; ``docs/vectors.md`` lists their fields.

    ``overrides`` sets dotted keys of the scenario, such as ``{"queue.bottleneck.interval": "120 ms"}``: the events are then
    those of an implementation that departs from the vector. Raises SpecError for a key or value that is not possible.
    """
    return _events(vector, run(vector.scenario(overrides), SEED, events=True))


def events_and_capture(vector: Vector, overrides: Mapping[str, object] | None = None) -> tuple[list[Event], bytes]:
    """As `events`, with a pcapng capture of all packets at the sender, queues before the link included."""
    capture = {f"capture.{CAPTURED}": {"node": CAPTURED, "snap": "65535 B"}}
    scenario = vector.scenario({**(overrides or {}), **capture})
    with TemporaryDirectory(prefix="ecnlab-") as folder:
        result = run(scenario, SEED, events=True, captures=folder)
        return _events(vector, result), (Path(folder) / f"{CAPTURED}.pcapng").read_bytes()


def _events(vector: Vector, result: Run) -> list[Event]:
    return states(vector, result) if vector.kind == "sender" else fates(result)
