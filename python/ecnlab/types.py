"""Shapes of the values that ``ecnlab._core`` takes and gives."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.uint64] | NDArray[np.uint32] | NDArray[np.float64] | NDArray[np.bool_]

Column: TypeAlias = Numbers | tuple[NDArray[np.uint32], list[str]]
"""A column of a table: numbers (NaN is missing), or text as (codes, names)."""

FileKind: TypeAlias = Literal["scenario", "experiment"]

Standard: TypeAlias = Literal["rfc3168", "rfc2481"]
"""A text with the rules of ECN."""


class Diagnostic(TypedDict):
    """One thing wrong with a file."""

    path: str
    line: int
    column: int
    key: str
    message: str
    help: str


class Departure(TypedDict):
    """A TCP setting that departs from its profile."""

    key: str
    profile: str
    profile_value: Any
    value: Any
    source: str


class Setting(TypedDict):
    """A profile's value for one TCP setting."""

    value: Any
    source: str


class Profile(TypedDict):
    """A TCP profile: a value for every setting."""

    summary: str
    settings: dict[str, Setting]
