"""Names of the files of a result folder, and the version of its format. The layout is in ``docs/run-folder.md``."""

from __future__ import annotations

from typing import Final

from ecnlab.folder.columns import TABLES

FORMAT: Final = 3
"""Version of the folder format. A reader refuses any other."""

MANIFEST: Final = "manifest.json"

FILES: Final = "files.json"
"""The digests of a folder that is neither a run nor a sweep: a reproduction or an agreement."""

MADE: Final = "made.json"
"""Beside the merged tables of a sweep and beside its parts: by which build, and which tables were asked for."""

OURS: Final = frozenset({*TABLES, "prediction", "timing", "runs", "metrics"})
"""Every table that a folder may have."""

CAPTURES: Final = "captures"
"""The folder of a run folder that holds its capture files."""

LOCK: Final = ".lock"
"""Held by the process that writes into a sweep's folder."""

REMEDY: Final = "remove the folder and run again"
"""What to do where a folder is not what was written."""
