"""Layouts of reports: the stages of each section, as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.scenario.files import read_text
from ecnlab.stages.registry import Kind, Stages

KEYS: Final = {"name": str, "title": str, "intro": str, "stages": list, "folded": bool}
"""Keys of a `[[section]]` and their types."""

WORDS: Final = {"str": "text", "list": "list", "dict": "table", "bool": "flag, true or false"}
"""Types in messages."""

REQUIRED: Final = ("title", "stages")


@dataclass(frozen=True, slots=True)
class Place:
    """A section of a report: its anchor, its title, a text of one line, the names of its stages, and whether it is folded."""

    name: str
    title: str
    intro: str
    stages: Sequence[str]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The summary's stages, and the sections."""

    summary: Sequence[str]
    places: Sequence[Place]

    @property
    def stages(self) -> set[str]:
        """Return the names of all its stages."""
        return {*self.summary, *(name for place in self.places for name in place.stages)}


def read_layout(file: Path, kind: Kind, stages: Stages) -> Layout:
    """Return the layout in the TOML ``file``.

    Raises EcnlabError, with place, key and remedy, if it is no layout or names a stage that is not in ``stages``; OSError.
    """
    return _layout(read_text(file), str(file), kind, stages)


def built_in(kind: Kind, stages: Stages) -> Layout:
    """Return the layout of ecnlab for results of a ``kind``."""
    name = f"{kind}.toml"
    text = resources.files("ecnlab.stages").joinpath("assets", name).read_text(encoding="utf-8")
    return _layout(text, name, kind, stages)


def _layout(text: str, where: str, kind: Kind, stages: Stages) -> Layout:
    try:
        table = tomllib.loads(text)
    except ValueError as error:
        raise EcnlabError(f"{where}: not a TOML file: {error}; correct it") from error
    _refuse_unknown(table, {"summary": dict, "section": list}, where, "")
    summary = table.get("summary", {})
    _refuse_unknown(summary, {"stages": list, "folded": bool}, where, "summary.")
    names = [name for stage_kind, name in stages if stage_kind == kind]
    _refuse_unknown_stages(summary.get("stages", []), names, f"{where}: summary.stages", kind)
    places = [_place(one, where, f"section[{i}]", names, kind) for i, one in enumerate(table.get("section", []))]
    return Layout(summary.get("stages", []), places)


def _place(section: Any, where: str, key: str, names: Sequence[str], kind: Kind) -> Place:
    if not isinstance(section, dict):
        raise EcnlabError(f"{where}: {key} is no table: begin each section with [[section]]")
    _refuse_unknown(section, KEYS, where, f"{key}.")
    for required in REQUIRED:
        if required not in section:
            raise EcnlabError(f"{where}: {key} has no `{required}`: add it")
    _refuse_unknown_stages(section["stages"], names, f"{where}: {key}.stages", kind)
    anchor = section.get("name") or "-".join(section["title"].lower().split())
    return Place(anchor, section["title"], section.get("intro", ""), section["stages"], section.get("folded", False))


def _refuse_unknown(table: Mapping[str, Any], keys: Mapping[str, type], where: str, above: str) -> None:
    for key, value in table.items():
        if key not in keys:
            raise EcnlabError(f"{where}: unknown key `{above}{key}`: there are {', '.join(keys)}")
        if not isinstance(value, keys[key]):
            raise EcnlabError(f"{where}: `{above}{key}` is {value!r}: write a {WORDS[keys[key].__name__]}")


def _refuse_unknown_stages(requested: Sequence[Any], names: Sequence[str], where: str, kind: Kind) -> None:
    for name in requested:
        if name not in names:
            raise EcnlabError(f"{where}: no stage of a {kind} is called {name!r}: there are {', '.join(sorted(names))}")
