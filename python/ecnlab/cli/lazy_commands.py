"""The commands of the command line. The module of a command is imported when the command is looked up, not before."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Final

import click

GROUPS: Final = {
    "Start": {
        "new": "new",
        "examples": "examples",
        "check": "check",
        "run": "run",
        "sweep": "sweep",
        "batch": "batch",
        "advise": "advise",
        "docs": "pages",
    },
    "Look": {
        "show": "show",
        "plot": "plot",
        "report": "report",
        "trace": "trace",
        "studio": "studio",
        "compare": "compare",
        "laws": "catalogue",
        "profiles": "catalogue",
    },
    "Judge": {
        "reproduce": "reproduce",
        "paper": "paper",
        "agree": "agree",
        "score": "score",
        "search": "search",
        "infer": "infer",
        "plan": "plan",
        "script": "script",
        "verify": "verify",
        "cache": "cache",
    },
    "Elsewhere": {
        "tc": "tc",
        "linux": "linux",
        "probe": "probe",
        "vectors": "vectors",
        "schema": "catalogue",
        "completion": "completion",
    },
}
"""The commands in the groups of ``ecnlab --help``, each with the module of ``ecnlab.cli`` that defines it, as a function with its name."""

MODULES: Final = {name: module for group in GROUPS.values() for name, module in group.items()}


class LazyCommands(MutableMapping[str, click.Command]):
    """Commands by name, as `click.Group` stores them. Iterating over the names imports nothing."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command | None] = dict.fromkeys(MODULES)

    def __getitem__(self, name: str) -> click.Command:
        command = self._loaded[name]
        if command is None:
            found = getattr(import_module(f"ecnlab.cli.{MODULES[name]}"), name)
            assert isinstance(found, click.Command)
            self._loaded[name] = command = found
        return command

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._loaded  # that of `Mapping` imports the command

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)
