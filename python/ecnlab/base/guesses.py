"""Guesses of names that users misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from ecnlab import _core


def guess(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" for the name nearest to ``word``, by its letters and digits in any case, "" if none is near."""
    names = {_letters(name): name for name in known}
    near = get_close_matches(_letters(word), names, 1)
    return f"; did you mean {names[near[0]]!r}?" if near else ""


def guess_law(name: str, known: Iterable[str]) -> str:
    """Return "; " and the remedy for ``name``, which is none of the ``known`` laws; "" if there is none.

    It is that of scenarios: a synonym, the reason why ecnlab does not have the law, or the nearest name.
    """
    remedy = _core.law_remedy(name, list(known))
    return f"; {remedy}" if remedy else ""


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.casefold())
