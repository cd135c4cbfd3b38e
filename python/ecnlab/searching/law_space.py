"""What the default spaces share: a law and those that it is compared with, on drawn paths."""

from __future__ import annotations

import pathlib as files
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from ecnlab._core import Scenario
from ecnlab.runs import scenario_files
from ecnlab.scenario.built import Overrides, toml_text
from ecnlab.scenario.metrics import Metrics
from ecnlab.scoring.sheet import SUBJECT, Kind
from ecnlab.scoring.subject import Subject, built_in, subject
from ecnlab.searching import path_harms
from ecnlab.searching.choices import Choices
from ecnlab.searching.path import FACTORS, LINK, RTTS, SPACE, Path
from ecnlab.searching.space import Axis, Candidate, Space

COLUMNS: Final = sorted(RTTS)


class LawSpace(Space):
    """The default space of a kind of law: columns are RTTs, rows are classes of the largest change of the rate."""

    kind: Kind
    place: str
    """The key that has the name of the law."""
    about = "the default space"
    columns = Axis("RTT, ms", [str(rtt) for rtt in COLUMNS])
    rows = Axis("the largest change of the rate, from one value to the next", [f"{one}×" for one in FACTORS])
    link = LINK
    run_words = "the path with the law"

    def __init__(self, laws: Mapping[str, Subject]) -> None:
        """``laws`` are by arm; the first is `SUBJECT`, which is searched."""
        self.laws = laws
        self.labels = {arm: law.label for arm, law in laws.items()}
        self.name = laws[SUBJECT].name
        self.title = f"Where {laws[SUBJECT].label} fails"
        self._harms = path_harms.HARMS[self.kind]
        self.harms = [one.harm for one in self._harms]

    @abstractmethod
    def draw(self, choices: Choices) -> Path:
        """The path that ``choices`` make."""

    @abstractmethod
    def tables(self, path: Path, laws: Mapping[str, Subject], title: str) -> dict[str, Any]:
        """The scenario of ``path`` with the tables of ``laws``, of which that of `SUBJECT` is in use."""

    def candidate(self, choices: Choices) -> Candidate:
        """The point that ``choices`` make."""
        path = self.draw(choices)
        cell = COLUMNS.index(path.rtt), FACTORS.index(path.change)
        scales = {one.harm.name: one.scale(path) for one in self._harms}
        return Candidate(dict(choices.made), cell, path.words, scales)

    def path(self, one: Candidate) -> Path:
        """The path of ``one``."""
        return self.draw(Choices(one.genes))

    def scenario(self, one: Candidate, arm: str) -> Scenario:
        """The scenario of ``one`` with the law of ``arm``. Raises SpecError if the law does not fit the path."""
        return Scenario(f"{self.name}.toml", self._text(one, {SUBJECT: self.laws[arm]}))

    def metrics(self, one: Candidate) -> Metrics:
        """The metrics that the harms read of ``one``."""
        groups = {flow.get("group", name) for name, flow in self.path(one).flows.items()}
        return path_harms.metrics(self.kind, groups)

    def written(self, one: Candidate, folder: files.Path, arm: str = SUBJECT) -> str:  # noqa: ARG002 -- only SUBJECT can fail
        """The scenario of ``one`` as TOML in ``folder``, with the laws of all arms, of which that of `SUBJECT` is in use."""
        return self._text(one, {name: law.seen_from(folder) for name, law in self.laws.items()})

    def sets(self, folder: files.Path) -> Mapping[str, Overrides]:  # noqa: ARG002 -- laws are in the scenario
        """By arm, the keys of an experiment."""
        return {arm: {self.place: arm} for arm in self.laws}

    def question(self) -> dict[str, Any]:
        """The law with its parameters and files, and those that it is compared with. Raises SpecError for a law that fits no path."""
        law = self.laws[SUBJECT]
        used = scenario_files.laws(self.scenario(self.candidate(Choices({})), SUBJECT))
        return {
            "law": {"argument": law.argument, "label": law.label, "parameters": law.parameters, "files": used},
            "others": [self.labels[arm] for arm in self.others],
        }

    def _text(self, one: Candidate, laws: Mapping[str, Subject]) -> str:
        return toml_text(self.tables(self.path(one), laws, f"{laws[SUBJECT].label}: {'; '.join(one.words)}"))


def laws(kind: Kind, argument: str) -> dict[str, Subject]:
    """By arm: the law that ``argument`` names, and those that it is compared with."""
    one = subject(argument, kind)
    others = {name: built_in(name, kind) for name in SPACE["compared"][kind]}
    return {SUBJECT: one, **{name: other for name, other in others.items() if other.parameters != one.parameters}}
