"""Features that the papers name and ecnlab does not have: one list (``papers/unbuilt.toml``), which the READMEs quote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ecnlab.base.guesses import known
from ecnlab.papers.tables import Feature, FeaturesFile, read_table

FILE: Final = "unbuilt.toml"


def features(papers: Path) -> Mapping[str, Feature]:
    """The features by name. ``papers`` is the folder of all papers. Raises EcnlabError if the file is wrong; OSError."""
    return read_table(papers / FILE, FeaturesFile).feature


def text(papers: Path, name: str) -> str:
    """Return the README's statement about a feature. Raises EcnlabError if the list does not have it."""
    return known("feature", name, features(papers)).text.strip()
