"""CAKE (Linux's ``sch_cake``).

It has no line for ``tc`` yet; quanta are rounded by chance in the kernel.
"""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    rate = f"rate {queue['rate']}" if "rate" in queue else "unlimited"
    return [rate, f"rtt {queue['rtt']}", queue["diffserv"], queue["isolation"]]


LAW: Final = Queue(label="CAKE", says=_says)
