"""Scenario and experiment files: reading, checking, and detecting the kind."""

from __future__ import annotations

import codecs
import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ecnlab._core import Experiment, Scenario, schema
from ecnlab.base import user_files
from ecnlab.base.errors import EcnlabError, SpecError
from ecnlab.folder.size_limits import Expected, expected, refuse_any_too_large, refuse_too_large
from ecnlab.scenario import advice, metrics, questions
from ecnlab.scenario.advice import Advice

COMMON: Final = {"format", "title"}
"""Keys that scenario and experiment files share."""

LARGEST: Final = 64 * 2**20
"""Maximum size of a scenario or experiment file, in bytes."""


def read_scenario(path: str | os.PathLike[str]) -> Scenario:
    """The scenario in the file ``path``. Raises SpecError naming file, line and key; OSError if it cannot be read."""
    text = read_text(path)
    if is_experiment(text):
        raise _refusal(path, f"is an experiment, not a scenario: `ecnlab sweep {path}` does its runs")
    return Scenario(str(path), text)


def read_experiment(path: str | os.PathLike[str]) -> Experiment:
    """The experiment in the file ``path``, with the scenario it names. Raises as ``read_scenario`` does."""
    text = read_text(path)
    if {"link", "flow"} & keys_of(text) and not is_experiment(text):
        raise _refusal(path, f"is a scenario, not an experiment: `ecnlab run {path}` runs it once")
    return _experiment(path, text)


def _experiment(path: str | os.PathLike[str], text: str) -> Experiment:
    experiment = Experiment(str(path), text)
    metrics.refuse(experiment)
    questions.refuse(experiment)
    return experiment


def with_captures(scenario: Scenario, places: Sequence[str]) -> Scenario:
    """``scenario`` with a capture at each of ``places``, links or nodes. Raises SpecError if there is no such place."""
    if not places:
        return scenario
    known = scenario.resolved
    for place in places:
        if place.partition("[")[0] not in {*known["link"], *known["node"]}:
            raise _no_place(place, [*known["link"], *known["node"]])
    return scenario.with_overrides(
        {
            f"capture.{re.sub('[^A-Za-z0-9_-]', '-', place).strip('-')}": {
                "link" if place.partition("[")[0] in known["link"] else "node": place
            }
            for place in places
        }
    )


def _no_place(place: str, known: Sequence[str]) -> SpecError:
    import difflib  # for those who misspell

    near = difflib.get_close_matches(place, known, n=1)
    help_ = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
    message = f"there is no link or node `{place}` to capture at"
    error = SpecError(f"{message}; {help_}")
    error.diagnostics = [{"path": "", "line": 0, "column": 0, "key": "capture", "message": message, "help": help_}]
    return error


class Checked(NamedTuple):
    """Result of checking a valid file."""

    expected: list[Expected]
    """Expected sizes of the scenario's growing tables."""
    advice: Advice
    memory: int = 0
    """Estimated memory of a run in bytes; of an experiment, of its largest run."""


def check(path: str | os.PathLike[str]) -> list[Expected]:
    """Return if the scenario or experiment in ``path`` can be run, raise as ``read_scenario`` does if not.

    The result includes the expected sizes of a scenario's growing tables; a scenario whose tables would be too large is an error.
    """
    return checked(path).expected


def checked(path: str | os.PathLike[str]) -> Checked:
    """As ``check``, with the warnings."""
    text = read_text(path)
    keys = keys_of(text) - COMMON
    # Making the schema takes longer than the rest of the check.
    if keys and keys.isdisjoint({"scenario", "link", "flow"}) and keys.isdisjoint(schema("scenario")["properties"]):
        raise _refusal(
            path, "is neither a scenario nor an experiment: it has no `link` or `flow` and names no `scenario`"
        )
    if is_experiment(text):
        experiment = _experiment(path, text)
        refuse_any_too_large(experiment.scenarios, Path(), metrics.tables(experiment.metrics))
        largest = max((scenario.memory for scenario in experiment.scenarios), default=0)
        return Checked([], advice.of_experiment(experiment), largest)
    scenario = Scenario(str(path), text)
    refuse_too_large(scenario, Path())
    return Checked(expected(scenario), advice.of_scenario(scenario), scenario.memory)


def is_experiment(text: str) -> bool:
    """Whether ``text`` is an experiment file: one that names a scenario."""
    return "scenario" in keys_of(text)


def keys_of(text: str) -> set[str]:
    """Return the keys of the TOML ``text``; none if it is invalid, which the scenario parser reports in detail."""
    try:
        return set(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError):
        return set()


def _refusal(path: str | os.PathLike[str], message: str) -> SpecError:
    """Return an error about a file as a whole."""
    error = SpecError(f"{path}: {message}")
    error.diagnostics = [{"path": str(path), "line": 1, "column": 1, "key": "", "message": message, "help": ""}]
    return error


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a TOML file, without a byte order mark. Raises OSError, or EcnlabError if it is not text."""
    data = user_files.read(Path(path), "a TOML file", LARGEST)
    if len(data) > LARGEST:
        raise EcnlabError(f"{path}: not an ecnlab TOML file: it has more than {LARGEST // 2**20} MiB")
    try:
        os.fspath(path).encode()
    except UnicodeEncodeError as error:
        raise EcnlabError(f"{path}: the name of the file is not UTF-8: rename it") from error
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise EcnlabError(f"{path}: not a TOML file: byte {error.start} is not UTF-8") from error
