"""The finished runs of a sweep that is not complete."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.finished_runs import Parts
from ecnlab.folder.manifest import read_manifest
from ecnlab.folder.names import SPECS
from ecnlab.folder.sealed_json import read_json


@dataclass(frozen=True)
class Unfinished:
    """A sweep that is not complete."""

    manifest: dict[str, Any]
    finished: int
    """How many runs are finished."""
    missing: int
    flows: pl.DataFrame | None
    """The flows of the finished runs that are not merged, with the run's ``id``; None if there are none."""


def load_unfinished(folder: str | os.PathLike[str]) -> Unfinished | None:
    """Return the finished runs of the sweep in ``folder``; None if it is complete, or a run.

    Raises FolderError, OSError.
    """
    path = Path(folder)
    manifest = read_manifest(path)
    if manifest["kind"] != "sweep" or manifest["complete"]:
        return None
    parts = Parts(path, manifest["keep"], "")
    parts.take_stock()
    held = [f"{run:016x}" for run in parts.held()]
    flows = [tables["flows"].collect() for _, tables in parts.batches(held) if "flows" in tables]
    runs = len(read_json(path / SPECS)) * manifest["replicates"]
    return Unfinished(manifest, len(held), runs - len(held), pl.concat(flows) if flows else None)
