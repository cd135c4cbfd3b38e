"""The file of a search: choices, an experiment, kinds of harm and the axes of the map."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import unknown
from ecnlab.base.quantities import quantity
from ecnlab.scenario.built import BARE, Overrides, toml_value
from ecnlab.scenario.data_files import File, Part
from ecnlab.scenario.metric_ranges import of_metric
from ecnlab.scenario.metrics import EXAMPLE_SIZES, UNITS, Metrics, unit_of
from ecnlab.scenario.varied import Quantity, Varied, number, range_errors, written
from ecnlab.searching.harm import Harm, Scale

MOST_STEPS: Final = 100
"""Most values of a range."""

DIGITS: Final = 2
"""Significant digits of the values between the ends of a range."""

ERROR: Final = "error"
"""The folder of the scenario in which a user-defined law fails, beside those of kinds of harm."""

HEADER: Final = re.compile(r'\s*\[[\w."\s-]+\]\s*(#.*)?$')


class Choice(Varied, frozen=True, kw_only=True):
    """Keys of the scenario and their values, of which the first is the simplest."""

    IS = "a choice"

    steps: int = 8
    """Number of values of a range."""

    def __post_init__(self) -> None:
        """Raise ValueError as `Varied` does, and for fewer than two values."""
        super().__post_init__()
        if min(self.steps, len(self.values or self.points) or 2) < 2:
            raise ValueError("a choice needs two or more values")
        if (self.path and self.paths) or (self.log and not self.range):
            raise ValueError("'path' and 'paths' exclude each other, and 'log' needs 'range'")
        if self.steps > MOST_STEPS:
            raise ValueError(f"'steps' is at most {MOST_STEPS}")

    def options(self) -> dict[str, Overrides]:
        """The keys that each value sets, by its label. Equal values of a range are one."""
        if self.points:
            return {one.label: one.set for one in self.points}
        values = self._between() if self.range else self.values
        return {label(one): dict.fromkeys(self.keys, one) for one in values}

    def _between(self) -> list[Quantity]:
        """The values of the range: its ends as they are, and those between with `DIGITS`."""
        assert self.range
        (low, unit), (high, _) = map(number, self.range)
        shares = [step / (self.steps - 1) for step in range(1, self.steps - 1)]
        between = [low * (high / low) ** one if self.log else low + (high - low) * one for one in shares]
        short = [float(f"{one:.{DIGITS}g}") for one in between]
        inner = [written(one, unit, whole=self.whole) for one in short if low < one < high]
        return list(dict.fromkeys([self.range[0], *inner, self.range[1]]))


class HarmTable(Part, frozen=True, kw_only=True):
    """A kind of harm: a metric of the experiment, and how it is worse."""

    metric: str
    worse: Literal["high", "low"]
    least: Quantity
    """As much as counts as none, in the unit of the metric."""
    best: Quantity | None = None
    """The best possible value; without it 0 if high values are worse, and none if low ones are."""


class MapTable(Part, frozen=True, kw_only=True):
    """The choices that are the axes of the maps."""

    columns: str
    rows: str


class SearchFile(File, frozen=True, kw_only=True):
    """A search of a space."""

    title: str
    experiment: str
    """Path of the experiment, relative to the folder of this file: its arms and metrics. It has no grid."""
    law: str = ""
    """The arm that is searched; the first without it."""
    choice: Mapping[str, Choice]
    harm: Mapping[str, HarmTable]
    map: MapTable | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for fewer than two choices, without harm, and for names that are no names of folders."""
        if len(self.choice) < 2 or not self.harm:
            raise ValueError("a search needs two or more [choice.NAME], and one or more [harm.NAME]")
        for name in self.harm:
            if not BARE.fullmatch(name) or name == ERROR:
                raise ValueError(f"harm.{name}: a kind of harm is the name of a folder: write letters, digits, _ and -")

    @property
    def axes(self) -> tuple[str, str]:
        """The choices that are columns and rows of the maps."""
        first, second, *_ = self.choice
        return (self.map.columns, self.map.rows) if self.map else (first, second)


