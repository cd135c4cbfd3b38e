"""A law over one FIFO in a file of Python. Linux has no such discipline."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    return [f"law {queue['python']}"]


LAW: Final = Queue(label="a law in Python", says=_says)
