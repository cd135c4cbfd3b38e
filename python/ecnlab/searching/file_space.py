"""A space from a file: the arms of an experiment, at the points that the choices of the file make."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab._core import Experiment, Scenario, SpecError
from ecnlab.base.errors import EcnlabError, MetricError
from ecnlab.base.guesses import unknown
from ecnlab.base.user_files import refuse_special
from ecnlab.runs import scenario_files
from ecnlab.scenario import metrics as measures
from ecnlab.scenario.built import Overrides, toml_text
from ecnlab.scenario.data_files import read_file
from ecnlab.scenario.files import read_experiment, read_scenario, read_text
from ecnlab.scenario.metrics import Metrics
from ecnlab.searching import search_file
from ecnlab.searching.choices import Choices
from ecnlab.searching.search_file import Places, SearchFile
from ecnlab.searching.space import Axis, Candidate, Space

LINK: Final = "bottleneck"
"""The link that is recorded, if no metric names one and there is one of this name."""


class FileSpace(Space):
    """The space of a file. Choices apply to the scenario before the keys of an arm."""

    kind = "space"
    run_words = "the point before the keys of an arm"

    def __init__(self, path: Path) -> None:
        """Read the file ``path``. Raises EcnlabError, SpecError and OSError, with the place of what is wrong."""
        refuse_special(path, "a search", twice=True)
        self._file = file = read_file(path, SearchFile)
        self._places = Places(path, read_text(path))
        search_file.check_names(file, self._places)
        self.experiment = path.parent / file.experiment
        """Path of the experiment."""
        refuse_special(self.experiment, "an experiment", twice=True)
        experiment, tables = read_experiment(self.experiment), tomllib.loads(read_text(self.experiment))
        base = read_scenario(self.experiment.parent / tables["scenario"])
        self._start = self._begun(base, tables.get("set", {}))
        self._arms = self._in_order({name: arm["set"] for name, arm in tables.get("arm", {}).items()}, experiment)
        self._options = {name: list(one.options().values()) for name, one in file.choice.items()}
        labels = {name: list(one.options()) for name, one in file.choice.items()}
        self._labels = labels
        found = search_file.harms(file, experiment.metrics, self._places)
        self._scales = {name: scale for name, (_, scale) in found.items()}
        self._metrics = measures.needed(experiment.metrics, [one.metric for one, _ in found.values()])
        self.name, self.title, self.about = path.stem, file.title, path.name
        self.labels = {arm: arm for arm in self._arms}
        self.harms = [one for one, _ in found.values()]
        self.columns, self.rows = (Axis(name, search_file.ordered(labels[name])) for name in file.axes)
        self.link = _link(self._start, self._metrics)
        self._files = [path, self.experiment, Path(base.path)]
        self._named = self._checked()

    def candidate(self, choices: Choices) -> Candidate:
        """The point that ``choices`` make."""
        words = [f"{name} {choices.pick(name, labels)}" for name, labels in self._labels.items()]
        column, row = (self._labels[name][choices.made[name]] for name in self._file.axes)
        cell = self.columns.labels.index(column), self.rows.labels.index(row)
        return Candidate(dict(choices.made), cell, words, self._scales)

    def scenario(self, one: Candidate, arm: str) -> Scenario:
        """The scenario of ``one`` with the keys of ``arm``. Raises SpecError if it refuses them."""
        return _with(self._point(one), self._arms[arm])

    def metrics(self, one: Candidate) -> Metrics:  # noqa: ARG002 -- the same at all points
        """The metrics that the harms read."""
        return self._metrics

    def written(self, one: Candidate, folder: Path, arm: str = "") -> str:
        """The scenario of ``one`` as TOML in ``folder``, with the keys of ``arm``, if it is given."""
        scenario = self.scenario(one, arm) if arm else self._point(one)
        return toml_text(self._moved(tomllib.loads(scenario.to_toml()), folder))

    def sets(self, folder: Path) -> Mapping[str, Overrides]:
        """By arm, the keys of an experiment in ``folder``, in the order in which a search sets them."""
        return {arm: dict(sorted(self._moved(values, folder).items())) for arm, values in self._arms.items()}

    def question(self) -> dict[str, Any]:
        """The arms, and the digests of the files."""
        own = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in self._files}
        here = self._places.path.parent
        files = {Path(os.path.relpath(name, here)).as_posix(): one for name, one in {**own, **self._named}.items()}
        return {"space": {"arms": list(self._arms), "files": dict(sorted(files.items()))}}

    def _begun(self, base: Scenario, values: Overrides) -> Scenario:
        try:
            return _with(base, values)
        except SpecError as error:
            raise EcnlabError(
                f"{self.experiment}: [set] without the keys of an arm, on which choices are set: {_reason(error)}"
            ) from error

    def _in_order(self, arms: dict[str, Overrides], experiment: Experiment) -> dict[str, Overrides]:
        """``arms`` with the law that is searched first. Raises EcnlabError for an experiment that cannot be searched."""
        if experiment.axes:
            message = f"{self.experiment} has the grid {', '.join(experiment.axes)}: make it choices of this file"
            raise self._places.error(message, "experiment")
        if len(arms) < 2:
            raise self._places.error(f"{self.experiment} has not two arms: add [arm.NAME] to compare", "experiment")
        law = self._file.law or next(iter(arms))
        if law not in arms:
            raise self._places.error(unknown("arm", law, arms), "law")
        return {law: arms[law], **arms}

    def _point(self, one: Candidate) -> Scenario:
        values: dict[str, Any] = {}
        for name, number in one.genes.items():
            values |= self._options[name][number]
        return _with(self._start, values)

    def _moved(self, tables: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """``tables`` with the paths of files relative to ``folder``."""
        there, here = Path(self._start.path).parent.resolve(), folder.resolve()
        moved: dict[str, Any] = scenario_files.with_paths(
            tables, lambda path: Path(os.path.relpath(there / path, here))
        )
        return moved

    def _checked(self) -> dict[str, str]:
        """Try each value of each choice alone in every arm; return the files that the scenarios name, with digests.

        Raises EcnlabError for a value that the scenario refuses, and for a choice that changes no scenario.
        """
        plain = {arm: _with(self._start, values) for arm, values in self._arms.items()}
        scenarios = list(plain.values())
        for name, options in self._options.items():
            tried = [{arm: self._tried(name, number, arm) for arm in self._arms} for number in range(len(options))]
            if len({tuple(one.hash for one in some.values()) for some in tried}) == 1:
                keys = ", ".join(dict.fromkeys(key for values in options for key in values))
                message = (
                    f"changes no scenario: each arm of {self.experiment} sets {keys}; remove it there, or this choice"
                )
                raise self._places.error(message, "choice", name)
            scenarios += [one for some in tried for one in some.values()]
        for one in scenarios:
            try:
                measures.check_in(self._metrics, [one])
            except MetricError as error:
                raise EcnlabError(f"{self.experiment}: metrics: {error}") from error
        return {
            path: digest
            for one in scenarios
            for path, digest in scenario_files.from_here(one, scenario_files.named(one)).items()
        }

    def _tried(self, name: str, number: int, arm: str) -> Scenario:
        """The scenario of ``arm`` with a value of the choice ``name`` alone. Raises EcnlabError if the value is refused."""
        try:
            return _with(_with(self._start, self._options[name][number]), self._arms[arm])
        except SpecError as error:
            one = self._file.choice[name]
            key = "range" if one.range else "points" if one.points else "values"
            message = f"{self._labels[name][number]!r} in the arm {arm}: {_reason(error)}"
            raise self._places.error(message, "choice", name, key) from error


def _with(scenario: Scenario, values: Overrides) -> Scenario:
    return scenario.with_overrides(dict(values)) if values else scenario


def _reason(error: SpecError) -> str:
    """The messages of ``error`` with their remedies, without places in overrides."""
    return "; ".join("; ".join(filter(None, (one["message"], one["help"]))) for one in error.diagnostics)


def _link(scenario: Scenario, metrics: Metrics) -> str:
    """The first link that ``metrics`` name; else `LINK`, or the first of the scenario."""
    links: list[str] = list(scenario.resolved["link"])
    named = [metric.get("where", {}).get("link") for metric in metrics.values()]
    found: str = next(one for one in (*named, LINK, *links) if one in links)
    return found
