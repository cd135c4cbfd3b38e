"""Step marking. Linux has no such discipline by itself."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import LATE, Queue, Table, own


def _says(queue: Table) -> list[str]:
    return [f"threshold {queue['threshold']}"]


LAW: Final = Queue(label="step", says=_says, thresholds=own("threshold", LATE))
