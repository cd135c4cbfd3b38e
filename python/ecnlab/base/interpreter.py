"""Python processes that import nothing from the working folder: a file ``json.py`` there must not be executed.

``python -c`` puts the working folder first on ``sys.path``, unless Python has the option ``-P`` or ``PYTHONSAFEPATH`` is set.
"""

from __future__ import annotations

import sys


def command(*arguments: str) -> list[str]:
    """Return the command for this Python with ``arguments``; ``-E`` and ``-s`` (``-I`` is both) are those of this process."""
    same = [("-E", sys.flags.ignore_environment), ("-s", sys.flags.no_user_site)]
    return [sys.executable, "-P", *(option for option, given in same if given), *arguments]
