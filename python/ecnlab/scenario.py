"""Scenario and experiment files: read, check, tell apart."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from ecnlab._core import Experiment, Scenario
from ecnlab.errors import EcnlabError


def read_scenario(path: str | os.PathLike[str]) -> Scenario:
    """The scenario in the file ``path``. Raises SpecError naming file, line and key; OSError if it cannot be read."""
    return Scenario(str(path), read_text(path))


def read_experiment(path: str | os.PathLike[str]) -> Experiment:
    """The experiment in the file ``path``, with the scenario it names. Raises as ``read_scenario`` does."""
    return Experiment(str(path), read_text(path))


def check(path: str | os.PathLike[str]) -> None:
    """Return if the scenario or experiment in ``path`` can be run, raise as ``read_scenario`` does if not."""
    text = read_text(path)
    (Experiment if is_experiment(text) else Scenario)(str(path), text)


def is_experiment(text: str) -> bool:
    """Whether ``text`` is an experiment file: one that names a scenario."""
    try:
        return "scenario" in tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a TOML file. Raises OSError, or EcnlabError if it is not text."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise EcnlabError(f"{path}: not a TOML file: byte {error.start} is not UTF-8") from error
