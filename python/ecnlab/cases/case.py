"""A test case: a scenario, and checks of the time series of its flow, read from a TOML file."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from ecnlab._core import Scenario
from ecnlab.base.errors import EcnlabError

FOLDER: Final = Path(__file__).parent / "files"
SUITE: Final = "suite.toml"
"""The file of a folder of cases that is no case: the source, and the states of the law under test."""
SEED: Final = 1
"""The seed of a case that names none."""

KEYS: Final = {
    "title": str,
    "tests": str,
    "scenario": str,
    "seed": int,
    "check": list,
    "wrong": dict,
    "departure": str,
    "note": str,
}
REQUIRED: Final = ("title", "tests", "scenario", "check", "wrong")
SHAPES: Final = (
    {"claim", "states", "from"},
    {"claim", "never", "from", "to"},
    {"claim", "column", "at", "times", "plus", "min", "max", "equals", "near", "set"},
    {"claim", "column", "from", "to", "over", "times", "plus", "min", "max", "equals", "near", "set"},
)
"""Keys of each form of a check."""
BOUNDS: Final = {"min", "max", "equals", "near", "set"}


@dataclass(frozen=True, slots=True)
class Suite:
    """The source of the cases, and how series show the states of the law under test."""

    source: str
    column: str
    """Column of the state in ``flow_series``; its values count from 1."""
    states: tuple[str, ...]
    derived: Mapping[str, tuple[str | float, ...]]
    """Further columns, each a product of columns and numbers."""
    exported: tuple[str, ...]
    """Columns of an exported change of state."""


@dataclass(frozen=True, slots=True)
class Case:
    """A test case of a suite."""

    name: str
    title: str
    """Heading of the case in its source."""
    tests: str
    """The steps of the source that the checks test."""
    text: str
    """The scenario, a TOML text."""
    seed: int
    checks: tuple[Mapping[str, Any], ...]
    wrong: Mapping[str, Any]
    """Dotted keys of the scenario with which at least one check fails."""
    departure: str | None
    """Why a step of the source cannot be met; None: all are."""
    note: str | None
    suite: Suite

    def scenario(self, overrides: Mapping[str, object] | None = None) -> Scenario:
        """Return the scenario, with the dotted keys ``overrides`` set. Raises SpecError."""
        read_ = Scenario(f"{self.name}.toml", self.text)
        return read_.with_overrides(dict(overrides)) if overrides else read_


@cache
def names() -> tuple[str, ...]:
    """The names of all cases, in the order of their source."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml") if path.name != SUITE))


def case(name: str) -> Case:
    """Return the case ``name``, or that of the number ``name``. Raises EcnlabError for an unknown name."""
    found = [one for one in names() if one == name or one.split("-")[0] == name.zfill(2)]
    if not found:
        near = difflib.get_close_matches(name, names(), n=1)
        help_ = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names())}"
        raise EcnlabError(f"there is no case `{name}`: {help_}")
    return read(FOLDER / f"{found[0]}.toml")


@cache
def suite(folder: Path) -> Suite:
    """Return the suite of the cases in ``folder``."""
    table = tomllib.loads((folder / SUITE).read_text(encoding="utf-8"))
    derived = {name: tuple(factors) for name, factors in table["derived"].items()}
    return Suite(table["source"], table["state"], tuple(table["states"]), derived, tuple(table["exported"]))


def read(path: Path) -> Case:
    """Return the case in the file ``path``. Raises EcnlabError for a file that is no case."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EcnlabError(f"{path}: not TOML: {error}") from None
    _known(path, "", table, set(KEYS))
    for key in REQUIRED:
        if key not in table:
            raise EcnlabError(f"{path}: `{key}` is missing: add it")
    for key, value in table.items():
        if not isinstance(value, KEYS[key]):
            raise EcnlabError(f"{path}: `{key}` is a {type(value).__name__}: write a {KEYS[key].__name__}")
    own = suite(FOLDER)
    for number, check in enumerate(table["check"], 1):
        _checked(path, f"check {number}: ", check, own)
    return Case(
        name=path.stem,
        title=table["title"],
        tests=table["tests"].strip(),
        text=table["scenario"].strip() + "\n",
        seed=table.get("seed", SEED),
        checks=tuple(table["check"]),
        wrong=table["wrong"],
        departure=table.get("departure"),
        note=table.get("note"),
        suite=own,
    )


def _known(path: Path, place: str, table: Mapping[str, Any], keys: set[str]) -> None:
    for key in table:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, n=1)
            help_ = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(sorted(keys))}"
            raise EcnlabError(f"{path}: {place}unknown key `{key}`: {help_}")


def _checked(path: Path, place: str, check: Mapping[str, Any], own: Suite) -> None:
    """Raise EcnlabError if ``check`` has none of the forms of a check, or one that cannot fail."""
    if "claim" not in check:
        raise EcnlabError(f"{path}: {place}`claim` is missing: write what is checked, in a sentence")
    marks = ("states", "never", "at")
    shape = next((shape for key, shape in zip(marks, SHAPES, strict=False) if key in check), SHAPES[-1])
    _known(path, place, check, shape)
    if shape in SHAPES[2:]:
        if "column" not in check:
            raise EcnlabError(f"{path}: {place}`column` is missing: name one, or write `states` or `never`")
        if not BOUNDS & check.keys():
            raise EcnlabError(f"{path}: {place}it has no bound, and cannot fail: add {', '.join(sorted(BOUNDS))}")
    wanted = [*check.get("states", ()), *([check["never"]] if "never" in check else [])]
    for state in wanted:
        if state not in own.states:
            raise EcnlabError(f"{path}: {place}there is no state `{state}`: there are {', '.join(own.states)}")
