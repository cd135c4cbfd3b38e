"""The grid of the DualPI2 authors' experiments."""

from __future__ import annotations

from typing import Final

from ecnlab.papers.judge import Grid

AQMS: Final = ("dualpi2", "pie", "fq_codel")

GRID: Final = Grid(
    keys=("aqm", "rtts", "udp_in", "udp", "pairs"),
    names={
        "dualpi2": "DualPI2",
        "pie": "PIE",
        "fq_codel": "FQ-CoDel",
        "5, none": "5",
        "100, none": "100",
        "ecn": "ECN flow",
        "cubic": "CUBIC flow",
    },
    words={"rtts": "round trips {} ms", "udp_in": "UDP in {}", "udp": "{} Mb/s of UDP", "pairs": "{} pairs"},
)
"""Round trips are those of the ECN flow and of the CUBIC flow."""
