"""Processes that end with the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Final

PR_SET_PDEATHSIG: Final = 1
"""prctl(2): the signal that this process gets when its parent ends."""


def end_with_parent(signal_: signal.Signals, parent: int) -> None:
    """Called in a child before it starts its program: it gets ``signal_`` when ``parent``, a process id, ends, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal_), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


GROUP: Final = ("sh", "-c", 'trap "trap - TERM; kill -TERM 0" TERM; "$@" & wait $!', "group")
"""Before a command: on SIGTERM the whole process group ends, the command's own children included."""
