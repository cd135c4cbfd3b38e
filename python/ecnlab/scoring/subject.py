"""The queue, TCP or QUIC stack that a card is about, with its parameters.

It is a built-in law, a QUIC stack with a controller, a table of a scenario, or a Python class.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ecnlab import _core, laws
from ecnlab.base.errors import EcnlabError, SpecError
from ecnlab.base.guesses import guess_law
from ecnlab.base.user_files import refuse_special
from ecnlab.runs.scenario_files import with_paths
from ecnlab.scenario import sketched
from ecnlab.scenario.built import toml_text
from ecnlab.scenario.files import read_scenario, read_text
from ecnlab.scoring.sheet import SUBJECT, Kind, Sheet
from ecnlab.scoring.sheet import built_in as built_in_sheet

RATE: Final = "10 Mbps"
RTT: Final = "100 ms"
"""Rate and RTT for which required keys, such as thresholds, are chosen: those of most scenarios of the sheet."""

DEFAULT: Final = "default"
"""The queue or TCP of links and flows that name none: not the subject of a scenario file that has another."""

PROFILE: Final = "modern"
"""The profile of scenarios that name none."""

OF_SENDERS: Final = ("congestion", "sender", "window law")

FAMILIES: Final[Mapping[Kind, tuple[str, str, str]]] = {
    "aqm": ("queue", "queue", "queue discipline"),
    "cc": OF_SENDERS,
    "l4s": OF_SENDERS,
}
"""The family of laws in the registry, that of their lines for `ecnlab new`, and a law in words."""

TABLES: Final[Mapping[Kind, str]] = {"aqm": "queue", "cc": "tcp", "l4s": "tcp"}
"""The tables of a scenario that subjects are in; senders are in `QUIC`, too."""

QUIC: Final = "quic"
STACK: Final = f"{QUIC}:"
"""Beginning of an argument that names a QUIC stack and its controller."""

OVER_QUIC: Final[Mapping[str, Any]] = {
    "format": 1,
    "title": "A flow over QUIC",
    "duration": "1 s",
    "link": {"wire": {"from": "server", "to": "client", "rate": RATE, "delay": "10 ms"}},
    "flow": {"bulk": {"from": "server", "to": "client", "traffic": "ftp", "quic": SUBJECT}},
}
"""A scenario in which a QUIC stack is checked."""

LAW: Final[Mapping[Kind, str]] = {"aqm": "discipline", "cc": "congestion", "l4s": "congestion"}
"""The key of such a table that names the law."""

NAMED: Final[Mapping[Kind, str]] = {"aqm": "queues", "cc": "senders", "l4s": "senders"}
"""Several such tables in words."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A queue, a TCP or a QUIC stack with its parameters."""

    name: str
    label: str
    source: str
    """Where the parameters are from, in words."""
    parameters: Mapping[str, Any]
    """The table ``[queue.NAME]`` without ``limit``, ``[tcp.NAME]`` with its profile, or ``[quic.NAME]``; paths of Python files in it are absolute, or as `seen_from` makes them."""
    argument: str
    """What a command names it by."""
    inner_limits: bool = False
    """Whether the limits of inner queues follow the limit of the queue."""
    own_limit: bool = False
    """Whether the queue keeps its own limit, as CAKE does: Linux has none in packets."""
    quic: bool = False
    """Whether it is a QUIC stack."""

    def seen_from(self, folder: Path) -> Subject:
        """The subject with the paths of its Python files relative to ``folder``."""
        here = folder.resolve()
        return replace(self, parameters=with_paths(self.parameters, lambda path: Path(os.path.relpath(path, here))))

    def table(self, limit: int) -> dict[str, Any]:
        """The table of the queue with a limit of ``limit`` packets unless it keeps its own, and a record of quantiles."""
        if self.own_limit:
            return {**self.parameters, "quantiles": True}
        found = {**self.parameters, "limit": f"{limit} packets", "quantiles": True}
        if self.inner_limits and "class" in found:
            inner = {name: {**one, "limit": f"{limit} packets"} for name, one in found["class"].items()}
            found["class"] = inner
        return found


def subjects(sheet: Sheet, one: Subject, against: str | None = None) -> dict[str, Subject]:
    """By arm: ``one``, the reference of ``sheet`` or the built-in law ``against``, and the incumbents of ``sheet``."""
    names = (against or sheet.against, *sheet.incumbents)
    others = (built_in(name, sheet.kind) for name in names)
    return {SUBJECT: one, **dict(zip(sheet.arms[1:], others, strict=True))}


def subject(argument: str, kind: Kind = "aqm") -> Subject:
    """The subject that ``argument`` names: ``NAME``, ``quic:STACK/CONTROLLER``, ``FILE.toml``, ``FILE.toml:NAME`` or ``FILE.py:CLASS``.

    Raises EcnlabError for an unknown name and a file without such a table, SpecError for a file that is no scenario,
    OSError.
    """
    path, _, name = argument.rpartition(":")
    if argument.startswith(STACK) and kind != "aqm":
        return _of_stack(argument)
    if argument.endswith(".toml"):
        return _of_scenario(Path(argument), None, kind)
    if path.endswith(".toml"):
        return _of_scenario(Path(path), name, kind)
    if path.endswith(".py"):
        return _of_class(Path(path), name, argument, kind)
    if argument.endswith(".py"):
        raise EcnlabError(f"{argument}: no class is named: write {argument}:CLASS")
    return built_in(argument, kind)


