"""State of a TCP sender after each ACK and each timeout, and the segments that it sends.

The state comes from `flow_series`: the first sample at or after an ACK or a timeout. A scenario of a vector samples more often
than ACKs arrive, so no other event lies between the two; `states` raises EcnlabError if one does.
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from ecnlab.api.run import Run
from ecnlab.base.errors import EcnlabError
from ecnlab.vectors.packets import CODEPOINTS, ENDS, LINK, arrives, nanoseconds, records
from ecnlab.vectors.phases import Phases
from ecnlab.vectors.vector import Vector

SYN: Final = 2
ECE: Final = 64
CWR: Final = 128
AE: Final = 256
MODULUS: Final = 2**32
ONCE: Final = 1
"""Factor of columns that are already in bytes."""
STATE: Final = {"cwnd_bytes": ONCE, "ssthresh_bytes": ONCE, "flight_bytes": ONCE}
"""Columns of `flow_series` in every state, with the factor that makes each an integer."""

Event = dict[str, Any]
Row = dict[str, Any]


def states(vector: Vector, result: Run) -> list[Event]:
    """Return the events `start`, `ack`, `timeout` and `send` of the vector's flow up to its last ACK.

    Sequence and acknowledgment numbers count from 0 at the first byte of data, times are nanoseconds since the SYN. Raises
    SampledSeldomError if two events lie between two samples.
    """
    rows = [row for row in records(result) if row["protocol"] == "tcp"]
    syns = [row["seq"] for row in rows if row["flags"] & SYN and row["from_sender"]]
    if not syns:
        raise EcnlabError(f"{vector.name}: the scenario has no TCP flow: a vector of a sender needs one")
    first = syns[0] + 1
    samples = _Samples(vector, result)
    found: list[Event] = []
    sent = _Sent(first, _fates(rows))
    phases = Phases()
    for time, instant in groupby((row for row in rows if _is_ours(row)), key=lambda row: row["time_ps"]):
        group = list(instant)
        acks = [row for row in group if arrives(row)]
        segments = [sent.segment(row) for row in group if not arrives(row)]
        if len(acks) > 1:
            raise EcnlabError(
                f"{vector.name}: two ACKs arrive at {nanoseconds(time)} ns, so each has no state of its own"
            )
        event = _cause(vector, acks, segments, first)
        if event is not None:
            event |= samples.after(time)
            found.append({"event": event.pop("event"), "time_ns": nanoseconds(time)} | phases.complete(event, segments))
        found += [{"event": "send", "time_ns": nanoseconds(time), **segment} for segment in segments]
    whole = [i for i, event in enumerate(found) if "cwnd_bytes" in event]
    if not whole:
        raise EcnlabError(f"{vector.name}: no ACK arrives: increase `duration`")
    return found[: whole[-1] + 1]


def _is_ours(row: Row) -> bool:
    """Return whether ``row`` is an arrival at the sender, or a segment with data that it sends."""
    return arrives(row) or (row["link"] == LINK and row["event"] == "enqueue" and row["len"] > 0)


def _cause(vector: Vector, acks: list[Row], segments: list[Event], first: int) -> Event | None:
    """Return the event that caused ``segments``: an ACK or a timeout."""
    if not acks:
        return {"event": "timeout"} if any(segment["retransmission"] for segment in segments) else None
    (row,) = acks
    event: Event = {"event": "start" if row["flags"] & SYN else "ack"}
    if event["event"] == "start":
        return event
    event["ack"] = (row["ack"] - first) % MODULUS
    flags = row["flags"]
    if vector.feedback == "ece":
        event["ece"] = bool(flags & ECE)
    elif vector.feedback == "ace":
        event["ace"] = 4 * bool(flags & AE) + 2 * bool(flags & CWR) + bool(flags & ECE)
    return event


def _fates(rows: list[Row]) -> Iterator[str | None]:
    """Yield the fate of each data segment in the order of sending: delivered, marked, lost, dropped; None: still on its way."""
    ends: dict[int, deque[str]] = defaultdict(deque)
    sent = []
    for row in rows:
        if row["link"] != LINK or not row["len"]:
            continue
        if row["event"] == "enqueue":
            sent.append(row["seq"])
        elif row["event"] in ENDS:
            marked = row["event"] == "deliver" and CODEPOINTS[row["ecn"]] == "ce"
            ends[row["seq"]].append("marked" if marked else ENDS[row["event"]])
    return (ends[seq].popleft() if ends[seq] else None for seq in sent)


class _Sent:
    """The segments sent so far."""

    def __init__(self, first: int, fates: Iterator[str | None]) -> None:
        self._first, self._fates, self._end = first, fates, 0

    def segment(self, row: Row) -> Event:
        seq = (row["seq"] - self._first) % MODULUS
        again = seq < self._end
        self._end = max(self._end, seq + row["len"])
        segment = {
            "seq": seq,
            "bytes": row["len"],
            "retransmission": again,
            "cwr": bool(row["flags"] & CWR),
            "ecn": CODEPOINTS[row["ecn"]],
        }
        fate = next(self._fates)
        return segment if fate is None else segment | {"fate": fate}


class SampledSeldomError(EcnlabError):
    """Two events lie between two samples, so that the first has no state of its own."""

    def __init__(self, message: str, apart: int) -> None:
        super().__init__(message)
        self.apart = apart
        """Time between the two events in nanoseconds, rounded down."""


class _Samples:
    """The samples of the vector's only flow."""

    def __init__(self, vector: Vector, result: Run) -> None:
        self._name = vector.name
        self._columns = STATE | dict(vector.columns)
        self._rows = result.flow_series.select("time_s", *self._columns).to_dicts()
        self._times = [round(row["time_s"] * 1e12) for row in self._rows]
        self._used, self._last = -1, 0

    def after(self, time: int) -> Event:
        """Return the state in the first sample at or after ``time``, in picoseconds; empty behind the last sample."""
        at = bisect.bisect_left(self._times, time)
        if at == self._used:
            message = f"{self._name}: two events before the sample at {self._times[at]} ps: reduce `sample`"
            raise SampledSeldomError(message, nanoseconds(time - self._last))
        self._used, self._last = at, time
        if at == len(self._rows):
            return {}
        row = self._rows[at]
        return {_integer_name(name, by): _integer(row[name], by) for name, by in self._columns.items()}


UNITS: Final = {ONCE: "", 10**6: "_ppm", 10**9: "_ns"}
"""Ends of the names of fields: a ratio is in parts per million, a time in nanoseconds."""


def _integer_name(column: str, by: int) -> str:
    return f"{column.removesuffix('_s')}{UNITS[by]}"


def _integer(value: float | None, by: int) -> int | None:
    return None if value is None or math.isnan(value) else round(value * by)
