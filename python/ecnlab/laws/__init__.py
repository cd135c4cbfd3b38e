"""What is known of each law.

The facts of a law (its name in reports, what it does, its columns) stand in its Rust file, and the core hands them out
(``ecnlab._core.laws``). What Linux and the closed forms have of it stands in a file here, in the folder of the law's
family; a law that they have not has none. A file's name is the law's, with ``_`` for ``-`` and ``_plus`` for ``+``.
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
"""The registry's families that Linux or the closed forms have something of, and what a member's file has."""

Kind = TypeVar("Kind", Queue, Window, Recovery, Feedback)


def queues() -> Mapping[str, Queue]:
    """The queue disciplines that have a file, by the name that a scenario gives them."""
    return _family("queue", Queue)


def windows() -> Mapping[str, Window]:
    """The window laws that have a file."""
    return _family("congestion", Window)


def recoveries() -> Mapping[str, Recovery]:
    """The loss recovery schemes that have a file."""
    return _family("recovery", Recovery)


def feedbacks() -> Mapping[str, Feedback]:
    """The ECN feedback schemes that have a file."""
    return _family("ecn", Feedback)


def discipline(name: str) -> Queue:
    """What Linux and the closed forms have of the queue discipline called ``name``; nothing if it has no file."""
    return queues().get(name, Queue())


def facts(family: str, name: str) -> dict[str, Any]:
    """The facts of a law, as ``_core.laws`` has them; none of a law that the core does not know."""
    return _known()[family].get(name, {})


def label(family: str, name: str) -> str:
    """What reports call a law; one that the core does not know has the name that scenarios give it."""
    return str(facts(family, name).get("label", name))


def columns(table: str) -> dict[str, Column]:
    """The columns that laws add to ``table``, by name, in the order of the registry."""
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
    """The keys of a queue that a line about it has, each with its value. ``queue`` is a resolved ``[queue.NAME]``."""
    paths = facts("queue", queue["discipline"]).get("shown", ())
    return [words for path in paths for words in _at(queue, path.split("."))]


def acts_above(queue: Table) -> list[tuple[str, str, str]]:
    """The delays and lengths above which a queue acts: key, value, and what follows if one packet takes longer to send."""
    known = facts("queue", queue["discipline"]).get("acts_above", ())
    own = discipline(queue["discipline"]).acts_above
    values = own(queue) if own else queue
    return [(key, values[key], consequence) for key, consequence in known if key in values]


def _at(table: Any, path: list[str]) -> Iterator[str]:
    """``key value`` of what is at a path of a table, with the names that ``*`` stands for; nothing where it is left out."""
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
    folder = import_module(f"{__name__}.{family}")
    there = {module.name for module in pkgutil.iter_modules(folder.__path__)}
    found: dict[str, Kind] = {}
    for name in _known()[family]:
        if _module(name) not in there:
            continue
        law = import_module(f"{folder.__name__}.{_module(name)}").LAW
        if not isinstance(law, kind):
            raise TypeError(f"{folder.__name__}.{_module(name)}.LAW must be a {kind.__name__}")
        found[name] = law
    return found


def _module(name: str) -> str:
    return name.replace("-", "_").replace("+", "_plus")
