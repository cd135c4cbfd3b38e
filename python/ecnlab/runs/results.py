"""Result folders of either kind: load one."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from ecnlab.base.errors import FolderError
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.names import MANIFEST
from ecnlab.runs.run import Run, load_run
from ecnlab.runs.sweep_result import Sweep, load_sweep
from ecnlab.scenario.files import is_experiment, read_text


def load(folder: str | os.PathLike[str]) -> Run | Sweep:
    """Return the run or sweep stored in ``folder``.

    Raises FolderError if it holds neither, another format, or an incomplete sweep; OSError.
    """
    path = Path(folder)
    refuse_file(path)
    return load_run(path) if read_manifest(path)["kind"] == "run" else load_sweep(path)


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
