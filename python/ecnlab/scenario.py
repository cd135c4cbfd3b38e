"""Scenario and experiment files: read, check, tell apart."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ecnlab._core import Experiment, Scenario, schema
from ecnlab.errors import EcnlabError, SpecError
from ecnlab.volume import Expected, expected, refuse_too_large

COMMON: Final = {"format", "title"}
"""Keys that any file of ours may have."""


def read_scenario(path: str | os.PathLike[str]) -> Scenario:
    """The scenario in the file ``path``. Raises SpecError naming file, line and key; OSError if it cannot be read."""
    return Scenario(str(path), read_text(path))


def read_experiment(path: str | os.PathLike[str]) -> Experiment:
    """The experiment in the file ``path``, with the scenario it names. Raises as ``read_scenario`` does."""
    return Experiment(str(path), read_text(path))


def with_captures(scenario: Scenario, places: Sequence[str]) -> Scenario:
    """``scenario`` with a capture at each of ``places``, links or nodes. Raises SpecError if there is no such place."""
    links = scenario.resolved["link"]
    overrides = {
        f"capture.{re.sub('[^A-Za-z0-9_-]', '-', place).strip('-')}": {
            "link" if place.partition("[")[0] in links else "node": place
        }
        for place in places
    }
    return scenario.with_overrides(overrides) if overrides else scenario


def check(path: str | os.PathLike[str]) -> list[Expected]:
    """Return if the scenario or experiment in ``path`` can be run, raise as ``read_scenario`` does if not.

    Of a scenario, what to expect of its tables that grow; one whose tables would be too large cannot be run.
    """
    text = read_text(path)
    if _is_neither(text):
        raise _neither(str(path))
    if is_experiment(text):
        Experiment(str(path), text)
        return []
    scenario = Scenario(str(path), text)
    refuse_too_large(scenario, Path())
    return expected(scenario)


def is_experiment(text: str) -> bool:
    """Whether ``text`` is an experiment file: one that names a scenario."""
    try:
        return "scenario" in tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False


def _is_neither(text: str) -> bool:
    """Whether ``text`` is TOML about something else: keys, but none that only a scenario or an experiment has."""
    try:
        keys = set(tomllib.loads(text)) - COMMON
    except tomllib.TOMLDecodeError:
        return False
    return bool(keys) and keys.isdisjoint({"scenario", *schema("scenario")["properties"]})


def _neither(path: str) -> SpecError:
    message = "is neither a scenario nor an experiment: it has no `link` or `flow` and names no `scenario`"
    error = SpecError(f"{path}: {message}")
    error.diagnostics = [{"path": path, "line": 1, "column": 1, "key": "", "message": message, "help": ""}]
    return error


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a TOML file. Raises OSError, or EcnlabError if it is not text."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise EcnlabError(f"{path}: not a TOML file: byte {error.start} is not UTF-8") from error
