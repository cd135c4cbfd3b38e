"""Keys of a scenario that take several values, as `ecnlab infer` and `ecnlab search space` read them from files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from ecnlab.scenario.data_files import Part

Quantity = int | float | str
"""A number, or a number with a unit, such as "5 kB"."""

_NUMBER: Final = re.compile(r"\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(.*?)\s*")


class Point(Part, frozen=True):
    """A name and the keys of the scenario that it sets."""

    label: str
    set: Mapping[str, Any]


class Varied(Part, frozen=True, kw_only=True):
    """Keys and their values: a ``range``, ``values`` or ``points``."""

    IS: ClassVar[str]
    """What an error calls it."""

    path: str = ""
    """The dotted key of the scenario that is set."""
    paths: Sequence[str] = ()
    """Several keys that are all set to the value."""
    range: tuple[Quantity, Quantity] | None = None
    """Least and greatest value."""
    log: bool = False
    """Values of the range have equal factors between them, in place of equal differences."""
    values: Sequence[Any] = ()
    points: Sequence[Point] = ()

    def __post_init__(self) -> None:
        """Raise ValueError unless it has exactly one kind of values, and keys where they are needed."""
        if sum(map(bool, (self.range, self.values, self.points))) != 1:
            raise ValueError(f"{self.IS} needs one of 'range', 'values' and 'points'")
        if bool(self.points) == bool(self.path or self.paths):
            raise ValueError(f"{self.IS} needs 'path' or 'paths', which one with 'points' does not have")

    @property
    def keys(self) -> Sequence[str]:
        """The keys that a value of ``range`` or ``values`` is for."""
        return self.paths or [self.path]

    @property
    def whole(self) -> bool:
        """Whether the range has whole numbers without a unit."""
        return self.range is not None and all(type(end) is int for end in self.range)


def range_errors(varied: Varied, step: Quantity = 0) -> Iterator[str]:
    """Yield what is wrong with a range and with ``step``, of which its values are multiples."""
    assert varied.range
    try:
        (low, unit), (high, other) = map(number, varied.range)
        size, own = number(step) if step else (0.0, unit)
    except ValueError as error:
        yield str(error)
        return
    if not unit == other == own:
        yield f"the ends of 'range' and 'step' have different units: {unit!r}, {other!r}, {own!r}"
    if not low < high or size < 0.0:
        yield "'range' is [least, greatest], and 'step' is not negative"
    if varied.log and low <= 0.0:
        yield "a range with 'log' begins above 0"


def number(quantity: Quantity) -> tuple[float, str]:
    """Return number and unit. Raises ValueError for a text that does not begin with a number."""
    if not isinstance(quantity, str):
        return float(quantity), ""
    found = _NUMBER.fullmatch(quantity)
    if not found:
        raise ValueError(f'{quantity!r} is no number with a unit, such as "5 kB"')
    return float(found[1]), found[2]


def written(value: float, unit: str, *, whole: bool) -> Quantity:
    """``value`` as a scenario has it: with ``unit``, if there is one."""
    if whole:
        return round(value)
    return f"{value:.9g} {unit}" if unit else float(f"{value:.9g}")
