"""Python processes that import nothing from the working folder: a file ``json.py`` there must not be executed.

``python -c`` puts the working folder first on ``sys.path``, unless Python has the option ``-P`` or ``PYTHONSAFEPATH`` is set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SAFE: Final = "PYTHONSAFEPATH"


def command(*arguments: str) -> list[str]:
    """Return the command for this Python with ``arguments``; ``-E`` and ``-s`` (``-I`` is both) are those of this process."""
    same = [("-E", sys.flags.ignore_environment), ("-s", sys.flags.no_user_site)]
    return [sys.executable, "-P", *(option for option, given in same if given), *arguments]


@contextmanager
def safe_environment() -> Iterator[None]:
    """In the block, processes that a library starts do not import from the working folder either."""
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE]
        else:
            os.environ[_SAFE] = before
