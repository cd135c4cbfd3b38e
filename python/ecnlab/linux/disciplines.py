"""The scenario's queues as the kernel's queue disciplines, in the words of ``tc``.

What the kernel's discipline cannot do is refused; where it is near but not the same, the caller is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ecnlab import laws
from ecnlab.linux.findings import Findings

FIXED: Final = {"admit": "fits", "forced": "arriving", "mark_at": "tail"}
"""Keys of every queue that the kernel leaves no choice."""


def qdisc(queue: Mapping[str, Any], name: str, rate_bps: int | None, found: Findings) -> str:
    """What follows ``tc qdisc add ... handle 10:`` for the ``[queue.NAME]`` in front of a link of ``rate_bps``."""
    path = f"queue.{name}"
    for key, only in FIXED.items():
        if queue.get(key, only) != only:
            found.refuse(f"{path}.{key}", f"`{path}.{key}`: the kernel knows only `{only}`", f'write {key} = "{only}"')
    if queue.get("quantiles"):
        found.refuse(f"{path}.quantiles", f"`{path}.quantiles`: the kernel tells no sojourn times", "leave it out")
    law = queue["discipline"]
    words = laws.discipline(law).qdisc
    if words is None:
        *others, last = (other for other, known in laws.queues().items() if known.qdisc)
        there = f"{', '.join(others)} and {last}"
        found.refuse(f"{path}.discipline", f"`{path}`: the Linux engine has no `{law}`", f"it has {there}")
        return ""
    return words(queue, path, rate_bps, found)
