"""A test vector: a small scenario that isolates one rule of an RFC, read from ``scenarios/NAME.toml``."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from ecnlab._core import Scenario
from ecnlab.base.errors import EcnlabError

FOLDER: Final = Path(__file__).parent / "scenarios"
SEED: Final = 1
"""The seed of every vector. It chooses TCP's initial sequence numbers, which events do not contain."""

Kind = Literal["sender", "queue"]
"""``sender``: state after each ACK. ``queue``: fate of each packet."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that a vector tests, and the events and fields that it determines."""

    name: str
    source: str
    """RFC and section."""
    statement: str
    event: str | None = None
    """Kind of event; None: every kind."""
    when: Mapping[str, Any] | None = None
    """Values of fields of the expected event, such as ``{"phase": "reduction"}``; None: any."""
    fields: tuple[str, ...] = ()
    """Fields of the event; empty: all."""

    def covers(self, event: Mapping[str, Any], field: str) -> bool:
        """Return whether the rule determines ``field`` of the expected ``event``."""
        matches = all(event.get(key) == value for key, value in (self.when or {}).items())
        return self.event in (None, event["event"]) and matches and (not self.fields or field in self.fields)


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector without its events."""

    name: str
    version: int
    title: str
    shows: str
    kind: Kind
    rfcs: tuple[str, ...]
    """RFCs with sections."""
    feedback: str | None
    """How ACKs report marks: ``ece`` or ``ace``; None: not at all."""
    columns: Mapping[str, int]
    """Further columns of ``flow_series`` in the state, each with the factor that makes its unit an integer."""
    rules: tuple[Rule, ...]
    """The first that covers a field of an event applies."""
    text: str
    """The scenario, a TOML text."""

    def scenario(self, overrides: Mapping[str, object] | None = None) -> Scenario:
        """Return the scenario, with the dotted keys ``overrides`` set. Raises SpecError."""
        read = Scenario(f"{self.name}.toml", self.text)
        return read.with_overrides(dict(overrides)) if overrides else read

    def rule(self, event: Mapping[str, Any], field: str) -> Rule:
        """Return the rule that determines ``field`` of the expected ``event``."""
        return next(rule for rule in self.rules if rule.covers(event, field))


@cache
def names() -> tuple[str, ...]:
    """The names of all vectors, in alphabetical order."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def vector(name: str) -> Vector:
    """Return the vector ``name``. Raises EcnlabError for an unknown name."""
    if name not in names():
        near = difflib.get_close_matches(name, names(), n=1)
        help_ = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names())}"
        raise EcnlabError(f"there is no vector `{name}`: {help_}")
    read = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return Vector(
        name=name,
        version=read["version"],
        title=read["title"],
        shows=read["shows"],
        kind=read["kind"],
        rfcs=tuple(read["rfcs"]),
        feedback=read.get("feedback"),
        columns=read.get("columns", {}),
        rules=tuple(Rule(**{**rule, "fields": tuple(rule.get("fields", ()))}) for rule in read["rule"]),
        text=read["scenario"].strip() + "\n",
    )
