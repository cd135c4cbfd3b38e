"""RFC 2884's questions asked again, of the queues and senders of 2026: whom ECN helps, by how much, and where it harms.

The experiments are the files of ``papers/ecn-today``; ``published.toml`` there has the statements, which are older than the
runs, ``metrics.toml`` the measurements, ``report.toml`` the report.
"""

from __future__ import annotations

from typing import Final

from ecnlab.papers.ecn_today import atlas
from ecnlab.papers.ecn_today.grid import GRID
from ecnlab.papers.paper import Paper, Step, named

QUICK: Final = 7
FULL: Final = 20
"""Seeds of each point."""

PAPER: Final = Paper(
    "ecn-today",
    GRID,
    (
        Step("alone", QUICK, FULL, ("sojourns",)),
        Step("together", QUICK, FULL),
        Step("transactions", QUICK, FULL, ("transactions",)),
        Step("converted", QUICK, FULL),
        Step("load", QUICK, FULL),
        Step("changing", QUICK, FULL, ("sojourns", "transactions")),
    ),
    atlas.draw,
    blocks=named(atlas.atlas),
)
