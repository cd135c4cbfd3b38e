"""Packet events of a run as records, and the link that vectors use."""

from __future__ import annotations

from typing import Any, Final

from ecnlab.api.run import Run

LINK: Final = "path"
"""The link from the sender to the receiver."""
BACK: Final = f"{LINK}~reverse"
CODEPOINTS: Final = ("not-ect", "ect1", "ect0", "ce")
"""ECN codepoints by their value in the IP header."""
ENDS: Final = {
    "deliver": "delivered",
    "loss": "lost",
    "drop_early": "dropped",
    "drop_forced": "dropped",
    "drop_tail": "dropped",
}
"""Events that end a packet on a link, and the fate that each shows."""


def records(result: Run) -> list[dict[str, Any]]:
    """The packet events of ``result`` in the order of time; at one instant arrivals at the sender come first."""
    rows = result.packets.to_dicts()
    return sorted(rows, key=lambda row: (row["time_ps"], not arrives(row)))  # stable


def arrives(row: dict[str, Any]) -> bool:
    """Return whether ``row`` is the arrival of a packet at the sender."""
    return bool(row["link"] == BACK and row["event"] == "deliver")


def nanoseconds(picoseconds: int) -> int:
    """Return the nearest whole nanosecond."""
    return (picoseconds + 500) // 1000
