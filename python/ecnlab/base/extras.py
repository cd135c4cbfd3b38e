"""Optional packages: how to install one that is missing."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires


def install(package: str) -> str:
    """Return the command that installs an optional ``package`` in the versions that ecnlab takes.

    It names the package itself, because ecnlab may have been installed from a wheel file and be in no index.
    """
    return f"`python -m pip install '{_requirement(package)}'`"


def _requirement(package: str) -> str:
    """Return the requirement of ecnlab's metadata, such as "matplotlib>=3.10"; the bare name without metadata."""
    try:
        stated = requires("ecnlab") or []
    except PackageNotFoundError:
        stated = []
    wanted = (line.partition(";")[0].strip() for line in stated if line.startswith(package))
    return next(wanted, package).replace(" ", "")
