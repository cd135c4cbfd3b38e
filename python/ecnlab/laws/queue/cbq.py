"""Class-based queueing. Linux had it until 2023."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    rates = [f"{name} {share['rate']}, maxburst {share['maxburst']}" for name, share in queue["sharing"].items()]
    return ["; ".join(rates)]


LAW: Final = Queue(label="CBQ", says=_says)
