"""Packets that come to a queue: drawn at random, as bursts of all sizes and codepoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

BURST: Final = (1, 40)
"""Packets that come at one instant."""

BYTES: Final = (40, 1500)
"""Sizes of packets."""

LOAD: Final = (0.5, 2.0)
"""How many times what the line carries comes, in the mean of a trace."""

FLOWS: Final = (1, 12)
"""Flows of a trace."""


class Arrival(NamedTuple):
    """A packet that comes."""

    at_ns: int
    length: int
    """Bytes from IP's header on."""
    tos: int
    """The octet with DSCP and codepoint."""
    group: int
    """Its flow group, by its place in the run's list."""
    flow: int


def drawn(seed: int, rate_bps: int, count: int, *, groups: int = 1, dscps: Sequence[int] = (0,)) -> list[Arrival]:
    """``count`` packets for a line of ``rate_bps``: the same for the same arguments.

    Bursts of random lengths come after pauses with an exponential distribution. Sizes are, by halves, of any number of
    bytes, and the smallest or the largest. Each packet has a codepoint and a DSCP of its own, and belongs to one of some
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
