"""Arrivals at a queue: random packets in bursts, with all sizes and codepoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

BURST: Final = (1, 40)
"""Number of packets that arrive at the same time."""

BYTES: Final = (40, 1500)
"""Sizes of packets."""

LOAD: Final = (0.5, 2.0)
"""Mean load of a trace relative to the line's capacity."""

FLOWS: Final = (1, 12)
"""Flows of a trace."""


class Arrival(NamedTuple):
    """An arriving packet."""

    at_ns: int
    length: int
    """Bytes from IP's header on."""
    tos: int
    """The octet with DSCP and codepoint."""
    group: int
    """Its flow group, by index in the run's list."""
    flow: int


def drawn(seed: int, rate_bps: int, count: int, *, groups: int = 1, dscps: Sequence[int] = (0,)) -> list[Arrival]:
    """Return ``count`` packets for a line of ``rate_bps``: identical for identical arguments.

    Bursts of random lengths arrive after exponentially distributed pauses. Half of the sizes are any number of bytes,
    half are the smallest or the largest. Each packet has a random codepoint and DSCP, and belongs to one of several
    flows, each of one group.
    """
    rng = np.random.default_rng(seed)
    load, flows = rng.uniform(*LOAD), int(rng.integers(FLOWS[0], FLOWS[1] + 1))
    rows: list[Arrival] = []
    # An odd number: on no multiple of any clock's unit.
    now = int(rng.integers(1_000, 1_000_000)) | 1
    while len(rows) < count:
        burst = min(int(rng.integers(BURST[0], BURST[1] + 1)), count - len(rows))
        lengths = [_length(rng) for _ in range(burst)]
        for length in lengths:
            flow = int(rng.integers(flows))
            tos = int(rng.choice(np.asarray(dscps))) << 2 | int(rng.integers(4))
            rows.append(Arrival(now, length, tos, flow % groups, flow))
        pause = rng.exponential(sum(lengths) * 8e9 / rate_bps / load)
        now += 1 + int(pause)
    return rows


def _length(rng: np.random.Generator) -> int:
    if rng.random() < 0.5:
        return int(rng.choice(np.asarray(BYTES)))
    return int(rng.integers(BYTES[0], BYTES[1] + 1))
