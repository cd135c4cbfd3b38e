"""Verdicts on ECN as lines for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SIGNALS: Final = {"red": "PROBLEM", "amber": "WARNING"}
"""Words in capitals that make these colours visible without colour."""


def spoken(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the head of a row of `Trace.verdicts`, "ECN works:", and the rest of its line: direction, place, evidence, next step."""
    head = f"ECN {SIGNALS.get(row['colour'], row['verdict'])}:"
    end = "opener" if row["from_opener"] else "responder"
    which = f"data of the {end}" if row["directions"] == 1 else f"data of {row['directions']:,} {end}s"
    place = "place unknown" if row["vantage"] == "unknown" else f"captured {row['vantage']}"
    says = row["says"].removeprefix(f"{row['verdict']}: ")
    step = f"; {row['capture']}" if row["capture"] else ""
    return head, f"{which}, {place}: {says}{step}"
