"""Hierarchical token bucket. Linux has it, with filters that the Linux engine has not."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Queue, Table


def _says(queue: Table) -> list[str]:
    rates = [
        f"{name} {share['rate']} to {share.get('ceil', share['rate'])}" for name, share in queue["sharing"].items()
    ]
    return [", ".join(rates)]


LAW: Final = Queue(label="HTB", says=_says)
