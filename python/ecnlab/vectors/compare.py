"""Where the log of another implementation first departs from its vector, and which rule is involved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from ecnlab.vectors.events import Event, events
from ecnlab.vectors.logs import Line, Log, read, refuse_malformed
from ecnlab.vectors.vector import Rule, Vector

BEFORE: Final = 3
"""Number of events shown before the departure."""
END: Final = "end"
"""Stands for an event behind the last one."""
PPM: Final = 1
"""Tolerance of ratios, in parts per million: they are not integers by nature."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Differences that are no departure."""

    bytes: int = 0
    """Of fields whose name ends with `_bytes`."""
    nanoseconds: int = 0
    """Of fields whose name ends with `_ns`."""

    def accepts(self, field: str, expected: Any, got: Any) -> bool:
        """Return whether ``got`` is close enough to ``expected``."""
        limits = {"bytes": self.bytes, "ns": self.nanoseconds, "ppm": PPM}
        limit = limits.get(field.rpartition("_")[2], 0)
        if expected is None or got is None or isinstance(expected, (bool, str)):
            return bool(expected == got)
        return bool(abs(expected - got) <= limit)


@dataclass(frozen=True, slots=True)
class Departure:
    """The first event of a log that differs from the vector."""

    line: int
    """Line in the file; one more than the last if the log ends too early."""
    field: str
    expected: Any
    got: Any
    rule: Rule
    wanted: Event | None
    """The whole event of the vector; None behind its end."""
    before: Sequence[Line]
    """The events of the log before it, at most `BEFORE`."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A compared log."""

    vector: Vector
    compared: int
    """Number of events of the log."""
    departure: Departure | None


def check(path: Path, tolerance: Tolerance | None = None) -> Checked:
    """Compare the log in ``path`` with its vector: only kinds of events that it has, only fields that an event has.

    Raises EcnlabError if the form of the log is wrong, OSError if it cannot be read.
    """
    log = read(path)
    expected = events(log.vector)
    refuse_malformed(log, expected)
    return Checked(log.vector, len(log.lines), _departure(log, expected, tolerance or Tolerance()))


def _departure(log: Log, expected: Sequence[Event], tolerance: Tolerance) -> Departure | None:
    kinds = {line.event["event"] for line in log.lines}
    wanted = [event for event in expected if event["event"] in kinds]
    for at, (event, line) in enumerate(zip_longest(wanted, log.lines)):
        found = _difference(event, line, tolerance)
        if found is not None:
            field, want, got = found
            rule = log.vector.rule(event or wanted[-1], field)
            number = line.number if line else log.lines[-1].number + 1
            return Departure(number, field, want, got, rule, event, log.lines[max(at - BEFORE, 0) : at])
    return None


def _difference(event: Event | None, line: Line | None, tolerance: Tolerance) -> tuple[str, Any, Any] | None:
    """Return field, expected and actual value of the first difference; times come last, as they follow from the rest."""
    kind, got = event["event"] if event else END, line.event["event"] if line else END
    if kind != got:
        return "event", kind, got
    assert event is not None and line is not None  # of the same kind
    for field in sorted(event, key=lambda name: name.endswith("time_ns")):  # stable
        if field in line.event and not tolerance.accepts(field, event[field], line.event[field]):
            return field, event[field], line.event[field]
    return None
