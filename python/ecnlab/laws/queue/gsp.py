"""GSP (Lautenschlaeger 2016). Linux has no such discipline."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import LATE, Queue, Table, own


def _says(queue: Table) -> list[str]:
    return [f"threshold {queue['threshold']}", f"interval {queue['interval']}"]


LAW: Final = Queue(label="GSP", says=_says, thresholds=own("threshold", LATE))
