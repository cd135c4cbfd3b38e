"""Load a result of either kind."""

from __future__ import annotations

import os
from pathlib import Path

from ecnlab.api.run import Run
from ecnlab.api.sweep import Sweep
from ecnlab.results.loading import kind_of


def load(folder: str | os.PathLike[str]) -> Run | Sweep:
    """Return the run or sweep stored in ``folder``.

    Raises FolderError if it holds neither, another format, or an incomplete sweep; OSError.
    """
    path = Path(folder)
    return Run.load(path) if kind_of(path) == "run" else Sweep.load(path)
