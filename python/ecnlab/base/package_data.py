"""Files beside the code: examples and papers, in the root of the checkout."""

from __future__ import annotations

from pathlib import Path

from ecnlab.base.errors import EcnlabError


def folder(name: str) -> Path:
    """Return the folder ``name`` ("examples" or "papers"). Raises EcnlabError if this installation has none."""
    found = Path(__file__).parents[3] / name
    if not found.is_dir():
        raise EcnlabError(f"this installation of ecnlab has no {name}: install it from a checkout, with `make build`")
    return found
