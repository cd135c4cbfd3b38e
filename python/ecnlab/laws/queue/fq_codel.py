"""FQ-CoDel (RFC 8290)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    return [f"target {queue['target']}", f"interval {queue['interval']}", f"quantum {queue['quantum']}"]


LAW: Final = Queue(label="FQ-CoDel", says=_says)