@dataclass(frozen=True, slots=True)
class Places:
    """Lines of a file, for errors."""

    path: Path
    text: str

    def error(self, message: object, *keys: str) -> EcnlabError:
        """The error about the value at ``keys``, with its line, or that of the table around it."""
        line = self._line(keys)
        return EcnlabError(f"{self.path}{f':{line}' if line else ''}: {'.'.join(keys)}: {message}")

    def _line(self, keys: tuple[str, ...]) -> int:
        here: list[str] = []
        found = 0
        for row, line in enumerate(self.text.splitlines(), 1):
            named, equals, _ = line.partition("=")
            if HEADER.match(line):
                here = _names(line.partition("]")[0].strip(" ["))
                place = here
            elif equals:
                place = [*here, *_names(named)]
            else:
                continue
            if tuple(place) == keys:
                return row
            if tuple(place) == keys[: len(place)]:
                found = row
        return found


def _names(dotted: str) -> list[str]:
    return [one.strip().strip("\"'") for one in dotted.split(".")]


def label(value: Any) -> str:
    """A value of a scenario as text."""
    return value if isinstance(value, str) else toml_value(value, "value")


def ordered(labels: Sequence[str]) -> list[str]:
    """``labels`` by size if all are quantities in units of one kind; else as they are."""
    try:
        pairs = [number(one) for one in labels]
    except ValueError:
        return list(labels)
    for units in (*UNITS.values(), {"": 1, "packets": 1}):
        if all(unit in units for _, unit in pairs):
            sizes = [value * units[unit] for value, unit in pairs]
            return [labels[place] for place in sorted(range(len(labels)), key=sizes.__getitem__)]
    return list(labels)


def check_names(file: SearchFile, places: Places) -> None:
    """Raise EcnlabError for a map of choices that do not exist, ranges without values, and keys that two choices set."""
    for axis, name in zip(("columns", "rows"), file.axes, strict=True):
        if name not in file.choice:
            raise places.error(unknown("choice", name, file.choice), "map", axis)
    if len(set(file.axes)) < 2:
        raise places.error("columns and rows are the same choice: name two", "map", "rows")
    owners: dict[str, str] = {}
    for name, one in file.choice.items():
        for error in range_errors(one) if one.range else ():
            raise places.error(error, "choice", name, "range")
        kind = "points" if one.points else "values"
        try:
            json.dumps([*one.values, *(point.set for point in one.points)], allow_nan=False)
        except (TypeError, ValueError):
            message = "a value is no text, finite number, true or false, list or table of them: write one of these"
            raise places.error(message, "choice", name, kind) from None
        options = one.options()
        if len(options) < len(one.points or one.values):
            raise places.error("two values have the same label: remove one, or write points", "choice", name, kind)
        for key in {key: None for values in options.values() for key in values}:
            if owners.setdefault(key, name) != name:
                raise places.error(f"{owners[key]} sets {key!r}, too: each key has one choice", "choice", name)


def harms(file: SearchFile, metrics: Metrics, places: Places) -> dict[str, tuple[Harm, Scale]]:
    """The kinds of harm by name. Raises EcnlabError for metrics that do not exist or can be negative, and values in another unit."""
    found = {}
    for name, one in file.harm.items():
        if one.metric not in metrics:
            raise places.error(unknown("metric", one.metric, metrics), "harm", name, "metric")
        if of_metric(metrics, one.metric).low < 0:
            message = f"{one.metric} can be negative, and harm is a ratio: name a metric that is 0 or more"
            raise places.error(message, "harm", name, "metric")
        unit = unit_of(metrics, one.metric)
        least = _size(one.least, unit)
        best = _size(0 if one.worse == "high" else math.inf, unit) if one.best is None else _size(one.best, unit)
        for key, value in (("least", least), ("best", best)):
            if not _fits(value, key):
                example = f'"{EXAMPLE_SIZES[unit]}"' if unit in UNITS else "0.01"
                above = "above 0" if key == "least" else "of 0 or more"
                message = f"{getattr(one, key)!r} is no value {above} of {one.metric}, whose unit is {unit or 'none'}: write one such as {example}"
                raise places.error(message, "harm", name, key)
        assert least is not None
        bound = None if best == math.inf else best
        found[name] = Harm(name, one.metric, one.worse, one.metric, unit), Scale(least, bound)
    return found


def _fits(value: float | None, key: str) -> bool:
    """Whether ``value`` can be that of ``key``: ``least`` is above 0, and ``best`` may have no bound."""
    return value is not None and (0 < value < math.inf if key == "least" else value >= 0)


def _size(given: Quantity, unit: str) -> float | None:
    """``given`` as a metric with ``unit`` has it; None if it has another unit."""
    if not isinstance(given, str):
        return float(given)
    try:
        value, own = number(given)
    except ValueError:
        return None
    return quantity(f"{value!r} {own}") if own in UNITS.get(unit, ()) else None
