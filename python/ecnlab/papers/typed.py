"""Numbers and words of size that a template states outside references, where they are measured values without a source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ecnlab.papers.references import REFERENCE
from ecnlab.papers.size_words import EXTENT, JUDGED

TYPED: Final = re.compile(r"(?<![\w.-])[+−-]?\d+(?:\.\d+)?(?: ?%)|(?<![\w.-])[+−-]?\d+\.\d+(?![\w.]*\w)")
"""A percentage or a decimal: the format of a measured number."""

NO_SIZE: Final = r" (?:seeds?|second|queue|runs?|draws|files?|network|place|of the run)\b"
"""Words that may follow "the same", "at every" or "to the end" without stating a size or an extent."""

NOT_MEASURED: Final = (
    r"```.*?```",
    r"`[^`]*`",
    REFERENCE.pattern,
    r"\]\([^)]*\)",
    r"“[^”]*”",
    r'"[^"]*"',
    r"\b[Pp]rinted\b(?:[^.;)\]]|\.(?=\d))*",
    r"(?:§|\b(?:[Ss]ections?|[Ff]igures?|[Tt]ables?|RFC|Linux|[Kk]ernel|max_p|[pr] =))\s*[\d.]+(?:(?:, | and | to )[\d.]+)*(?! ?%)",
)
"""Text without our measurements: code, references, links, quotations and printed values of a paper, section numbers."""


def typed(text: str) -> list[str]:
    """Return numbers and rule-bound words of a template outside references: each with its line.

    Only the text about findings is checked, not the tables of choices, files and the checklist.
    """
    found = []
    for heading, part in _parts(text):
        if heading.startswith(("What was chosen", "Files", "Checklist")):
            continue
        for passage in NOT_MEASURED:
            part = re.sub(passage, lambda m: re.sub(r"[^\n]", " ", m[0]), part, flags=re.DOTALL)
        words = r"(?<![\w-])(?:" + "|".join(re.escape(word) for word in (*JUDGED, *EXTENT)) + rf")(?![\w-]|{NO_SIZE})"
        for pattern in (TYPED.pattern, words):
            found += [f"{heading}: {match[0]!r} in {_line(part, match)!r}" for match in re.finditer(pattern, part)]
    return found


def _parts(text: str) -> Iterable[tuple[str, str]]:
    """The sections of a text with their headings."""
    pieces = re.split(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return zip(["", *pieces[1::2]], pieces[::2], strict=True)


def _line(text: str, match: re.Match[str]) -> str:
    start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
    return " ".join(text[start : end if end >= 0 else None].split())
