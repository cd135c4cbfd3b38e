"""What a search looks for: measures of a law that are worse than those of the best other law on the same path, with the same seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ecnlab.scoring.sheet import Kind
from ecnlab.searching.path import LINK, Path
from ecnlab.searching.queue_space import TRANSFERS
from ecnlab.searching.sender_space import SUBJECT

Unit = Literal["s", "bit/s", "share"]

Values = Mapping[str, float | None]
"""The metrics of a run."""

DELAY: Final = 0.005
"""Seconds of delay that count as none: the target of CoDel."""

LOSS: Final = 0.02
"""A share of packets lost that counts as none."""

SHARE: Final = 0.05
"""A part of the link, or of an equal share of it, that counts as none."""


@dataclass(frozen=True, slots=True)
class Harm:
    """A kind of harm: how many times worse a measure is than that of the best other law. 1 is none."""

    name: str
    words: str
    """The measure, as a sentence has it."""
    worse: Literal["high", "low"]
    metric: str
    unit: Unit
    least: Callable[[Path], float]
    """What is added to both values: as much as counts as none."""
    best: Callable[[Path], float]
    """The best value that a law can have."""

    @property
    def side(self) -> str:
        """How its measure is worse."""
        return "higher than" if self.worse == "high" else "lower than"

    def of(self, path: Path, own: Values, others: Sequence[Values]) -> float:
        """The harm of a law with the metrics ``own``, where other laws have ``others``."""
        there = [value for one in others if (value := one.get(self.metric)) is not None]
        return self._times(path, own, (min if self.worse == "high" else max)(there)) if there else 1.0

    def most(self, path: Path, own: Values) -> float:
        """As much harm as there is if another law is as good as any can be."""
        return self._times(path, own, self.best(path))

    def _times(self, path: Path, own: Values, best: float) -> float:
        value = own.get(self.metric)
        if value is None:
            return 1.0
        least = self.least(path)
        return (value + least) / (best + least) if self.worse == "high" else (best + least) / (value + least)


def _rate(path: Path) -> float:
    return path.rate


def _flows(path: Path, name: str = "") -> int:
    bulk = [flow["count"] for key, flow in path.flows.items() if flow["traffic"] == "ftp" and name in ("", key)]
    return sum(bulk)


def _share(path: Path) -> float:
    return path.rate / max(_flows(path), 1)


def _own(path: Path) -> float:
    return path.rate * _flows(path, SUBJECT) / max(_flows(path), 1)


def _of(number: float) -> Callable[[Path], float]:
    return lambda _path: number


def _part(of: Callable[[Path], float]) -> Callable[[Path], float]:
    return lambda path: SHARE * of(path)


DELAYS: Final = Harm("delay", "mean queueing delay", "high", "delay_s", "s", _of(DELAY), _of(0.0))
LOSSES: Final = Harm("loss", "share of packets lost in the queue", "high", "loss", "share", _of(LOSS), _of(0.0))

HARMS: Final[Mapping[Kind, Sequence[Harm]]] = {
    "aqm": (
        DELAYS,
        Harm("use", "goodput of all transfers", "low", "goodput_bps", "bit/s", _part(_rate), _rate),
        Harm("starvation", "goodput of the slowest transfer", "low", "least_bps", "bit/s", _part(_share), _share),
        Harm("call-delay", "99th percentile of the delay of a call", "high", "call_delay_s", "s", _of(DELAY), _of(0.0)),
        Harm("call-loss", "share of a call's packets lost", "high", "call_loss", "share", _of(LOSS), _of(0.0)),
    ),
    "cc": (
        Harm("own", "goodput of the law", "low", "own_bps", "bit/s", _part(_own), _own),
        Harm("others", "goodput of the other transfers", "low", "others_bps", "bit/s", _part(_rate), _rate),
        DELAYS,
        LOSSES,
    ),
}
"""Kinds of harm of queues and of senders."""


def metrics(kind: Kind, groups: Collection[str]) -> dict[str, dict[str, Any]]:
    """The metrics that the kinds of harm read of a scenario with ``groups``, as in an experiment file."""
    found: dict[str, dict[str, Any]] = {
        "delay_s": {"table": "links", "column": "sojourn_mean_s", "where": {"link": LINK}},
        **_loss("", "all"),
    }
    if kind == "aqm":
        found |= {"goodput_bps": _goodput("sum", TRANSFERS), "least_bps": _goodput("min", TRANSFERS)}
    else:
        found |= {"own_bps": _goodput("sum", SUBJECT)}
    if "call" in groups:
        where = {"link": LINK, "group": "call"}
        found |= {
            "call_delay_s": {"table": "sojourns", "column": "sojourn_p99_s", "where": where},
            **_loss("call_", "call"),
        }
    if "others" in groups:
        found |= {"others_bps": _goodput("sum", "others")}
    return found


def _goodput(aggregate: str, group: str) -> dict[str, Any]:
    return {"table": "flows", "column": "goodput_bps", "aggregate": aggregate, "where": {"group": group}}


def _loss(name: str, group: str) -> dict[str, dict[str, Any]]:
    counts = {
        f"{name}{one}": {"table": "queues", "column": one, "aggregate": "sum", "where": {"link": LINK, "group": group}}
        for one in ("dropped", "arrived")
    }
    return {**counts, f"{name}loss": {"ratio": [f"{name}dropped", f"{name}arrived"]}}


def mean(harms: Sequence[float]) -> float:
    """The geometric mean of the harm with several seeds."""
    return math.exp(sum(map(math.log, harms)) / len(harms))
