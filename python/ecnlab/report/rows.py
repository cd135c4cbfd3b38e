"""Rows with a verdict: one line each, with the details behind it when the reader opens it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ecnlab.report.tone import SIGNS, Tone


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its ``name``, which is also what links lead to, a headline, a value in short, and a verdict in its tone.

    ``facts`` are its details by label, ``note`` is a paragraph below them. ``runs`` are the runs behind it, by the file of
    their experiment, and ``command`` makes one of them.
    """

    name: str
    headline: str
    value: str
    verdict: str
    tone: Tone
    facts: Sequence[tuple[str, str]] = ()
    note: str = ""
    runs: Sequence[tuple[str, str]] = ()
    command: str = ""

    @property
    def sign(self) -> str:
        """Return the sign that accompanies the colour."""
        return SIGNS[self.tone]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with a caption, shown when the reader opens them if ``folded``."""

    caption: str
    rows: Sequence[Row]
    folded: bool = False
    kind: Literal["rows"] = "rows"
