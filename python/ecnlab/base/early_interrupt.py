"""Ctrl-C before the command line listens: it ends the process, as the shell's 130 shows, and Python prints no traceback.

Imports take a tenth of a second. Imported first of all; `interrupts.listen` is called when they are done.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path


def is_command() -> bool:
    """Return whether this process is ``ecnlab`` or ``python -m ecnlab``."""
    return Path(sys.argv[0]).name == "ecnlab" or sys.orig_argv[1:3] == ["-m", "ecnlab"]


if sys.argv and is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
