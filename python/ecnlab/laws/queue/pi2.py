"""PI2 (De Schepper et al. 2016)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import RISES, Queue, Table, own
from ecnlab.laws.queue.dualpi2 import COLUMNS


def _says(queue: Table) -> list[str]:
    return [f"target {queue['target']}", f"k {queue['coupling_factor']}"]


LAW: Final = Queue(label="PI2", says=_says, columns=COLUMNS, thresholds=own("target", RISES))
