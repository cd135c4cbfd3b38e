"""Guesses of names that users misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

LATER: Final = re.compile(r"(.+?)v?[2-9]")
"""The name of a later version."""


def guess(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" for the name nearest to ``word``, by its letters and digits in any case, "" if none is near.

    For a later version of a known name, the text is that ecnlab has only the first one.
    """
    names = {_letters(name): name for name in known}
    if (later := LATER.fullmatch(_letters(word))) and later[1] in names:
        return f"; ecnlab has {names[later[1]]!r}, version 1 only"
    near = get_close_matches(_letters(word), names, 1)
    return f"; did you mean {names[near[0]]!r}?" if near else ""


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.casefold())
