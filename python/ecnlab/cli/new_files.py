"""Files that a command writes for the user to edit: an existing file is not replaced."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ecnlab.base.errors import EcnlabError
from ecnlab.cli import console
from ecnlab.folder.outputs import refuse_output, write_named


def write_new(files: Mapping[Path, bytes], other: str) -> None:
    """Write ``files``, contents by path, and print each path.

    Raises EcnlabError before the first is written if one exists with another content; ``other`` is what the user can
    choose with ``--out`` instead, "file" or "folder".
    """
    for path, content in files.items():
        refuse_output(path, [path.suffix])
        if path.is_file() and not _is(path, content):
            raise EcnlabError(f"{path} exists with another content: choose another {other} with --out")
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_named(path, content, [path.suffix])
        console.say(str(path))


def _is(path: Path, content: bytes) -> bool:
    return path.stat().st_size == len(content) and path.read_bytes() == content
