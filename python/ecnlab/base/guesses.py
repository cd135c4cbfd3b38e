"""Guesses of names that users misspelt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, TypeVar

from ecnlab import _core
from ecnlab.base.errors import EcnlabError

NEAR: Final = 0.4
"""Similarity, from 0 to 1, of an unknown name and the one that its error proposes."""

T = TypeVar("T")


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


def known(kind: str, name: str, there: Mapping[str, T]) -> T:
    """Return what is called ``name``. Raises EcnlabError with the nearest name if there is none."""
    if name in there:
        return there[name]
    raise unknown(kind, name, there)


def unknown(kind: str, name: str, there: Iterable[str]) -> EcnlabError:
    """Return the error that nothing is called ``name``, with the nearest of the names that are ``there``."""
    near = get_close_matches(name, [one for one in there if one], n=1, cutoff=NEAR)
    remedy = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(there)}"
    return EcnlabError(f"no {kind} is called {name!r}; {remedy}")


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.casefold())
