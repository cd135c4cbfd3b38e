"""Guesses of names that users misspelt."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def guess(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" for the name nearest to ``word`` in any case of letters, "" if none is near."""
    by_letters = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), by_letters, 1)
    return f"; did you mean {by_letters[near[0]]!r}?" if near else ""
