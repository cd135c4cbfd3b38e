"""The grid of Kwon & Fahmy's experiments."""

from __future__ import annotations

from typing import Final

from ecnlab import laws
from ecnlab.papers.judge import Grid

ARMS: Final = ("reno", "reno-ecn", "ecn-ab", "ecn-ab-real")
"""Reno, Reno-ECN, ECN(alpha, beta) with windows in whole packets as ns-2.1b6 reduces them, and with their fractions."""

PRIMARY: Final = ("reno", "reno-ecn", "ecn-ab")
"""The arms used for verdicts: those of the simulator named on slides 15 and 19, whose slowdown() cuts windows to whole
packets. The others are shown for comparison."""

AS_IS: Final = "as is"
MORE_FTP: Final = "10 more FTP"
MORE_UDP: Final = "10 more UDP"

SLIDE_7: Final = "slide 7"
GENTLE: Final = "gentle"
"""RED above max_th in the calibrations: drops from there on, or gentle."""

RENO: Final = laws.label("congestion", "reno")
ECN_AB: Final = laws.label("congestion", "ecn-alpha-beta")

GRID: Final = Grid(
    keys=(
        "test",
        "arm",
        "against",
        "flows",
        "loss",
        "min_th",
        "maxp",
        "above",
        "object_size",
        "inter_session",
        "udp_rate",
    ),
    names={
        "reno": RENO,
        "reno-ecn": f"{RENO}-ECN",
        "ecn-ab": ECN_AB,
        "ecn-ab-real": f"{ECN_AB}, real windows",
        "vegas": laws.label("congestion", "vegas"),
    },
    words={
        "against": "against {}",
        "flows": "{} flows",
        "loss": "wire loss {}",
        "min_th": "min_th {}",
        "maxp": "max_p {}",
        "object_size": "objects of {}",
        "inter_session": "a session every {}",
        "udp_rate": "UDP of {}",
    },
)
