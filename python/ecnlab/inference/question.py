"""``infer.toml``: the unknown settings of an experiment, and the numbers that were printed about it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from msgspec import structs

from ecnlab._core import Experiment, Scenario
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import unknown as no_such
from ecnlab.scenario.built import Overrides
from ecnlab.scenario.data_files import File, Part, read_file
from ecnlab.scenario.files import read_experiment
from ecnlab.scenario.varied import Point, Quantity, Varied, number, range_errors, written

Where = Mapping[str, str | list[str]]
"""Points of the experiment's grid: axis to label, or to several labels."""

Reading = Literal["value", "difference", "ratio", "gain"]


class Choice(Point, frozen=True):
    """One of several readings."""

    weight: float = 1.0
    """Prior probability relative to the other choices."""


class Unknown(Varied, frozen=True, kw_only=True):
    """A setting that the source leaves out, and what is known about it. Values of a range are equally likely, with ``log`` factors."""

    IS = "an unknown"

    step: Quantity = 0
    """Values are multiples of it."""
    times: str | list[str] = ""
    """Name of another unknown with a range: the key gets this value times that one's. Of several each is set at other points."""
    points: Sequence[Choice] = ()
    where: Where = {}
    """Points of the grid where it is set; all others keep the value of the scenario."""
    source: str = ""
    """The reason for the range, or the place that leaves it out."""

    def __post_init__(self) -> None:
        """Raise ValueError as `Varied` does, and for ``times`` without a range."""
        super().__post_init__()
        if self.times and not self.range:
            raise ValueError("'times' needs 'range'")

    @property
    def factors(self) -> list[str]:
        """The names in ``times``."""
        return [self.times] if isinstance(self.times, str) else self.times


class Target(Part, frozen=True, kw_only=True):
    """A printed number or a printed limit, and the quantity of the experiment that it is about."""

    metric: str
    arm: str = ""
    against: str = ""
    """Arm that is compared with ``arm``, seed by seed."""
    reading: Reading = "value"
    """Of the two arms: the difference ``arm`` - ``against``, the ratio ``arm`` / ``against``, or the gain, which is the ratio - 1."""
    where: Where = {}
    """Points of the grid; of several the mean."""
    printed: float | None = None
    rounding: float = 0.0
    """Unit of the last printed digit."""
    margin: float = 0.0
    """Standard deviation by which a right setting may miss the number, beside rounding and seeds."""
    at_most: float | None = None
    at_least: float | None = None
    tolerance: float = 0.0
    """Standard deviation of a limit that is printed in words, such as "hardly any"."""
    held_out: bool = False
    """Not used to find settings: predicted from those that fit the others."""
    source: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError unless it has one value, and an arm to compare with if that is needed."""
        if sum(one is not None for one in (self.printed, self.at_most, self.at_least)) != 1:
            raise ValueError("a target needs one of 'printed', 'at_most' and 'at_least'")
        if bool(self.against) != (self.reading != "value"):
            raise ValueError('\'against\' and a \'reading\' of "difference", "ratio" or "gain" need each other')
        if min(self.rounding, self.margin, self.tolerance) < 0.0:
            raise ValueError("'rounding', 'margin' and 'tolerance' are 0 or more")


class InferFile(File, frozen=True, kw_only=True):
    """A question about unstated settings."""

    title: str
    experiment: str
    """Path of the experiment, relative to the folder of this file: its arms, grid and metrics."""
    seeds: int = 4
    """Runs of each setting at each point."""
    printed_runs: int = 1
    """Number of runs of which a printed number is the mean."""
    unknown: Mapping[str, Unknown]
    target: Mapping[str, Target]

    def __post_init__(self) -> None:
        """Raise ValueError for numbers of runs below 2 and 1, or without unknowns or targets to fit."""
        if self.seeds < 2 or self.printed_runs < 1:
            raise ValueError("'seeds' is 2 or more, since their spread is needed, and 'printed_runs' 1 or more")
        if not self.unknown or all(one.held_out for one in self.target.values()):
            raise ValueError("there must be an [unknown.NAME], and a [target.NAME] that is not held out")


Cell = tuple[str, tuple[str, ...]]
"""An arm and a label on each axis."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that has been read and checked."""

    path: Path
    file: InferFile
    experiment: Experiment
    cells: Mapping[Cell, Scenario]
    """The scenario of each arm at each point."""

    def holding_out(self, names: Sequence[str]) -> Question:
        """Return the question with the targets ``names`` held out, too. Raises EcnlabError if there is no such target, or none to fit is left."""
        targets = self.file.target
        for name in names:
            if name not in targets:
                raise EcnlabError(f"{self.path}: {no_such('target', name, targets)}")
        held = {name: structs.replace(one, held_out=one.held_out or name in names) for name, one in targets.items()}
        if all(one.held_out for one in held.values()):
            raise EcnlabError(f"{self.path}: {', '.join(names)}: no target is left that is not held out")
        return replace(self, file=structs.replace(self.file, target=held))

    def points(self, where: Where) -> list[tuple[str, ...]]:
        """Return the points of the grid in ``where``."""
        labels = {axis: [one] if isinstance(one, str) else one for axis, one in where.items()}
        found = dict.fromkeys(point for _, point in self.cells)
        axes = self.experiment.axes
        return [
            point
            for point in found
            if all(label in labels.get(axis, [label]) for axis, label in zip(axes, point, strict=True))
        ]

    def needed(self) -> list[Cell]:
        """Return the cells that a target reads."""
        return list(
            dict.fromkeys(
                (arm, point)
                for one in self.file.target.values()
                for arm in ((one.arm, one.against) if one.against else (one.arm,))
                for point in self.points(one.where)
            )
        )


