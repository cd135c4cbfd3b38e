"""The grid of the experiments on ECN today."""

from __future__ import annotations

from typing import Final

from ecnlab.papers.judge import Grid

QUEUES: Final = ("droptail", "red", "pie", "codel", "fq_codel", "cake", "dualpi2")
RATES: Final = ("1.5", "10", "20", "100")
RTTS: Final = ("5", "20", "100")
NEXT_TO_CUBIC: Final = ("cubic-ecn", "dctcp", "prague", "bbr", "bbr3", "bbr3-ecn")
"""Kinds of host in the atlas: each shares a queue with CUBIC without ECN."""

GRID: Final = Grid(
    keys=("queue", "host", "against", "path", "rate", "rtt", "size", "converted", "flows", "change", "law", "variant"),
    levels={"5 kB": 5.0, "50 kB": 50.0, "page": 300.0, "1 MB": 1000.0},
    names={
        "droptail": "drop-tail",
        "red": "RED",
        "pie": "PIE",
        "codel": "CoDel",
        "fq_codel": "FQ-CoDel",
        "cake": "CAKE",
        "dualpi2": "DualPI2",
        "reno": "Reno",
        "reno-ecn": "Reno with ECN",
        "reno-abe": "Reno with ABE",
        "reno-accecn": "Reno with AccECN",
        "cubic": "CUBIC",
        "cubic-ecn": "CUBIC with ECN",
        "cubic-abe": "CUBIC with ABE",
        "cubic-accecn": "CUBIC with AccECN",
        "dctcp": "DCTCP",
        "prague": "Prague",
        "bbr": "BBR",
        "bbr3": "BBRv3",
        "bbr3-ecn": "BBRv3 with ECN",
        "page": "page of 300 kB",
        "gone": "CoDel, marked packets count as gone",
        "kept": "CoDel, dropped packets count as queued",
        "one signal": "CoDel, one signal a departure",
        "tail": "CoDel, arriving packets are signalled",
        "clock": "a signal each 142 ms",
        "fq gone": "FQ-CoDel, marked packets count as gone",
        "no marks": "CoDel, no marks",
        "drops in overload": "CoDel, drops in overload",
        "one segment": "one segment after marks",
        "square": "square wave",
        "walk": "random walk",
    },
    words={
        "against": "against {}",
        "rate": "{} Mb/s",
        "rtt": "{} ms",
        "flows": "{} flows",
        "converted": "{} converted",
    },
)
"""Hosts are compared with others (``against``) on a path, or share a queue at a rate and a round trip. ``variant`` is the engine."""
