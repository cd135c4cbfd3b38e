"""What Python knows of each law: one file per law, in the folder of the law's family.

The core's registry (``ecnlab._core.laws``) says which laws there are. A law's file says how reports call it, and what
the Linux engine, the closed forms and the tables have of it; what it leaves out, they have not. A file's name is the law's,
with ``_`` for ``-`` and ``_plus`` for ``+``.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final, TypeVar

from ecnlab import _core
from ecnlab.errors import EcnlabError
from ecnlab.laws.kinds import Column, Feedback, Queue, Recovery, SlowStart, Window

FAMILIES: Final = {
    "queue": Queue,
    "congestion": Window,
    "slow_start": SlowStart,
    "recovery": Recovery,
    "ecn": Feedback,
}
"""The registry's families, and what the file of a member tells."""

Kind = TypeVar("Kind", Queue, Window, SlowStart, Recovery, Feedback)


def queues() -> Mapping[str, Queue]:
    """The queue disciplines, by the name that a scenario gives them."""
    return _family("queue", Queue)


def windows() -> Mapping[str, Window]:
    """The window laws."""
    return _family("congestion", Window)


def slow_starts() -> Mapping[str, SlowStart]:
    """The rules by which slow start ends."""
    return _family("slow_start", SlowStart)


def recoveries() -> Mapping[str, Recovery]:
    """The loss recovery schemes."""
    return _family("recovery", Recovery)


def feedbacks() -> Mapping[str, Feedback]:
    """The ECN feedback schemes."""
    return _family("ecn", Feedback)


def discipline(name: str) -> Queue:
    """The queue discipline called ``name``. Raises EcnlabError if it has no file here."""
    if name not in queues():
        raise EcnlabError(f"the queue `{name}` has no Python file: write ecnlab/laws/queue/{_module(name)}.py")
    return queues()[name]


def label(law: str, members: Mapping[str, Queue | Window | SlowStart | Recovery | Feedback]) -> str:
    """What reports call a law of a family; a law without a file has the name that scenarios give it."""
    return members[law].label if law in members else law


def columns(table: str) -> dict[str, Column]:
    """The columns that queue disciplines and window laws add to ``table``, by name."""
    if table == "flow_series":
        return {name: column for law in windows().values() for name, column in law.columns.items()}
    return {name: column for law in queues().values() for name, column in law.columns.get(table, {}).items()}


@cache
def _family(family: str, kind: type[Kind]) -> Mapping[str, Kind]:
    folder = import_module(f"{__name__}.{family}")
    there = {module.name for module in pkgutil.iter_modules(folder.__path__)}
    found: dict[str, Kind] = {}
    # In the order of the registry, which is that of columns.
    for name in _core.laws()[family]:
        if _module(name) not in there:
            continue
        law = import_module(f"{folder.__name__}.{_module(name)}").LAW
        if not isinstance(law, kind):
            raise TypeError(f"{folder.__name__}.{_module(name)}.LAW must be a {kind.__name__}")
        found[name] = law
    return found


def _module(name: str) -> str:
    return name.replace("-", "_").replace("+", "_plus")
