"""REM (Athuraliya et al. 2001). Linux has no such discipline."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table
from ecnlab.laws.queue.pi import COLUMNS


def _says(queue: Table) -> list[str]:
    return [f"target {queue['target']}", f"gamma {queue['gamma']:g}", f"phi {queue['phi']:g}"]


LAW: Final = Queue(label="REM", says=_says, columns=COLUMNS)
