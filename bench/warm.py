"""`ecnlab reproduce rfc2884` twice into empty folders with a cache of runs of their own: runs of the first, elapsed time of the second."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from measuring import Options, Row, execute


def rows(_: Options) -> list[Row]:
    """Return the number of runs of the quick size, and the time with a warm cache."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "ECNLAB_CACHE": str(folder / "cache")}
        seconds = []
        for out in ("cold", "warm"):
            command = [sys.executable, "-m", "ecnlab", "reproduce", "rfc2884", "--out", str(folder / out)]
            seconds.append(execute(command, folder, environment).wall)
        runs = json.loads((folder / "warm" / "results.json").read_text())["runs"]
    return [
        Row("reproduce rfc2884 again with a warm cache", seconds[1], 20.0, "s"),
        Row("runs of the quick size of rfc2884", runs, 3500.0, "runs"),
    ]
