"""Prague (draft-briscoe-iccrg-prague-congestion-control-04)."""

from __future__ import annotations

from typing import Final

from ecnlab.laws.kinds import Column, Window

MISSING: Final = "; missing if the window law is another"

COLUMNS: Final = {
    "prague_alpha": Column("ratio", f"Prague's estimate of the marked part of its segments{MISSING}"),
    "prague_cwnd_segments": Column("segments", f"Prague's window with its fraction{MISSING}"),
}

LAW: Final = Window(label="Prague", columns=COLUMNS)
