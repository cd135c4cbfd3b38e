"""Locks of open files that end with the process that holds them.

Systems without ``fcntl`` (Windows) have no such locks. There two processes that write into one folder are not detected,
and scratch folders of killed processes remain.
"""

from __future__ import annotations

from importlib.util import find_spec


def exist() -> bool:
    """Return whether this system has locks."""
    return find_spec("fcntl") is not None


def acquire(descriptor: int, *, wait: bool = False) -> None:
    """Acquire the lock of an open file; a system without locks grants it always.

    Raises BlockingIOError if another process holds it, unless ``wait``.
    """
    if not exist():
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
