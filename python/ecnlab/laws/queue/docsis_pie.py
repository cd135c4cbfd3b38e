"""DOCSIS-PIE (RFC 8034), with PIE's columns. Linux has no such discipline."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import RISES, Queue, Table, own
from ecnlab.laws.queue.pie import COLUMNS


def _says(queue: Table) -> list[str]:
    return [f"target {queue['target']}"]


LAW: Final = Queue(label="DOCSIS-PIE", says=_says, columns=COLUMNS, thresholds=own("target", RISES))
