"""Checks of the labels that select a part of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import guess
from ecnlab.base.lazy_imports import pl

ARM: Final = "arm"

MAX_LABELS: Final = 12
"""Most labels that a message lists."""


def insist_on_labels(
    folder: Path, runs: pl.DataFrame, axes: Sequence[str], *, chosen: Mapping[str, Sequence[str]]
) -> None:
    """Raise EcnlabError unless there are ``runs`` with the ``chosen`` labels of ``axes``."""
    levels = {axis: [str(label) for label in runs[axis].drop_nulls().unique(maintain_order=True)] for axis in axes}
    levels = {axis: labels for axis, labels in levels.items() if labels}
    rows = runs
    for axis, labels in chosen.items():
        if axis not in levels:
            there = f"there are {', '.join(levels)}" if levels else "the experiment has neither axes nor arms"
            raise EcnlabError(f"{folder}: no axis is called {axis!r}{guess(axis, levels)}; {there}")
        for label in labels:
            if label not in levels[axis]:
                there = ", ".join(levels[axis][:MAX_LABELS])
                missing = f"no value of {axis} is called {label!r}{guess(label, levels[axis])}"
                raise EcnlabError(f"{folder}: {missing}; there are {there}")
        rows = rows.filter(pl.col(axis).cast(pl.String).is_in(list(labels)))
    if not rows.height:
        selected = ", ".join(f"{axis}={label}" for axis, labels in chosen.items() for label in labels)
        raise EcnlabError(f"{folder}: no run has {selected}: leave one out")
