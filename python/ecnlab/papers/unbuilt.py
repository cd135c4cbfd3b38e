"""Features that the papers name and ecnlab does not have: one list (``papers/unbuilt.toml``), which the READMEs quote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.published import read_toml

FILE: Final = "unbuilt.toml"


def features(papers: Path) -> Mapping[str, Mapping[str, Any]]:
    """By name each feature's ``names`` in a scenario and ``text``. ``papers`` is the folder of all papers.

    Raises EcnlabError if the file is wrong; OSError.
    """
    found: Mapping[str, Mapping[str, Any]] = read_toml(papers / FILE)["feature"]
    return found


def text(papers: Path, name: str) -> str:
    """Return the README's statement about a feature. Raises EcnlabError if the list does not have it."""
    found = features(papers)
    if name not in found:
        raise EcnlabError(f"{papers / FILE} has no feature {name!r}; there are {', '.join(found)}")
    return str(found[name]["text"]).strip()