def is_question(keys: Set[str]) -> bool:
    """Whether a file with ``keys`` is a question: it has unknown settings or targets, and no scenario of its own."""
    return "experiment" in keys and bool(keys & {"unknown", "target"})


def read_question(path: str | os.PathLike[str]) -> Question:
    """The question in the file ``path``. Raises EcnlabError, SpecError, OSError, with the place of what is wrong."""
    path = Path(path)
    file = read_file(path, InferFile)
    experiment = read_experiment(path.parent / file.experiment)
    firsts = [experiment.run(index) for index in range(0, len(experiment), experiment.replicates)]
    cells = {(run.arm or "", tuple(run.point.values())): run.scenario for run in firsts}
    question = Question(path, file, experiment, cells)
    for place, error in _errors(question):
        raise EcnlabError(f"{path}: {place}: {error}")
    return question


def _errors(question: Question) -> Iterator[tuple[str, object]]:
    """Yield what does not fit the experiment: place and error."""
    arms = list(dict.fromkeys(arm for arm, _ in question.cells))
    for name, target in question.file.target.items():
        place = f"target.{name}"
        if target.metric not in question.experiment.metrics:
            yield place, no_such("metric", target.metric, question.experiment.metrics)
        for arm in (target.arm, *([target.against] if target.against else [])):
            if arm not in arms:
                yield place, no_such("arm", arm, arms) if arm else f"the key 'arm' is missing: {', '.join(arms)}"
        yield from ((place, error) for error in _place_errors(question, target.where))
    for name, unknown in question.file.unknown.items():
        place = f"unknown.{name}"
        yield from ((place, error) for error in _place_errors(question, unknown.where))
        if unknown.times:
            yield from ((place, error) for error in _times_errors(question, unknown))
        if unknown.range is not None:
            yield from ((place, error) for error in range_errors(unknown, unknown.step))


def _times_errors(question: Question, unknown: Unknown) -> Iterator[object]:
    """Yield what is wrong with the unknowns that ``unknown`` multiplies: one of them must be set at each of its points."""
    points: list[tuple[str, ...]] = []
    for name in unknown.factors:
        other = question.file.unknown.get(name)
        if other is None:
            yield no_such("unknown", name, question.file.unknown)
            return
        if other.range is None or other.times:
            yield f"'times' needs an unknown with a range and without 'times': {name} is none"
        if any(True for _ in _place_errors(question, other.where)):
            return
        points += question.points(other.where)
    if sorted(points) != sorted(question.points(unknown.where)):
        yield f"'times' needs one unknown at each point of this one's 'where': {', '.join(unknown.factors)}"


def _place_errors(question: Question, where: Where) -> Iterator[object]:
    for axis, labels in where.items():
        if axis not in question.experiment.axes:
            yield no_such("axis", axis, question.experiment.axes)
            return
        index = question.experiment.axes.index(axis)
        known = list(dict.fromkeys(point[index] for _, point in question.cells))
        for label in [labels] if isinstance(labels, str) else labels:
            if label not in known:
                yield no_such(f"label on the axis {axis}", label, known)


def overrides(unknowns: Mapping[str, Unknown], values: Mapping[str, float], points: Mapping[str, int]) -> Overrides:
    """Return the keys that a setting sets: ``values`` of unknowns with a range, ``points`` of the others by their index."""
    found: dict[str, Any] = {}
    for name, unknown in unknowns.items():
        if unknown.points:
            found |= unknown.points[points[name]].set
            continue
        found |= dict.fromkeys(
            unknown.keys, unknown.values[points[name]] if unknown.values else _value(unknowns, name, values)
        )
    return found


def _value(unknowns: Mapping[str, Unknown], name: str, values: Mapping[str, float]) -> Quantity:
    unknown = unknowns[name]
    assert unknown.range
    value, unit = values[name], number(unknown.range[0])[1]
    if unknown.times:
        (factor,) = (one for one in unknown.factors if one in values)
        other = unknowns[factor]
        assert other.range
        value, unit = value * values[factor], number(other.range[0])[1]
    return written(value, unit, whole=unknown.whole and not unknown.times)


def stepped(unknown: Unknown, value: float) -> float:
    """Return ``value`` as a multiple of the unknown's step within its range."""
    assert unknown.range
    step = number(unknown.step)[0] if unknown.step else 0.0
    if not step:
        return value
    low, high = number(unknown.range[0])[0], number(unknown.range[1])[0]
    return min(max(round(value / step), math.ceil(low / step)), math.floor(high / step)) * step
