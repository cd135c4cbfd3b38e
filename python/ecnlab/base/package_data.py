"""Files beside the code: examples and papers. A wheel has them in ``ecnlab/data``, a checkout in its root."""

from __future__ import annotations

from pathlib import Path

from ecnlab.base.errors import EcnlabError


def folder(name: str) -> Path:
    """Return the folder ``name`` ("examples" or "papers"). Raises EcnlabError if this installation has none."""
    package = Path(__file__).parents[1]
    for found in (package / "data" / name, package.parents[1] / name):
        if found.is_dir():
            return found
    raise EcnlabError(f"this installation of ecnlab has no {name}: install a wheel, or use a checkout")
