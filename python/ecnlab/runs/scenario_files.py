"""The files that a scenario names: user-defined laws and traces, each with the SHA-256 that it was read with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ecnlab._core import Scenario
from ecnlab.base.errors import EcnlabError
from ecnlab.base.user_files import special

TRACES: Final = ("csv", "mahimahi")
"""Keys of a link's rate or delay that name a trace."""

LAWS: Final = ("python",)
"""Keys that name a user-defined law, FILE.py:CLASS."""

CHANGED: Final = (
    "{path}: the file has changed since the sweep or run began; restore it and run the same command again, or start over "
    "in another folder (`--out`)"
)


def laws(scenario: Scenario) -> dict[str, str]:
    """The files of the laws of ``scenario`` with their digests, as it names them: relative to its folder, unless absolute."""
    if ".py:" not in scenario.to_toml():
        return {}
    found = _tables({key: scenario.resolved[key] for key in ("tcp", "queue")}, LAWS)
    return {table["python"].rpartition(":")[0]: table["sha256"] for table in found}


def traces(scenario: Scenario) -> dict[str, str]:
    """The same of its traces."""
    if not any(key in scenario.to_toml() for key in TRACES):
        return {}
    found = _tables(scenario.resolved["link"], TRACES)
    return {table.get("csv") or table["mahimahi"]: table["sha256"] for table in found}


def named(scenario: Scenario) -> dict[str, str]:
    """The same of its laws and traces."""
    return laws(scenario) | traces(scenario)


def from_here(scenario: Scenario, names: Mapping[str, str]) -> dict[str, str]:
    """``names`` of files of ``scenario``, as paths from the working directory."""
    folder = Path(scenario.path).parent
    return {str(folder / name): digest for name, digest in names.items()}


def refuse_changed(files: Mapping[str, str]) -> None:
    """Raise EcnlabError if a file differs from the one that the parent process has read."""
    for path, digest in files.items():
        try:
            now = "" if special(Path(path)) else hashlib.sha256(Path(path).read_bytes()).hexdigest()
        except OSError:
            now = ""
        if now != digest:
            raise EcnlabError(CHANGED.format(path=path))


def with_paths(value: Any, change: Callable[[str], Path]) -> Any:
    """``value``, tables or keys of a scenario, with the paths of laws and traces changed by ``change``."""
    if isinstance(value, Mapping):
        return {
            key: _path(one, change)
            if isinstance(one, str) and key.rpartition(".")[2] in (*LAWS, *TRACES)
            else with_paths(one, change)
            for key, one in value.items()
        }
    return [with_paths(one, change) for one in value] if isinstance(value, list) else value


def _path(named: str, change: Callable[[str], Path]) -> str:
    path, mark, name = named.rpartition(":") if ".py:" in named else (named, "", "")
    return f"{change(path).as_posix()}{mark}{name}"


def _tables(value: object, keys: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """The tables in ``value`` that name a file in one of ``keys``."""
    if isinstance(value, Mapping):
        if "sha256" in value and any(key in value for key in keys):
            yield value
        value = value.values()
    elif not isinstance(value, list):
        return
    for inner in value:
        yield from _tables(inner, keys)
