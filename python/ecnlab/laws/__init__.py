"""Facts about each law: from the Rust registry, from Linux and from the closed forms.

The facts of a law (its name in reports, its summary, its columns) are in its Rust file; ``ecnlab._core.laws`` returns
them. Its Linux counterpart and closed form are in a file here, in the folder of the law's family; a law with neither has
no file. A file's name is the law's, with ``_`` for ``-`` and ``_plus`` for ``+``.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar

from ecnlab import _core
from ecnlab.laws.kinds import Column, Feedback, Queue, Recovery, Table, Window

FAMILIES: Final = {"queue": Queue, "congestion": Window, "recovery": Recovery, "ecn": Feedback}
"""Families of laws with a Linux counterpart or a closed form, and the class that describes a member."""

Kind = TypeVar("Kind", Queue, Window, Recovery, Feedback)


def queues() -> Mapping[str, Queue]:
    """Queue disciplines with a file here, by their name in scenarios."""
    return _family("queue", Queue)


def windows() -> Mapping[str, Window]:
    """Window laws with a file here."""
    return _family("congestion", Window)


def recoveries() -> Mapping[str, Recovery]:
    """Loss recovery schemes with a file here."""
    return _family("recovery", Recovery)


def feedbacks() -> Mapping[str, Feedback]:
    """ECN feedback schemes with a file here."""
    return _family("ecn", Feedback)


def discipline(name: str) -> Queue:
    """Return the Linux counterpart and closed form of the queue discipline ``name``; empty if it has no file here."""
    return _member("queue", Queue, name) or Queue()


def facts(family: str, name: str) -> dict[str, Any]:
    """Return the facts of a law from ``_core.laws``; empty for a law that the core does not know."""
    return _known()[family].get(name, {})


def label(family: str, name: str) -> str:
    """Return a law's name in reports, or its name in scenarios if the core does not know it."""
    return str(facts(family, name).get("label", name))


def columns(table: str) -> dict[str, Column]:
    """Return the columns that laws add to ``table``, by name, in the order of the registry."""
    having: dict[str, list[str]] = {}
    found: dict[str, Column] = {}
    for law, facts in _all():
        for name, (unit, meaning, fraction, above_one) in facts["columns"].get(table, {}).items():
            found.setdefault(name, Column(unit, meaning, fraction=fraction, above_one=above_one))
            having.setdefault(name, []).append(f"`{law}`")
    return {
        name: column._replace(meaning=f"{column.meaning}; of {_listed(having[name])}") for name, column in found.items()
    }


def shown(queue: Table) -> list[str]:
    """Return the keys and values with which one line describes a queue. ``queue`` is a resolved ``[queue.NAME]``."""
    paths = facts("queue", queue["discipline"]).get("shown", ())
    return [words for path in paths for words in _at(queue, path.split("."))]


def acts_above(queue: Table) -> list[tuple[str, str, str]]:
    """Return the delays and lengths above which a queue acts: key, value, and the effect if one packet exceeds it."""
    known = facts("queue", queue["discipline"]).get("acts_above", ())
    if not known:
        return []
    own = discipline(queue["discipline"]).acts_above
    values = own(queue) if own else queue
    return [(key, values[key], consequence) for key, consequence in known if key in values]


def _at(table: Any, path: list[str]) -> Iterator[str]:
    """Yield ``key value`` for each match of a path in a table, with the names matched by ``*``; missing keys are skipped."""
    first, *rest = path
    if first == "*":
        for name, inner in table.items():
            yield from (f"{name} {words}" for words in _at(inner, rest))
    elif first in table and rest:
        yield from _at(table[first], rest)
    elif first in table:
        yield first if isinstance(table[first], dict) else f"{first} {table[first]}"


def _listed(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _all() -> Iterator[tuple[str, Mapping[str, Any]]]:
    return (law for members in _known().values() for law in members.items())


@cache
def _known() -> dict[str, dict[str, dict[str, Any]]]:
    return _core.laws()


@cache
def _family(family: str, kind: type[Kind]) -> Mapping[str, Kind]:
    members = {name: _member(family, kind, name) for name in _known()[family]}
    return {name: law for name, law in members.items() if law is not None}


def _member(family: str, kind: type[Kind], name: str) -> Kind | None:
    """Return the facts in the file of one law, which is imported; None if it has no file here."""
    if name not in _known()[family] or _module(name) not in _files(family):
        return None
    module = f"{__name__}.{family}.{_module(name)}"
    law = import_module(module).LAW
    if not isinstance(law, kind):
        raise TypeError(f"{module}.LAW must be a {kind.__name__}")
    return law


@cache
def _files(family: str) -> set[str]:
    folder = import_module(f"{__name__}.{family}")
    return {module.name for module in pkgutil.iter_modules(folder.__path__)}


def _module(name: str) -> str:
    return name.replace("-", "_").replace("+", "_plus")
