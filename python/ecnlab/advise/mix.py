"""Applications of a mix: their flows, and the measures that their users notice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import guess

CALL: Final = {"kind": "cbr", "rate": "100 kbps", "packet": "250 B"}
"""A voice call with FEC, or a small video: 50 packets a second in each direction."""

GAME: Final = {"kind": "cbr", "rate": "80 kbps", "packet": "160 B"}
"""62 packets a second in each direction."""

PAGE: Final = {
    "kind": "crr",
    "request": "500 B",
    "response": {"pareto2": {"mean": "60 kB", "shape": 1.5}},
    "think": "300 ms",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that users notice; smaller is better, except of ``more``."""

    name: str
    label: str
    words: str
    """How a sentence introduces its value."""
    unit: str
    scale: float
    """Factor from SI units to ``unit``."""
    smallest: float
    """The smallest difference that matters, in ``unit``."""
    more: bool = False
    share: float = 0.05
    """The smallest difference that matters as a share of the best value; the larger of both counts."""


@dataclass(frozen=True, slots=True)
class App:
    """An application of a mix."""

    name: str
    about: str
    flows: Sequence[tuple[str, str, Mapping[str, Any] | str, int]]
    """Group, direction, traffic and number of its flows."""
    measures: Sequence[Measure]


def _udp(name: str, who: str) -> Sequence[Measure]:
    return (
        Measure(f"{name}_wait", f"{who} wait, 98 %", f"98 % of the packets of a {who} wait at most", "ms", 1e3, 1.0),
        Measure(f"{name}_loss", f"{who} loss", f"loss of a {who}", "%", 100.0, 0.1),
    )


APPS: Final[Mapping[str, App]] = {
    app.name: app
    for app in (
        App(
            "web",
            "three clients that fetch objects of 60 kB on average (Pareto II, shape 1.5), each 300 ms after the last",
            (("web", "down", PAGE, 3),),
            (
                Measure("web_p90", "web object, 90 %", "90 % of web objects take at most", "ms", 1e3, 1.0),
                Measure("web_median", "web object, 50 %", "half of the web objects take at most", "ms", 1e3, 1.0),
            ),
        ),
        App(
            "call",
            "100 kb/s of UDP in each direction, a packet of 250 B every 20 ms",
            (("call-down", "down", CALL, 1), ("call-up", "up", CALL, 1)),
            _udp("call", "call"),
        ),
        App(
            "game",
            "80 kb/s of UDP in each direction, a packet of 160 B every 16 ms",
            (("game-down", "down", GAME, 1), ("game-up", "up", GAME, 1)),
            _udp("game", "game"),
        ),
        App(
            "download",
            "two TCP transfers without end",
            (("download", "down", "ftp", 2),),
            (Measure("download_rate", "download", "a download has", "Mb/s", 1e-6, 0.0, more=True),),
        ),
        App(
            "upload",
            "two TCP transfers without end",
            (("upload", "up", "ftp", 2),),
            (Measure("upload_rate", "upload", "an upload has", "Mb/s", 1e-6, 0.0, more=True),),
        ),
    )
}
"""The applications by name."""


def mix(text: str) -> tuple[App, ...]:
    """Return the applications of ``text``, names with commas. Raises EcnlabError with the option."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise EcnlabError(f"--mix: no application is named; there are {', '.join(APPS)}")
    for name in names:
        if name not in APPS:
            raise EcnlabError(
                f"--mix: no application is called {name!r}{guess(name, APPS)}; there are {', '.join(APPS)}"
            )
        if names.count(name) > 1:
            raise EcnlabError(f"--mix: {name} is named twice: write each application once, the most important first")
    return tuple(APPS[name] for name in names)
