"""Numbers of replicates at which a sweep looks at its values to decide whether to stop. The file loads no NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

EARLY: Final = (4, 6, 9, 13)
"""The early looks, each with its own level of Student's t."""

LATER: Final = 17
"""Values from which on the confidence sequence has the interval."""

GROWTH: Final = 1.25
"""Ratio of the numbers of values at two later looks."""

LEAST: Final = EARLY[0]
"""Fewest values that decide, and default of the smallest number of replicates, as in ``crates/scenario/src/stop.rs``."""

MOST: Final = 100
"""Default of the largest number of replicates, as in ``crates/scenario/src/stop.rs``."""


def looks(least: int, most: int) -> Iterator[int]:
    """Yield the numbers of replicates at which one looks: those from ``least`` to below ``most``, and at the end ``most``.

    After the early looks they begin with `LATER`, or ``least`` if that is above, and grow by `GROWTH`.
    """
    yield from (n for n in EARLY if least <= n < most)
    n = max(least, LATER)
    while n < most:
        yield n
        n = int(n * GROWTH)
    yield most


def looked_at(n: int) -> int:
    """Return how many of ``n`` values the last interval has: up to `LATER` those of an early look; 0 before the first."""
    return n if n >= LATER else max((one for one in EARLY if one <= n), default=0)
