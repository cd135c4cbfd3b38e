"""The log of another implementation: JSON lines with a header."""

from __future__ import annotations

import difflib
import json
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ecnlab.base import user_files
from ecnlab.base.errors import EcnlabError
from ecnlab.base.threads import interruptible
from ecnlab.vectors.vector import Vector, names, vector

MAX_LOG_BYTES: Final = 64 * 2**20
"""Largest log, in bytes; vectors have at most 200 kB."""
FREE: Final = "x_"
"""Start of the names of fields that are not compared."""

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """An event of a log."""

    number: int
    """Its line in the file, from 1."""
    event: Event


@dataclass(frozen=True, slots=True)
class Log:
    """A log that can be compared with its vector."""

    path: Path
    vector: Vector
    lines: Sequence[Line]


def read(path: Path) -> Log:
    """Return the log in ``path``. Raises EcnlabError with file, line and remedy if its form is wrong; OSError."""
    data = _content(path)
    if len(data) > MAX_LOG_BYTES:
        raise EcnlabError(f"{path} has more than {MAX_LOG_BYTES} bytes: it is not the log of a vector")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EcnlabError(f"{path} is not UTF-8 at byte {error.start}: write JSON lines in UTF-8") from None
    objects = [(at, _object(path, at, line)) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not objects:
        raise EcnlabError(f"{path} is empty: the first line is a header, {_example(names()[0], 1)}")
    (at, first), *rest = objects
    chosen = _vector(path, at, first)
    if not rest:
        raise EcnlabError(f"{path} has a header and no events: write an object for each event behind it")
    return Log(path, chosen, [Line(number, event) for number, event in rest])


def _content(path: Path) -> bytes:
    """The first bytes of ``path``, at most one more than `MAX_LOG_BYTES`; ``-`` is standard input."""
    if str(path) == "-":
        return interruptible(lambda: sys.stdin.buffer.read(MAX_LOG_BYTES + 1)).removeprefix(BOM_UTF8)
    return user_files.read(path, "the log of a vector", MAX_LOG_BYTES).removeprefix(BOM_UTF8)


def _object(path: Path, at: int, line: str) -> Event:
    try:
        value = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise EcnlabError(f"{path}:{at}: not JSON ({error}): write one JSON object in each line") from None
    if not isinstance(value, dict):
        raise EcnlabError(f"{path}:{at}: not an object: write one JSON object in each line")
    return value


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _example(name: str, version: int) -> str:
    return json.dumps({"vector": name, "version": version})


def _vector(path: Path, at: int, first: Event) -> Vector:
    """Return the vector that the header names, in the version that there is."""
    name, version = first.get("vector"), first.get("version")
    if not isinstance(name, str):
        raise EcnlabError(f"{path}:{at}: no `vector`: the first line is a header, {_example(names()[0], 1)}")
    try:
        found = vector(name)
    except EcnlabError as error:
        raise EcnlabError(f"{path}:{at}: {error}") from None
    if version != found.version or isinstance(version, bool):
        help_ = f"export it again (`ecnlab vectors export {name}`) and compare with that version"
        raise EcnlabError(
            f"{path}:{at}: version {json.dumps(version)} of `{name}`, but this is version {found.version}: {help_}"
        )
    return found


def refuse_malformed(log: Log, expected: Iterable[Event]) -> None:
    """Raise EcnlabError for the first line of ``log`` with an unknown event or field, a wrong type or an earlier time."""
    known: dict[str, Event] = {}
    for event in expected:
        merged = known.setdefault(event["event"], {})
        merged.update({key: value for key, value in event.items() if value is not None or key not in merged})
    before = 0
    for line in log.lines:
        where = f"{log.path}:{line.number}"
        kind = line.event.get("event")
        if not isinstance(kind, str) or kind not in known:
            raise EcnlabError(f"{where}: `event` is {json.dumps(kind)}: in `{log.vector.name}` it is {_or(known)}")
        for field, value in line.event.items():
            _refuse_field(where, kind, field, value, known[kind])
        time = line.event.get("time_ns")
        if time is not None:
            if time < before:
                raise EcnlabError(
                    f"{where}: `time_ns` {time} is before {before}, that of an earlier line: sort events by their time"
                )
            before = time


def _refuse_field(where: str, kind: str, field: str, value: object, known: Mapping[str, Any]) -> None:
    if field.startswith(FREE):
        return
    if field not in known:
        near = difflib.get_close_matches(field, known, n=1, cutoff=0.5)
        help_ = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
        raise EcnlabError(f"{where}: `{kind}` has no field `{field}`: {help_} (fields of your own begin with `{FREE}`)")
    sample = known[field]
    wanted = type(sample)
    if value is not None and sample is not None and (type(value) is not wanted):
        names_ = {bool: "true or false", int: "an integer", str: "a string"}
        raise EcnlabError(f"{where}: `{field}` is {json.dumps(value)}: write {names_[wanted]}")


def _or(values: Iterable[str]) -> str:
    return " or ".join(f'"{value}"' for value in values)
