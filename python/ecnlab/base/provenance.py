"""Origin of a result: the version, the exact binary, and the commit of the checkout."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from pathlib import Path

from ecnlab import _core


@cache
def maker() -> dict[str, str | None]:
    """Return ``version``, ``build`` and ``commit`` of the running ecnlab.

    ``build`` is a hash of the simulator's binary: results of one build come from the same code, whatever the version.
    ``commit`` is git's description of the checkout from which the package is loaded, None if there is none.
    """
    return {"version": _core.__version__, "build": build(), "commit": _commit(Path(__file__).parents[3])}


@cache
def build() -> str:
    """Return a hash of the simulator's binary: 16 hexadecimal digits."""
    with Path(_core.__file__).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _commit(checkout: Path) -> str | None:
    # An installed package may lie inside somebody else's repository: only our own checkout speaks for it.
    if not (checkout / ".git").exists() or not (checkout / "crates" / "engine").is_dir():
        return None
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None
