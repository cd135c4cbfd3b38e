"""Thresholds of sketched queues on slow links, where a single packet takes longer than the default."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

from ecnlab import laws
from ecnlab._core import Scenario, SpecError
from ecnlab.base.quantities import TIMES, quantity

MINIMAL = """
format = 1
duration = "1 s"
link.a = {{ from = "server", to = "client", rate = "1 Gbps", delay = "1 ms", queue = "one" }}
flow.a = {{ from = "server", to = "client", traffic = "ftp" }}
queue.one = {{ discipline = "{}", limit = "100 packets" }}
"""


def raised(discipline: str, packet_s: float) -> Iterator[tuple[str, str, str]]:
    """Yield key, value and comment of each default below ``packet_s``, the transmission time of a full packet.

    On links so slow that the value would exceed the interval of the law, the default remains; `ecnlab check` warns of it.
    """
    for key, default, interval_s in _thresholds(discipline):
        if quantity(default) < packet_s < interval_s:
            least = f"{math.ceil(1e5 * packet_s - 1e-6) / 100:g} ms"
            yield key, f'"{least}"', f"a packet takes as long; the default, {default}, is shorter"


@cache
def _thresholds(discipline: str) -> list[tuple[str, str, float]]:
    """Keys and defaults of the delays above which the queue acts, and the interval that they must not exceed in s.

    Laws whose threshold has no default have one in packets.
    """
    acts = laws.facts("queue", discipline).get("acts_above", ())
    queue = _resolved(MINIMAL.format(discipline)) if acts else None
    if queue is None:
        return []
    interval_s = min((quantity(queue[key]) for key in ("interval", "rtt") if key in queue), default=math.inf)
    return [(key, value, interval_s) for key, value, _ in laws.acts_above(queue) if value.split()[1] in TIMES]


def _resolved(text: str) -> dict[str, Any] | None:
    """Return the queue of the scenario, with a limit or without one; None if it requires other keys."""
    for one in (text, text.replace(', limit = "100 packets"', "")):
        with contextlib.suppress(SpecError):
            return dict(Scenario("sketch.toml", one).resolved["queue"]["one"])
    return None
