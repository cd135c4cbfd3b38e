"""What ``/proc`` says of processes that may end, or close a file, while it is read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def open_files(process: int) -> list[str]:
    """Where the open files of ``process`` lead; a file that closes meanwhile is left out."""
    found = []
    with suppress(OSError):
        for entry in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                found.append(str(entry.readlink()))
    return found


def children(process: int) -> list[int]:
    """The processes that any thread of ``process`` has started and that have not ended."""
    found = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(child) for child in file.read_text().split()]
    return found


def command(process: int) -> bytes:
    """The command line of ``process``, its words apart by zero bytes; nothing if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def has_ended(process: int) -> bool:
    """Whether ``process`` has ended, waited for or not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
