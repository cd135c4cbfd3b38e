"""Shapes of the tables of a stored agreement, which are checked when they are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ecnlab.engines.protocol import LINUX, PACKETS
from ecnlab.explain.ranking import KEYS
from ecnlab.folder.table_shapes import Shape

_NUMBERS: Final = ("n", PACKETS, LINUX, "margin")
_DIFFERENCE: Final = ("difference", "difference_low", "difference_high")
_RATIO: Final = ("ratio", "ratio_low", "ratio_high")
_RANKS: Final = ("simulator", LINUX, "ratio", "score")


def compared_shape(axes: Iterable[str]) -> Shape:
    """Return the shape of ``agreement.parquet``; the ratio is NaN where the kernel's mean is zero."""
    keys = ("arm", *axes)
    numbers = dict.fromkeys((*_NUMBERS, *_DIFFERENCE, *_RATIO), "number")
    return Shape(
        {**dict.fromkeys(keys, "text"), "metric": "text", **numbers, "verdict": "text"},
        gaps=frozenset(keys),
        unbounded=frozenset((*_DIFFERENCE, *_RATIO)),
        undefined=frozenset(_RATIO),
        choices={"verdict": ("agrees", "differs", "open")},
    )


def ranked_shape(axes: Iterable[str]) -> Shape:
    """Return the shape of ``explanation.parquet``; a quantity that one engine lacks has no number there."""
    keys = ("arm", *axes)
    return Shape(
        {**dict.fromkeys((*keys, *KEYS), "text"), **dict.fromkeys((*_RANKS, "n", "n_linux"), "number")},
        gaps=frozenset((*keys, *_RANKS, "n", "n_linux")),
    )
