"""The events of a vector: what its sender or its queue did, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar

from ecnlab.api.run import Run
from ecnlab.runs.run import run
from ecnlab.vectors.queue import fates
from ecnlab.vectors.sender import SampledSeldomError, states
from ecnlab.vectors.vector import SEED, Vector

Event = dict[str, Any]
T = TypeVar("T")
CAPTURED: Final = "sender"
"""The node whose packets the capture of a vector has."""

MIN_SAMPLE_NS: Final = 1000
"""Events that are closer than this have no state of their own."""


def events(vector: Vector, overrides: Mapping[str, object] | None = None) -> list[Event]:
    """Run the scenario of ``vector`` and return its events; ``docs/vectors.md`` lists their fields.

    ``overrides`` sets dotted keys of the scenario, such as ``{"queue.bottleneck.interval": "120 ms"}``: the events are then
    those of an implementation that departs from the vector. Unless they set ``sample``, it is as small as the events need.
    Raises SpecError for a key or value that is not possible.
    """
    return _sampled(overrides or {}, lambda chosen: _events(vector, run(vector.scenario(chosen), SEED, events=True)))


def events_and_capture(vector: Vector, overrides: Mapping[str, object] | None = None) -> tuple[list[Event], bytes]:
    """As `events`, with a pcapng capture of all packets at the sender, queues before the link included."""
    capture = {f"capture.{CAPTURED}": {"node": CAPTURED, "snap": "65535 B"}}

    def both(chosen: Mapping[str, object]) -> tuple[list[Event], bytes]:
        with TemporaryDirectory(prefix="ecnlab-") as folder:
            result = run(vector.scenario({**chosen, **capture}), SEED, events=True, captures=folder)
            return _events(vector, result), (Path(folder) / f"{CAPTURED}.pcapng").read_bytes()

    return _sampled(overrides or {}, both)


def _sampled(overrides: Mapping[str, object], work: Callable[[Mapping[str, object]], T]) -> T:
    """Do ``work`` with overrides whose ``sample`` separates all events. That of the vector itself is not changed."""
    chosen = dict(overrides)
    while True:
        try:
            return work(chosen)
        except SampledSeldomError as error:
            if not overrides or "sample" in overrides or error.apart < MIN_SAMPLE_NS:
                raise
            chosen["sample"] = f"{error.apart} ns"


def _events(vector: Vector, result: Run) -> list[Event]:
    return states(vector, result) if vector.kind == "sender" else fates(result)
