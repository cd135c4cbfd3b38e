"""The grid of Akujobi et al.'s experiments."""

from __future__ import annotations

from typing import Final

from ecnlab import laws
from ecnlab.papers.judge import Grid

SCHEMES: Final = ("ecn", "eb40", "eb20", "becn")
"""The paper's schemes, in the order of its claims."""

BECN: Final = laws.label("ecn", "becn")
COMBINED: Final = laws.label("ecn", "ecn-becn")

NAMES: Final = {
    "plain": "plain TCP",
    "ecn": "ECN",
    "eb45": f"{COMBINED} (45 kB)",
    "eb40": f"{COMBINED} (40 kB)",
    "eb20": f"{COMBINED} (20 kB)",
    "eb15": f"{COMBINED} (15 kB)",
    "eb6": f"{COMBINED} (6 kB)",
    "becn": BECN,
    "becn56": f"{BECN}, 56-byte quenches",
}

OTHER_READINGS: Final = (
    ("eb40", "echoes heard", 6.0),
    ("eb20", "echoes heard", 6.1),
    ("ecn", "standard", 7.0),
    ("eb40", "standard", 7.1),
    ("eb20", "standard", 7.2),
    ("becn", "standard", 7.3),
)
"""Schemes at 46 flows with another interpretation of the paper, and their position in tables."""

DELAYS: Final = ("84 ms", "120 ms", "156 ms")
"""Times by which the router delays its source quenches in notice.toml."""

LATER: Final = tuple(
    (f"{name}, {delay} later", f"{NAMES[name]}, quenched {delay} later", level + 0.01 * (i + 1))
    for level, name in enumerate(SCHEMES[1:], start=8)
    for i, delay in enumerate(DELAYS)
)
"""Schemes with delayed source quenches: label, name and position in tables."""

GRID: Final = Grid(
    keys=(
        "scheme",
        "flows",
        "path",
        "udp",
        "loss",
        "pages",
        "settings",
        "above",
        "spacing",
        "mean_packet",
        "tick",
        "timer",
    ),
    levels={name: float(level) for level, name in enumerate(("plain", *SCHEMES))}
    | {"eb45": 1.5, "eb15": 3.2, "eb6": 3.3, "becn56": 4.5}
    | {f"{name}, {reading}": level for name, reading, level in OTHER_READINGS}
    | {label: level for label, _, level in LATER},
    names=NAMES
    | {f"{name}, {reading}": f"{NAMES[name]}, {reading}" for name, reading, _ in OTHER_READINGS}
    | {label: name for label, name, _ in LATER},
    words={
        "flows": "{} flows",
        "path": "{} one way",
        "udp": "UDP that {} source quenches",
        "loss": "{} of the way back lost",
        "pages": "pages from {}",
        "settings": "{} settings",
        "above": "past max_th: {}",
        "spacing": "spacing {}",
        "mean_packet": "mean packet {}",
        "tick": "tick {}",
        "timer": "least timeout {}",
    },
)
