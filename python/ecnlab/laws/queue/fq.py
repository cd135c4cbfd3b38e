"""Flow queues: flows hashed over queues that are all alike."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    return [f"{queue['flows']} queues", f"quantum {queue['quantum']}"]


LAW: Final = Queue(label="flow queues", says=_says)
