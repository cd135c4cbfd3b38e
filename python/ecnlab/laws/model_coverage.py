"""Checks of what a closed-form model covers."""

from __future__ import annotations

from collections.abc import Sequence

from ecnlab.base.errors import EcnlabError


class NotCoveredError(EcnlabError):
    """No model covers the scenario."""


def covered(holds: bool, what: str, remedy: str) -> None:
    """Raise NotCoveredError unless ``holds``, with the reason ``what`` and the ``remedy``."""
    if not holds:
        raise NotCoveredError(
            f"no model covers this scenario: {what}; {remedy} (`ecnlab docs models`, A scenario's prediction)"
        )


def expected(value: str, known: Sequence[str], what: str) -> None:
    """Raise NotCoveredError unless ``value`` is one of ``known``."""
    covered(value in known, f"{what} {value!r}", f"models cover {', '.join(known)}")
