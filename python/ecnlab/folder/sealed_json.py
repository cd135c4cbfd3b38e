"""JSON files with their digest at the end: written, and read with a reason when they cannot be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import FolderError
from ecnlab.base.user_files import special
from ecnlab.folder import atomic, digests
from ecnlab.folder.atomic import write_bytes
from ecnlab.folder.names import REMEDY

_REMAKE: Final = re.compile(rb'"remake": "([^"\\\\\n]+)"')


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write ``value`` as JSON, readable by a person, with its digest at the end."""
    write_bytes(path, digests.seal(value))


def write_entries(path: Path, entries: Iterable[tuple[str, Any]]) -> None:
    """Write a JSON object of ``entries``, read one by one, with its digest at the end, as `write_json` does."""
    with atomic.whole_file(path) as file:
        digest = digests.Running(file)
        digest.write(b"{\n")
        for key, value in entries:
            digest.write(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)},\n".encode())
        digest.finish()


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON in ``path``, without its digest. Raises FolderError if it is invalid, or not as written; OSError."""
    data = _read_sealed(path)
    try:
        return digests.unseal(data)
    except (ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from error


def read_plain_json(path: Path) -> dict[str, Any]:
    """The JSON in ``path``, which may have no digest. Raises FolderError if it is none; OSError."""
    try:
        return digests.unseal(_content(path))
    except (ValueError, RecursionError) as error:
        raise FolderError(f"{path} is damaged ({error}): remove the folder and run again") from error


def _read_sealed(path: Path) -> bytes:
    data = _content(path)
    if digests.is_sealed(data):
        return data
    reason = "its digest is not that of its content" if digests.is_sealed(data) is False else _no_seal(data)
    raise damaged(path, reason)


def _content(path: Path) -> bytes:
    if kind := special(path):
        raise FolderError(f"{path} is damaged (it is {kind}): {REMEDY}")
    return path.read_bytes()


def damaged(path: Path, reason: str) -> FolderError:
    """Return the error for a damaged sealed file, with the command that the file names as its origin."""
    found = _REMAKE.search(path.read_bytes())
    command = found[1].decode(errors="replace") if found else ""
    remedy = (
        f"it names `{command}` as the command that makes it again" if command else "run the command that made it again"
    )
    return FolderError(f"{path} is damaged ({reason}): {remedy}; or remove the folder first")


def _no_seal(data: bytes) -> str:
    try:
        json.loads(data)
    except (ValueError, RecursionError) as error:
        return str(error)
    return "it has no digest"
