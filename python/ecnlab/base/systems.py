"""Features of ecnlab that need Linux."""

from __future__ import annotations

import sys

from ecnlab.base.errors import EcnlabError


def require_linux(feature: str, remedy: str = "") -> None:
    """Raise EcnlabError if this system is not Linux. ``feature`` is the subject of the message, ``remedy`` its end."""
    if sys.platform != "linux":
        raise EcnlabError(f"{feature} needs Linux; this system is {sys.platform}{remedy and f': {remedy}'}")
