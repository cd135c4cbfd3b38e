"""The queue of a resolved scenario as a control law of the models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from ecnlab.models import red
from ecnlab.models.red import ControlLaw
from ecnlab.prediction.covered import covered, expected
from ecnlab.quantities import quantity

LEAST_AUTOMATIC: Final = 5.0
"""Packets below which no automatic min_th lies; max_th is three times as much. Source: docs/laws/red.md."""


def control_law(name: str, queue: Mapping[str, Any], wire_bytes: float, rate_bps: float, *, ecn: bool) -> ControlLaw:
    """The law of ``queue``, called ``name``, before a link of ``rate_bps`` that carries packets of ``wire_bytes``.

    ``ecn`` says whether any flow is ECN-capable. Raises NotCoveredError for a law that the models do not have.
    """
    expected(queue["discipline"], ("droptail", "red"), f"queue {name} is")
    limit = _packets(queue["limit"], wire_bytes)
    if queue["discipline"] == "droptail":
        return red.drop_tail(limit)
    for key in ("adaptive", "feng"):
        covered(key not in queue, f"queue {name} moves max_p ({key})", "leave that out")
    low, high = _thresholds(queue, wire_bytes, rate_bps)
    law = red.red(
        low,
        high,
        queue["max_p"],
        gentle=queue["gentle"],
        ecn=ecn and queue["ecn"],
        above=queue["above"],
        mark_p=queue.get("mark_p", math.inf),
        limit=limit,
        spacing=queue["spacing"],
    )
    return law if queue["probability"] == "packets" else law.scaled(wire_bytes / quantity(queue["mean_packet"]))


def _thresholds(queue: Mapping[str, Any], wire_bytes: float, rate_bps: float) -> tuple[float, float]:
    """Both thresholds in packets on the wire."""
    mean = quantity(queue["mean_packet"])
    capacity = rate_bps / (8.0 * mean)
    automatic = max(LEAST_AUTOMATIC, quantity(queue["target_delay"]) * capacity / 2.0)
    in_bytes = mean / wire_bytes
    found = []
    for key in ("min_th", "max_th"):
        if queue[key] == "auto packets":
            found.append(automatic)
        elif queue[key] == "auto bytes":
            found.append(automatic * in_bytes)
        else:
            found.append(_packets(queue[key], wire_bytes))
        automatic = 3.0 * (found[0] if queue["min_th"].endswith("packets") else found[0] / in_bytes)
    return found[0], found[1]


def _packets(length: str, wire_bytes: float) -> float:
    return quantity(length) / (1.0 if length.endswith("packets") else wire_bytes)
