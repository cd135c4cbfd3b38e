"""The grid of RFC 2884's experiments."""

from __future__ import annotations

from typing import Final

from ecnlab import laws
from ecnlab.papers.judge import Grid

LOADS: Final = {"low": 2.0, "moderate": 5.0, "high": 10.0}
"""Background flows of the congestion levels (section 4.3)."""

GRID: Final = Grid(
    keys=("variant", "recovery", "congestion", "maxp", "size", "background", "min_th", "setting"),
    levels=LOADS,
    names={
        **{scheme: laws.label("recovery", scheme) for scheme in ("reno", "newreno", "sack")},
        "fack": "SACK/FACK",
        "plain": "non-ECN background",
        "ecn": "ECN background",
    },
    words={"congestion": "{} load", "maxp": "max_p {}", "min_th": "min_th {}"},
)
