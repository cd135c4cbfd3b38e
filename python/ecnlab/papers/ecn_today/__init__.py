"""RFC 2884's questions for the queues and senders of 2026: whom ECN helps, by how much, and where it harms.

The experiments are the files of ``papers/ecn-today``; ``published.toml`` there has the statements, which are older than the
runs, ``metrics.toml`` the measurements, ``report.toml`` the report.
"""

from __future__ import annotations

from typing import Final

from ecnlab.papers.ecn_today import atlas, linux
from ecnlab.papers.ecn_today.grid import GRID
from ecnlab.papers.paper import Paper, Step, named

QUICK: Final = 5
MAPS: Final = 3
"""Seeds of each point in the quick size, and of each cell of the atlas, which takes half of the time."""
FULL: Final = 20
FEW: Final = (1, 10)
"""Seeds of the switch itself, of the atlas for longer and of causes. One shows that they run, and decides nothing."""

PAPER: Final = Paper(
    "ecn-today",
    GRID,
    (
        Step("alone", QUICK, FULL, ("sojourns",)),
        Step("together", MAPS, FULL),
        Step("longer", *FEW),
        Step("transactions", QUICK, FULL, ("transactions",)),
        Step("pages", QUICK, FULL, ("objects",)),
        Step("switch", *FEW, ("transactions", "objects")),
        Step("converted", QUICK, FULL),
        Step("load", QUICK, FULL),
        Step("changing", QUICK, FULL, ("sojourns", "transactions")),
        Step("slow-goodput", *FEW),
        Step("slow-pages", *FEW, ("objects",)),
    ),
    atlas.draw,
    linux.STEPS,
    compare=linux.compare,
    own=named(linux.client_latency_s),
    blocks=named(atlas.atlas, linux.verdict_counts, linux.compared_cells),
    words=named(linux.on_linux),
)
