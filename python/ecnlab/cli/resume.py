"""Messages for commands that continue after an interruption."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ecnlab.base.errors import Terminated
from ecnlab.cli import console


@contextlib.contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """After an interruption, report that no finished run is lost."""
    try:
        yield
    except (KeyboardInterrupt, Terminated):
        console.complain(f"finished runs are in {folder}: the same command continues")
        raise
