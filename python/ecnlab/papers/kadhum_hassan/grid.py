"""The grid of Kadhum & Hassan's experiments."""

from __future__ import annotations

from typing import Final

from ecnlab.papers.judge import Grid

QUEUES: Final = ("droptail", "red", "ecn")
USERS: Final = ("10", "30")

GRID: Final = Grid(
    keys=("variant", "users", "queue", "against", "thresholds", "starts", "bin", "clock", "signal"),
    names={"droptail": "drop-tail", "red": "RED", "ecn": "ECN-RED", "front": "ECN-RED, mark-front"},
    words={
        "users": "{} users",
        "against": "against {}",
        "thresholds": "thresholds {}",
        "starts": "starts {}",
        "bin": "within {}",
        "clock": "clock of {}",
        "signal": "after a {}",
    },
)
