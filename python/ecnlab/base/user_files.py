"""Reading of the files that a user names: a FIFO is refused, because opening it waits for its writer, perhaps without end.

A file that is already open has no such wait: ``/dev/stdin`` and what a shell puts in place of ``<(command)`` are read once.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.threads import interruptible

_OPEN: Final = ("/dev/fd/", "/proc/self/fd/")
_STANDARD_INPUT: Final = "/dev/stdin"
_KINDS: Final = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def special(path: Path) -> str:
    """Return "a FIFO", "a socket" or "a device" if ``path`` is one, else nothing; also where it cannot be examined."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return next((name for is_kind, name in _KINDS if is_kind(mode)), "")


def refuse_special(path: Path, what: str, *, twice: bool = False) -> None:
    """Raise EcnlabError if ``path`` is a FIFO, a socket or a device instead of ``what``, such as "a TOML file".

    A pipe that is already open is accepted, but not if the file is read ``twice``.
    """
    kind = special(path)
    if not kind or (kind == "a FIFO" and not twice and _is_open(path)):
        return
    raise EcnlabError(f"{path}: is {kind}, not {what}: copy its content to a file and name that")


def read(path: Path, what: str, most: int) -> bytes:
    """Return at most ``most`` + 1 bytes of ``path``. Raises EcnlabError if it is not ``what`` but a FIFO, socket or device; OSError."""
    refuse_special(path, what)

    def content() -> bytes:
        with path.open("rb") as file:
            return file.read(most + 1)

    return interruptible(content)


def _is_open(path: Path) -> bool:
    name = os.fspath(path)
    return name == _STANDARD_INPUT or name.startswith(_OPEN)
