"""Names of the files of a result folder, and the version of its format. The layout is in ``docs/run-folder.md``."""

from __future__ import annotations

from typing import Final

from ecnlab.folder.columns import TABLES

FORMAT: Final = 3
"""Version of the folder format. A reader rejects any other."""

MANIFEST: Final = "manifest.json"

FILES: Final = "files.json"
"""The digests of a folder that is neither a run nor a sweep: a reproduction or an agreement."""

MADE: Final = "made.json"
"""Stored with the merged tables of a sweep and with its parts: the build, and the requested tables."""

SPECS: Final = "specs.json"
"""The specifications of a sweep, by their hashes."""

PARTS: Final = "parts"
"""Subfolder of an incomplete sweep with its finished runs."""

CARD: Final = "card.json"
"""The numbers of a card."""

RESULTS: Final = "results.json"
"""The numbers and claims of a reproduction."""

OURS: Final = frozenset({*TABLES, "prediction", "timing", "runs", "metrics"})
"""Every table that a folder may have."""

CAPTURES: Final = "captures"
"""Subfolder of a run folder with its capture files."""

LOCK: Final = ".lock"
"""Lock of the process that writes into a sweep's folder."""

REMEDY: Final = "remove the folder and run again"
"""Remedy for a folder that differs from what was written."""
