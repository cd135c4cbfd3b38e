"""Packet fates of a queue."""

from __future__ import annotations

from typing import Any

from ecnlab.api.run import Run
from ecnlab.vectors.packets import CODEPOINTS, ENDS, LINK, nanoseconds, records

FATES = {"dequeue": "forwarded"} | {event: fate for event, fate in ENDS.items() if fate == "dropped"}


def fates(result: Run) -> list[dict[str, Any]]:
    """One event for each packet that left the queue of the vector's link or was dropped, in the order of time.

    Times are in nanoseconds. Datagrams are identified by their number, from 1.
    """
    arrivals: dict[int, int] = {}
    marked: set[int] = set()
    found = []
    for row in records(result):
        number, event = row["seq"], row["event"]
        if row["link"] != LINK:
            continue
        if event == "enqueue":
            arrivals[number] = row["time_ps"]
        elif event == "mark":
            marked.add(number)
        elif event in FATES:
            fate = "marked" if number in marked else FATES[event]
            # A packet that a full queue refuses was never in it.
            found.append(_packet(row, arrivals.get(number, row["time_ps"]), fate))
    return found


def _packet(row: dict[str, Any], arrived: int, fate: str) -> dict[str, Any]:
    return {
        "event": "packet",
        "time_ns": nanoseconds(row["time_ps"]),
        "number": row["seq"] + 1,
        "bytes": row["wire_len"],
        "arrived_ns": nanoseconds(arrived),
        "fate": fate,
        "ecn": CODEPOINTS[row["ecn"]],
        "sojourn_ns": nanoseconds(row["time_ps"] - arrived),
    }
