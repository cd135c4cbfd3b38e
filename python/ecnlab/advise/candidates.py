"""The candidates: queues that a home router can have in front of the line, and the line's own buffer."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from ecnlab.advise.line import Line
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import guess_law

SHARE: Final = 0.95
"""Rate of the shapers as a share of the line's."""

ASSETS: Final = tomllib.loads(resources.files("ecnlab.advise").joinpath("assets", "candidates.toml").read_text("utf-8"))

NONE: Final[str] = ASSETS["none"]
"""The candidate without a shaper: packets wait in the buffers of the line."""

QUEUES: Final[Mapping[str, Mapping[str, Any]]] = ASSETS["queue"]
"""The other candidates, by discipline."""

CANDIDATES: Final = (NONE, *QUEUES)

HELD_BACK_NOWHERE: Final = {"discipline": NONE, "limit": "1000 packets"}
"""The queue of a link that holds nothing back."""

FAST: Final = "10 Gbps"
"""Rate of a link that holds nothing back."""


@dataclass(frozen=True, slots=True)
class Direction:
    """The queue of a candidate in one direction."""

    link: Mapping[str, Any]
    """Keys of the router's link."""
    queue: Mapping[str, Any]


def candidates(text: str | None) -> tuple[str, ...]:
    """Return the candidates of ``text``, names with commas, with `NONE` first. Raises EcnlabError with the option."""
    if text is None:
        return CANDIDATES
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in CANDIDATES:
            hint = guess_law(name, CANDIDATES)
            raise EcnlabError(f"--queues: no candidate is called {name!r}{hint}; there are {', '.join(CANDIDATES)}")
    chosen = tuple(name for name in CANDIDATES if name == NONE or name in names)
    if len(chosen) < 2:
        raise EcnlabError(f"--queues: {text!r} leaves nothing to compare with {NONE}; there are {', '.join(QUEUES)}")
    return chosen


def direction(name: str, line: Line, rate_bps: float, *, ingress: bool) -> Direction:
    """Return the queue ``name`` in front of a direction of ``line`` with ``rate_bps``; ``ingress`` if it is after the line."""
    kind = line.kind
    if name == NONE:
        return Direction({"rate": FAST}, HELD_BACK_NOWHERE)
    shaped = SHARE * rate_bps
    queue: dict[str, Any] = {"discipline": name, "limit": QUEUES[name]["limit"], "ecn": True}
    if "shapes" in QUEUES[name]:
        about = {"rate": f"{round(shaped)} bps", "overhead": kind.overhead, "mpu": kind.mpu, "framing": kind.framing}
        return Direction({"rate": FAST}, {**queue, **about, "ingress": ingress})
    return Direction(framed(line, shaped), queue)


def framed(line: Line, rate_bps: float) -> dict[str, Any]:
    """Keys of a link that sends IP packets at ``rate_bps`` with the framing of ``line``.

    A packet of n bytes takes the time of a + b n bytes (`Kind.affine`): its rate is divided by b, and each packet waits for the
    time of a bytes before its transmission.
    """
    constant, slope = line.kind.affine()
    keys: dict[str, Any] = {"rate": f"{round(rate_bps / slope)} bps"}
    if constant > 0:
        keys["aggregation"] = {"bytes": "1 B", "access": f"{round(8e9 * constant / rate_bps)} ns"}
    return keys
