"""The exit codes, as ``docs/cli.md`` has them."""

from __future__ import annotations

from typing import Final

OK: Final = 0
NO: Final = 1
BAD_INPUT: Final = 2
IO_FAILED: Final = 3
DEFECT: Final = 4
NO_EVIDENCE: Final = 5
INTERNAL: Final = 6
LAW_FAILED: Final = 7
INTERRUPTED: Final = 130
TERMINATED: Final = 143
