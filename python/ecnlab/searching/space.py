"""A space that a search explores: arms, harms, the axes of its maps, its points, and the scenario of each point and arm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecnlab._core import Scenario
from ecnlab.scenario.built import Overrides
from ecnlab.scenario.metrics import Metrics
from ecnlab.searching.choices import Choices, Genes
from ecnlab.searching.harm import Harm, Scale


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the maps."""

    title: str
    labels: Sequence[str]
    """Of its places, the lowest first."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point of a space."""

    genes: Genes
    cell: tuple[int, int]
    """Its column and row on the maps."""
    words: Sequence[str]
    """What happens on its path."""
    scales: Mapping[str, Scale]
    """By kind of harm, the values that count as none and as the best."""


class Space(ABC):
    """A law and those that it is compared with, as arms, and the points at which they are compared."""

    kind: str
    """Name of the command."""
    name: str
    """Name of the law or file, for the folder."""
    title: str
    """Title of the page."""
    about: str
    """The space in words."""
    labels: Mapping[str, str]
    """The arms with their labels; the first is the law that is searched."""
    harms: Sequence[Harm]
    columns: Axis
    rows: Axis
    link: str
    """The link whose queue and packets are recorded."""
    run_words: str
    """What `ecnlab run` shows of the scenario of a find."""

    @property
    def subject(self) -> str:
        """The arm of the law that is searched."""
        return next(iter(self.labels))

    @property
    def others(self) -> list[str]:
        """The other arms."""
        return list(self.labels)[1:]

    @property
    def against(self) -> str:
        """The labels of the other arms."""
        return ", ".join(self.labels[arm] for arm in self.others)

    @abstractmethod
    def candidate(self, choices: Choices) -> Candidate:
        """The point that ``choices`` make."""

    @abstractmethod
    def scenario(self, one: Candidate, arm: str) -> Scenario:
        """The scenario of ``one`` with the law of ``arm``. Raises SpecError if the law does not fit the path."""

    @abstractmethod
    def metrics(self, one: Candidate) -> Metrics:
        """The metrics that the harms read of ``one``."""

    @abstractmethod
    def written(self, one: Candidate, folder: Path, arm: str = "") -> str:
        """The scenario of ``one`` as TOML in ``folder``, to which `sets` apply; with the law of ``arm``, if it is given."""

    @abstractmethod
    def sets(self, folder: Path) -> Mapping[str, Overrides]:
        """By arm, the keys of an experiment in ``folder``."""

    @abstractmethod
    def question(self) -> dict[str, Any]:
        """What is searched, with digests of all files, as JSON. Raises SpecError for a law that fits no path."""
