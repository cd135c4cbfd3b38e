"""Values of options of figures, as text: sizes on paper and times."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from ecnlab.base.quantities import TIMES

INCHES: Final = {"mm": 1 / 25.4, "cm": 1 / 2.54, "in": 1.0}
"""Units of sizes, in inches."""

MIN_SIDE: Final = 1.0
MAX_SIDE: Final = 40.0
"""Smallest and largest side of a figure in inches."""

SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*[x×]\s*(\d+(?:\.\d+)?)\s*(mm|cm|in)\s*")
TIME: Final = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(TIMES)})\s*")


def size(text: str) -> tuple[float, float]:
    """Return width and height in inches of ``text``, such as "88x60mm". Raises ValueError with the remedy."""
    found = SIZE.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not a size: write width x height with mm, cm or in, such as 88x60mm")
    return sides(float(found[1]) * INCHES[found[3]], float(found[2]) * INCHES[found[3]])


def sides(width: float, height: float) -> tuple[float, float]:
    """Return ``width`` and ``height`` in inches. Raises ValueError if one is out of range."""
    if not all(MIN_SIDE <= side <= MAX_SIDE for side in (width, height)):
        given = f"{width:.3g} x {height:.3g} in"
        raise ValueError(f"{given} is out of range: each side is {MIN_SIDE:g} to {MAX_SIDE:g} in (25.4 to 1016 mm)")
    return width, height


def seconds(text: str) -> float:
    """Return the seconds of ``text``, such as "10 s"; 0 needs no unit. Raises ValueError with the remedy."""
    if text.strip() == "0":
        return 0.0
    found = TIME.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not a time: write a number and its unit ({', '.join(TIMES)}), such as '10 s'")
    return float(found[1]) * TIMES[found[2]] / 1e12


def chosen(text: str) -> tuple[str, str]:
    """Return the axis and its label in ``text``, "axis=label". Raises ValueError with the remedy."""
    axis, equals, value = text.partition("=")
    if not (axis.strip() and equals and value.strip()):
        raise ValueError(f"{text!r} chooses no value: write an axis and a label of it, such as 'sender=BBR'")
    return axis.strip(), value.strip()


def renaming(text: str) -> str:
    """Return ``text``, which `label` divides. Raises ValueError with the remedy if it renames nothing."""
    label(text)
    return text


def label(text: str, known: Collection[str] = ()) -> tuple[str, str]:
    """Return the old and the new name in ``text``, "old=new". Raises ValueError with the remedy.

    The old name is one of the ``known`` ones, which may contain "=", or else ends at the first "=".
    """
    old = next((name for name in known if text.startswith(f"{name}=")), text.partition("=")[0])
    new = text[len(old) + 1 :]
    if not (old and new):
        raise ValueError(f"{text!r} renames no series: write its name and the new one, such as 'bulk=ECN flows'")
    return old, new
