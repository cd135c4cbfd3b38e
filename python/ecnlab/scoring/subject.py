"""The queue that a card is about, with its parameters: a built-in discipline, a table of a scenario, or a Python class."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ecnlab import _core, laws
from ecnlab.base.errors import EcnlabError
from ecnlab.scenario import sketched
from ecnlab.scenario.files import read_scenario

RATE: Final = "10 Mbps"
RTT: Final = "100 ms"
"""Rate and RTT for which required keys, such as thresholds, are chosen: those of most scenarios of the sheet."""

DEFAULT: Final = "default"
"""The queue of links without the key ``queue``: not the subject of a scenario file."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A queue with its parameters."""

    name: str
    label: str
    source: str
    """Where the parameters are from, in words."""
    parameters: Mapping[str, Any]
    """The table ``[queue.NAME]`` without ``limit``; paths in it are absolute."""
    argument: str
    """What a command names it by."""
    inner_limits: bool = False
    """Whether the limits of inner queues follow the limit of the queue."""

    def table(self, limit: int) -> dict[str, Any]:
        """The table of the queue with a limit of ``limit`` packets, and a record of quantiles."""
        found = {**self.parameters, "limit": f"{limit} packets", "quantiles": True}
        if self.inner_limits and "class" in found:
            inner = {name: {**one, "limit": f"{limit} packets"} for name, one in found["class"].items()}
            found["class"] = inner
        return found


def subject(argument: str) -> Subject:
    """The queue that ``argument`` names: ``NAME``, ``FILE.toml``, ``FILE.toml:NAME`` or ``FILE.py:CLASS``.

    Raises EcnlabError for an unknown name and a file without such a queue, SpecError for a file that is no scenario,
    OSError.
    """
    path, _, name = argument.rpartition(":")
    if argument.endswith(".toml"):
        return _of_scenario(Path(argument), None)
    if path.endswith(".toml"):
        return _of_scenario(Path(path), name)
    if path.endswith(".py"):
        return _of_class(Path(path), name, argument)
    if argument.endswith(".py"):
        raise EcnlabError(f"{argument}: no class is named: write {argument}:CLASS")
    return built_in(argument)


def built_in(name: str) -> Subject:
    """The built-in queue discipline ``name`` with its defaults; keys that it requires are as `ecnlab new` writes them."""
    known = [one for one in _core.laws()["queue"] if "copy" not in sketched.sketched("queue", one)]
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        remedy = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
        raise EcnlabError(f"there is no queue discipline {name!r}; {remedy} A file ends in .toml, or is FILE.py:CLASS")
    sketch = sketched.sketch(RATE, RTT, name, sketched.SKETCHES["default"]["senders"], "1 s")
    table = tomllib.loads(sketched.text(sketch))["queue"]["bottleneck"]
    source = f"the defaults; required keys as ecnlab new writes them for {RATE} and {RTT}"
    return Subject(name, laws.label("queue", name), source, _without_limit(table), name, inner_limits=True)


def _of_class(path: Path, name: str, argument: str) -> Subject:
    if not name.isidentifier():
        raise EcnlabError(f"{argument}: {name!r} is no name of a class: write {path}:CLASS")
    if not path.is_file():
        raise EcnlabError(f"{path}: there is no such file: write FILE.py:CLASS")
    table = {"discipline": {"python": f"{path.resolve()}:{name}"}, "ecn": True}
    return Subject(name, name, f"the class {name} of {path}", table, f"{path.resolve()}:{name}")


def _of_scenario(path: Path, name: str | None) -> Subject:
    scenario = read_scenario(path)
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("queue", {})
    there = [one for one in tables if one != DEFAULT] or list(tables)
    if not there:
        raise EcnlabError(f"{path}: has no table [queue.NAME]: add one, or name a built-in discipline")
    if name is None and len(there) > 1:
        raise EcnlabError(f"{path}: has the queues {', '.join(there)}: write {path}:{there[0]}")
    chosen = there[0] if name is None else name
    if chosen not in tables:
        raise EcnlabError(f"{path}: has no table [queue.{chosen}]; there are {', '.join(there)}")
    table = _absolute(_without_limit(tables[chosen]), path.parent)
    discipline = scenario.resolved["queue"].get(chosen, table)["discipline"]
    label = laws.label("queue", discipline) if isinstance(discipline, str) else chosen
    where = f"{path.resolve()}:{chosen}"
    return Subject(chosen, label, f"the table [queue.{chosen}] of {path}", table, where)


def _without_limit(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in ("limit", "quantiles")}


def _absolute(value: Any, folder: Path) -> Any:
    """``value`` with the paths of Python files absolute; they are relative to ``folder``, that of their scenario."""
    if isinstance(value, Mapping):
        return {key: _path(one, folder) if key == "python" else _absolute(one, folder) for key, one in value.items()}
    return value


def _path(named: Any, folder: Path) -> Any:
    path, mark, name = str(named).rpartition(":")
    return f"{(folder / path).resolve()}{mark}{name}"


def marks(queue: Mapping[str, Any]) -> bool:
    """Whether a resolved queue, or one in it, marks."""
    return bool(queue.get("ecn")) or any(marks(inner) for inner in queue.get("class", {}).values())
