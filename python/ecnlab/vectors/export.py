"""Vectors as files: JSON lines, qlog and pcapng."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from ecnlab._core import __version__
from ecnlab.folder.atomic import write_named
from ecnlab.vectors.events import Event, events, events_and_capture
from ecnlab.vectors.qlog import qlog
from ecnlab.vectors.vector import Vector

Format = Literal["jsonl", "qlog", "pcapng"]
FORMATS: Final[tuple[Format, ...]] = ("jsonl", "qlog", "pcapng")
"""Ends of the names of files."""


def header(vector: Vector, overrides: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return the first line of the JSON lines: name, version, RFC sections, rules and scenario of ``vector``.

    With ``overrides`` it has these, too: the events are not those of the vector.
    """
    rules = [{"name": rule.name, "source": rule.source, "statement": rule.statement} for rule in vector.rules]
    return {
        "vector": vector.name,
        "version": vector.version,
        "title": vector.title,
        "shows": vector.shows,
        "kind": vector.kind,
        "rfcs": list(vector.rfcs),
        "rules": rules,
        "scenario": vector.text,
        **({"overrides": dict(overrides)} if overrides else {}),
        "ecnlab": __version__,
    }


def lines(vector: Vector, found: Iterable[Event], overrides: Mapping[str, object] | None = None) -> str:
    """Return the JSON lines of ``vector``: its header and an object for each event of ``found``."""
    objects = [header(vector, overrides), *found]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)


def export(
    vector: Vector,
    folder: Path,
    formats: Sequence[Format] = FORMATS,
    overrides: Mapping[str, object] | None = None,
) -> list[Path]:
    """Write ``vector`` into ``folder``, a file for each of ``formats``, and return the paths.

    ``overrides`` sets dotted keys of the scenario. Raises SpecError for a key or value that is not possible, and OSError.
    """
    capture = b""
    if "pcapng" in formats:
        found, capture = events_and_capture(vector, overrides)
    else:
        found = events(vector, overrides)
    content = {
        "jsonl": lambda: lines(vector, found, overrides).encode(),
        "qlog": lambda: qlog(vector, found).encode(),
        "pcapng": lambda: capture,
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in formats:
        path = folder / f"{vector.name}.{name}"
        write_named(path, content[name]())
        paths.append(path)
    return paths
