"""A run in a separate process, for a scenario with user-defined laws: a law may block, print, or end its process.

An interrupt ends the process, in any state of the law.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ecnlab._core import Scenario
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.streamed_tables import Growing

if TYPE_CHECKING:
    from ecnlab.engines.packets import Packets

_HELD: Final = ".arrow"
"""Suffix of the table files passed on by the process."""


def write(answerer: Packets, scenario: Scenario, task: Mapping[str, Any]) -> dict[str, list[str]]:
    """Do the run that ``task`` describes, and write its tables into the folder that it names: their names, in order.

    For `read`. Tables that became large are in ``stored`` and in files of Parquet, which remain.
    """
    scratch, captures = Path(task["scratch"]), task["captures"]
    with Growing(scratch, most=task["most"]) as growing:
        tables = answerer.tables(
            scenario,
            task["seed"],
            events=task["events"],
            captures=Path(captures) if captures else None,
            blocks=growing.take,
        )
        stored = growing.tables
        for name in stored:
            growing.add(name, tables[name])
            growing.finish(name, scratch / f"{name}.parquet")
    for name in tables.keys() - stored:
        tables[name].write_ipc(scratch / f"{name}{_HELD}")
    return {"order": list(tables), "stored": stored}


def read(index: Mapping[str, list[str]], scratch: Path) -> tuple[dict[str, pl.DataFrame], dict[str, Path]]:
    """Return the tables written by `write` into ``scratch``: those in memory, and the files of those that became large."""
    held = {}
    for name in index["order"]:
        if name not in index["stored"]:
            path = scratch / f"{name}{_HELD}"
            held[name] = pl.read_ipc(path)
            path.unlink()
    return held, {name: scratch / f"{name}.parquet" for name in index["stored"]}
