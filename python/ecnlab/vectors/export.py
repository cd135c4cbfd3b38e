"""Vectors as files: JSON lines, qlog and pcapng."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

from ecnlab._core import __version__
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.folder.outputs import refuse_output, write_named
from ecnlab.folder.verified import read_files, refuse_other_kind, write_files
from ecnlab.scenario.built import toml_value
from ecnlab.vectors.events import Event, events, events_and_capture
from ecnlab.vectors.qlog import qlog
from ecnlab.vectors.vector import Vector

Format = Literal["jsonl", "qlog", "pcapng"]
FORMATS: Final[tuple[Format, ...]] = ("jsonl", "qlog", "pcapng")
"""Ends of the names of files."""

STORED: Final = "vectors"
"""Value of `kind` in the ``files.json`` of a folder of vectors."""

AND: Final = " && "
"""Between the commands that wrote a folder."""


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

    ``overrides`` sets dotted keys of the scenario. Raises SpecError for a key or value that is not possible,
    EcnlabError if a file exists with another content, and OSError.
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
    written = {folder / f"{vector.name}.{name}": content[name]() for name in formats}
    store(folder, written, _remake(vector, folder, formats, overrides))
    return list(written)


def store(folder: Path, written: Mapping[Path, bytes], remake: str) -> None:
    """Write files into ``folder``, with their digests; ``remake`` is the command that writes them again.

    Raises EcnlabError if a file exists with another content, and OSError.
    """
    for path, data in written.items():
        _refuse_replacing(path, data)
    folder.mkdir(parents=True, exist_ok=True)
    for path, data in written.items():
        write_named(path, data, [path.suffix], own=folder)
    _record(folder, [path.name for path in written], remake)


def _refuse_replacing(path: Path, data: bytes) -> None:
    """Raise EcnlabError if ``path`` cannot be written, or has another content and is not known to be damaged."""
    refuse_output(path, [path.suffix], own=path.parent)
    refuse_other_kind(path.parent, STORED)
    if not path.is_file() or (path.stat().st_size == len(data) and path.read_bytes() == data):
        return
    with suppress(OSError, FolderError):
        if not read_files(path.parent).is_intact(path.name):
            return
    raise EcnlabError(f"{path} exists with another content: choose another folder with --out")


def _record(folder: Path, names: Sequence[str], remake: str) -> None:
    """Write the digests of the files ``names``, and of those of earlier exports, into ``folder``."""
    before: dict[str, str] = {}
    commands = [remake]
    with suppress(OSError, FolderError):
        files = read_files(folder)
        before = {name: digest for name, digest in files.digests.items() if name not in names}
        commands = list(dict.fromkeys([*files.remake.split(AND), remake]))
    write_files(folder, STORED, names, AND.join(commands), before)


def _remake(vector: Vector, folder: Path, formats: Sequence[Format], overrides: Mapping[str, object] | None) -> str:
    """Return the command that writes the files of ``vector`` again; without overrides it writes those of all vectors."""
    words = ["ecnlab", "vectors", "export", *([vector.name] if overrides else []), "--out", str(folder)]
    words += [] if set(formats) == set(FORMATS) else [word for name in formats for word in ("--format", name)]
    words += [word for key, value in (overrides or {}).items() for word in ("--set", f"{key}={toml_value(value, key)}")]
    return shlex.join(words)
