"""Vectors as qlog, in JSON text sequences (draft-ietf-quic-qlog-main-schema, draft-ietf-quic-qlog-quic-events)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ecnlab._core import __version__
from ecnlab.vectors.vector import Vector

RECORD: Final = "\x1e"
"""The record separator before each JSON text (RFC 7464)."""
QUIC: Final = "urn:ietf:params:qlog:events:quic-13"
"""The event schema of metrics and losses, with the number of the draft."""
OURS: Final = "urn:ecnlab:qlog:events:vectors"
"""The event schema of the extension: `ecnlab:ack`, `ecnlab:packet`, `ecnlab:timeout`."""
METRICS: Final = {
    "cwnd_bytes": "congestion_window",
    "ssthresh_bytes": "ssthresh",
    "flight_bytes": "bytes_in_flight",
    "srtt_ns": "smoothed_rtt",
}
"""Fields of the state, and their names in `quic:recovery_metrics_updated`."""

Event = dict[str, Any]


def qlog(vector: Vector, found: Iterable[Event]) -> str:
    """Return the events ``found`` of ``vector`` as a qlog file; times are in milliseconds."""
    vantage = "client" if vector.kind == "sender" else "network"
    head = heading(
        f"{vector.name} version {vector.version}", ", ".join(vector.rfcs), vector.title, vector.shows, vantage
    )
    return sequence((head, *_events(found)))


def heading(title: str, source: str, shown: str, description: str, vantage: str) -> Event:
    """Return the first record of a file with one trace, whose title is ``shown``."""
    trace = {
        "title": shown,
        "description": description,
        "common_fields": {
            "time_format": "relative_to_epoch",
            "reference_time": {"clock_type": "monotonic", "epoch": "unknown"},
        },
        "vantage_point": {"type": vantage},
        "event_schemas": [QUIC, OURS],
    }
    return {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": title,
        "description": f"ecnlab {__version__}: {source}",
        "trace": trace,
    }


def sequence(records: Iterable[Event]) -> str:
    """Return ``records`` as a JSON text sequence."""
    return "".join(RECORD + json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def _events(found: Iterable[Event]) -> Iterator[Event]:
    """Yield each event under its qlog names: an input (`ecnlab:`), and the metrics and the loss that it causes."""
    shown: Event = {}
    for event in found:
        kind = "packet" if event["event"] == "send" else event["event"]
        rest = {key: value for key, value in event.items() if key not in ("event", "time_ns", *METRICS)}
        yield _named(event, f"ecnlab:{kind}", rest)
        metrics = {METRICS[key]: _metric(key, event[key]) for key in METRICS if event.get(key) is not None}
        changed = {key: value for key, value in metrics.items() if shown.get(key) != value}
        if changed:  # the draft has values that have not changed left out
            yield _named(event, "quic:recovery_metrics_updated", changed)
        shown |= changed
        # The loss is detected where the segment is sent again, or where the queue drops.
        if event.get("retransmission") or event.get("fate") == "dropped":
            number = event.get("seq", event.get("number"))
            yield _named(event, "quic:packet_lost", {"header": {"packet_type": "1RTT", "packet_number": number}})


def _metric(key: str, value: int) -> float | int:
    return value / 1e6 if key.endswith("_ns") else value


def _named(event: Event, name: str, data: Event) -> Event:
    return {"time": event["time_ns"] / 1e6, "name": name, "data": data}