def built_in(name: str, kind: Kind = "aqm") -> Subject:
    """The built-in queue discipline or window law ``name``.

    A queue has its defaults, with the keys that it requires as `ecnlab new` writes them. A TCP is that of `ecnlab new`. Raises
    EcnlabError for an unknown name.
    """
    words = FAMILIES[kind][2]
    known = names(kind)
    if name not in known:
        remedy = guess_law(name, known) or f"; there are {', '.join(known)}"
        raise EcnlabError(f"there is no {words} {name!r}{remedy}; a file ends in .toml, or is FILE.py:CLASS")
    return _queue(name) if kind == "aqm" else _sender(name)


def names(kind: Kind) -> list[str]:
    """Names of the built-in laws that cards of ``kind`` can be about, in the order of the registry."""
    family, sketches, _words = FAMILIES[kind]
    return [one for one in _core.laws()[family] if "copy" not in sketched.sketched(sketches, one)]


def _sender(name: str) -> Subject:
    sketch = sketched.sketch(RATE, RTT, sketched.SKETCHES["default"]["queue"], name, "1 s")
    scenario = tomllib.loads(sketched.text(sketch))
    table = {"profile": scenario["profile"], **scenario["tcp"][name]}
    return Subject(name, laws.label("congestion", name), "as ecnlab new writes it", table, name)


def _queue(name: str) -> Subject:
    sketch = sketched.sketch(RATE, RTT, name, sketched.SKETCHES["default"]["senders"], "1 s")
    table = tomllib.loads(sketched.text(replace(sketch, defaults=True)))["queue"]["bottleneck"]
    source = f"the defaults; required keys as ecnlab new writes them for {RATE} and {RTT}"
    own = "limit" not in table
    return Subject(
        name, laws.label("queue", name), source, _without_limit(table), name, inner_limits=True, own_limit=own
    )


def _of_stack(argument: str) -> Subject:
    stack, _, controller = argument.removeprefix(STACK).partition("/")
    if not (stack and controller):
        raise EcnlabError(f"{argument}: names no stack with a controller: write {STACK}STACK/CONTROLLER")
    table = {"stack": stack, "congestion": controller}
    try:
        _core.Scenario(argument, toml_text({**OVER_QUIC, QUIC: {SUBJECT: table}}))
    except SpecError as error:
        first = error.diagnostics[0]
        raise EcnlabError("; ".join(filter(None, (f"{argument}: {first['message']}", first["help"])))) from error
    source = "all other keys have their defaults"
    return Subject(f"{stack}-{controller}", f"{stack}/{controller}", source, table, argument, quic=True)


def _of_class(path: Path, name: str, argument: str, kind: Kind) -> Subject:
    if not name.isidentifier():
        raise EcnlabError(f"{argument}: {name!r} is no name of a class: write {path}:CLASS")
    refuse_special(path, "a Python file", twice=True)
    if not path.is_file():
        raise EcnlabError(f"{path}: there is no such file: write FILE.py:CLASS")
    law = {"python": f"{path.resolve()}:{name}"}
    if kind == "aqm":
        table = {"discipline": law, "ecn": True}
    else:
        table = {**_sender(built_in_sheet(kind).python_base).parameters, "congestion": law}
    return Subject(name, name, f"the class {name} of {path}", table, f"{path.resolve()}:{name}")


def _of_scenario(path: Path, name: str | None, kind: Kind) -> Subject:
    scenario = read_scenario(path)
    family, _sketches, words = FAMILIES[kind]
    text = tomllib.loads(read_text(path))
    table_of = TABLES[kind]
    tables = text.get(table_of, {})
    stacks = {} if kind == "aqm" else text.get(QUIC, {})
    if both := sorted({*tables} & {*stacks}):
        raise EcnlabError(f"{path}: has both [{table_of}.{both[0]}] and [{QUIC}.{both[0]}]: rename one")
    tables = {**tables, **stacks}
    there = [one for one in tables if one != DEFAULT] or list(tables)
    if not there:
        raise EcnlabError(f"{path}: has no table [{table_of}.NAME]: add one, or name a built-in {words}")
    if name is None and len(there) > 1:
        raise EcnlabError(f"{path}: has the {NAMED[kind]} {', '.join(there)}: write {path}:{there[0]}")
    chosen = there[0] if name is None else name
    if chosen not in tables:
        either = "" if kind == "aqm" else f" or [{QUIC}.{chosen}]"
        raise EcnlabError(f"{path}: has no table [{table_of}.{chosen}]{either}; there are {', '.join(there)}")
    table = with_paths(_without_limit(tables[chosen]), lambda law: (path.parent / law).resolve())
    where = f"{path.resolve()}:{chosen}"
    if chosen in stacks:
        label = "{stack}/{congestion}".format_map(scenario.resolved[QUIC][chosen])
        return Subject(chosen, label, f"the table [{QUIC}.{chosen}] of {path}", table, where, quic=True)
    if kind != "aqm":
        table = {"profile": text.get("profile", PROFILE), **table}
    law = scenario.resolved[table_of].get(chosen, table).get(LAW[kind])
    label = laws.label(family, law) if isinstance(law, str) else chosen
    own = kind == "aqm" and "limit" not in tables[chosen]
    return Subject(chosen, label, f"the table [{table_of}.{chosen}] of {path}", table, where, own_limit=own)


def _without_limit(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in ("limit", "quantiles")}


def uses_ecn(sender: Mapping[str, Any]) -> bool:
    """Whether a resolved TCP or QUIC stack uses ECN."""
    return sender["ecn"] not in ("off", False)


def marks(queue: Mapping[str, Any]) -> bool:
    """Whether a resolved queue, or one in it, marks."""
    return bool(queue.get("ecn")) or any(marks(inner) for inner in queue.get("class", {}).values())
