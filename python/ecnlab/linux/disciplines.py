"""The scenario's queues as the kernel's queue disciplines, in the syntax of ``tc``.

Features that the kernel's discipline lacks are rejected; approximations are reported to the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ecnlab import laws
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.twin import Twin

FIXED: Final = {"admit": "fits", "forced": "arriving", "mark_at": "tail"}
"""Keys of every queue that the kernel leaves no choice."""


def qdisc(queue: Mapping[str, Any], name: str, rate_bps: int | None, found: Findings) -> str:
    """Return the arguments after ``tc qdisc add ... handle 10:`` for a ``[queue.NAME]`` at a link of ``rate_bps``."""
    path = f"queue.{name}"
    _check_fixed(queue, path, found)
    law = queue["discipline"]
    words = laws.discipline(law).qdisc
    if words is None:
        there = _listed(other for other, known in laws.queues().items() if known.qdisc)
        found.refuse(f"{path}.discipline", f"`{path}`: the Linux engine has no `{law}`", f"it has {there}")
        return ""
    return words(queue, path, rate_bps, found)


def tc_words(queue: Mapping[str, Any], name: str, rate_bps: int | None, found: Findings) -> str:
    """Return the words of `qdisc` for a ``tc`` that has every discipline; "" for one that Linux lacks."""
    law = laws.discipline(queue["discipline"])
    words = qdisc(queue, name, rate_bps, found)
    if not law.attached:
        return words
    return law.tc(queue, f"queue.{name}", found) if law.tc and not found.any() else ""


def twin(queue: Mapping[str, Any], path: str, found: Findings) -> Twin:
    """Return the kernel's discipline that treats every packet exactly like the queue ``queue`` at ``path``.

    Only disciplines without random numbers have one.
    """
    _check_fixed(queue, path, found)
    law = queue["discipline"]
    make = laws.discipline(law).twin
    if make is None:
        there = _listed(other for other, known in laws.queues().items() if known.twin)
        message = f"`{path}`: no discipline of the kernel treats every packet as `{law}` does"
        found.refuse(f"{path}.discipline", message, f"there is one for {there}: they draw no random numbers")
        return Twin("")
    return make(queue, path, lambda inner, at: _inner(inner, at, found), found)


def _inner(queue: Mapping[str, Any], path: str, found: Findings) -> Twin:
    made = twin(queue, path, found)
    if made.attached:
        found.refuse(path, f"`{path}`: tc does not know the kernel's discipline", "make it the queue of the link")
    return made


def _check_fixed(queue: Mapping[str, Any], path: str, found: Findings) -> None:
    for key, only in FIXED.items():
        if queue.get(key, only) != only:
            found.refuse(
                f"{path}.{key}", f"`{path}.{key}`: the kernel supports only `{only}`", f'write {key} = "{only}"'
            )


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}"
