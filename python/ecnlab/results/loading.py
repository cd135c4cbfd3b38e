"""Folders of either kind of result."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from ecnlab.base.errors import FolderError
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.names import MANIFEST
from ecnlab.results.run import RunResult
from ecnlab.results.sweep import SweepResult
from ecnlab.scenario.files import is_experiment, read_text


def load(folder: str | os.PathLike[str]) -> RunResult | SweepResult:
    """Return the run or sweep stored in ``folder``. Raises as `kind_of`, and FolderError for an incomplete sweep."""
    path = Path(folder)
    return RunResult.load(path) if kind_of(path) == "run" else SweepResult.load(path)


def kind_of(path: Path) -> str:
    """Return "run" or "sweep": the kind of the result in ``path``. Raises FolderError if it holds neither or another format; OSError."""
    refuse_file(path)
    kind: str = read_manifest(path)["kind"]
    return kind


def refuse_file(path: Path) -> None:
    """Raise FolderError if ``path`` is a file and not a folder, with the command that makes a result of it."""
    if not path.exists() or path.is_dir():
        return
    if path.name == MANIFEST:
        raise FolderError(f"{path} is the manifest of a result: name its folder, {path.parent}")
    if not path.is_file() or path.suffix.lower() != ".toml":
        raise FolderError(f"{path} is no folder: name the folder of a run or a sweep")
    what, verb = ("an experiment", "sweep") if is_experiment(read_text(path)) else ("a scenario", "run")
    raise FolderError(
        f"{path} is {what}, not the folder of a result: `ecnlab {verb} {shlex.quote(str(path))}`, in Python "
        f"`ecnlab.{verb}({str(path)!r})`, makes one"
    )
