"""Data files of the package: examples, papers, schemas, scripts and pages of the documentation, in ``ecnlab/data`` of a wheel, or in the root of the checkout."""

from __future__ import annotations

from pathlib import Path

from ecnlab.base.errors import EcnlabError


def folder(name: str) -> Path:
    """Return the folder ``name`` ("examples", "papers", "schema", "docs" or "tests/data/scripts"). Raises EcnlabError if this installation has none."""
    package = Path(__file__).parents[1]
    root = package.parents[1]
    places = [package / "data" / name, root / name]
    if (root / "crates").is_dir():  # A checkout: its `data` is that of a build, in progress or interrupted.
        places.reverse()
    for found in places:
        if found.is_dir():
            return found
    raise EcnlabError(
        f"this installation of ecnlab has no {name}: install a wheel that `make wheel` has built, "
        "or install it from a checkout, with `make build`"
    )
