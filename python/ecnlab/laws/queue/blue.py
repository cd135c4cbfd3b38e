"""BLUE (Feng et al. 1999). Linux has no such discipline; CAKE has BLUE inside."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table
from ecnlab.laws.queue.pi import COLUMNS


def _says(queue: Table) -> list[str]:
    return [f"+{queue['increment']:g}, -{queue['decrement']:g}", f"freeze time {queue['freeze_time']}"]


LAW: Final = Queue(label="BLUE", says=_says, columns=COLUMNS)
