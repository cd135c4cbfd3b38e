"""Kinds of harm of the default spaces, and the metrics that they read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ecnlab.scoring.sheet import SUBJECT, Kind
from ecnlab.searching.harm import Harm, Scale
from ecnlab.searching.path import LINK, TRANSFERS, Path

Of = Callable[[Path], float]

DELAY: Final = 0.005
"""Seconds of delay that count as none: the target of CoDel."""

LOSS: Final = 0.02
"""A share of packets lost that counts as none."""

SHARE: Final = 0.05
"""A part of the link, or of an equal share of it, that counts as none."""


@dataclass(frozen=True, slots=True)
class PathHarm:
    """A kind of harm with its scale on each path."""

    harm: Harm
    least: Of
    best: Of

    def scale(self, path: Path) -> Scale:
        """The scale on ``path``."""
        return Scale(self.least(path), self.best(path))


def _rate(path: Path) -> float:
    return path.rate


def _flows(path: Path, name: str = "") -> int:
    bulk = [flow["count"] for key, flow in path.flows.items() if flow["traffic"] == "ftp" and name in ("", key)]
    return sum(bulk)


def _share(path: Path) -> float:
    return path.rate / max(_flows(path), 1)


def _own(path: Path) -> float:
    return path.rate * _flows(path, SUBJECT) / max(_flows(path), 1)


def _high(name: str, words: str, metric: str, unit: Literal["s", "share"], least: float) -> PathHarm:
    return PathHarm(Harm(name, words, "high", metric, unit), lambda _: least, lambda _: 0.0)


def _low(name: str, words: str, metric: str, best: Of) -> PathHarm:
    return PathHarm(Harm(name, words, "low", metric, "bit/s"), lambda path: SHARE * best(path), best)


DELAYS: Final = _high("delay", "mean queueing delay", "delay_s", "s", DELAY)
LOSSES: Final = _high("loss", "share of packets lost in the queue", "loss", "share", LOSS)

HARMS: Final[Mapping[Kind, Sequence[PathHarm]]] = {
    "aqm": (
        DELAYS,
        _low("use", "goodput of all transfers", "goodput_bps", _rate),
        _low("starvation", "goodput of the slowest transfer", "least_bps", _share),
        _high("call-delay", "99th percentile of the delay of a call", "call_delay_s", "s", DELAY),
        _high("call-loss", "share of a call's packets lost", "call_loss", "share", LOSS),
    ),
    "cc": (
        _low("alone", "goodput of the law without other transfers", "alone_bps", _own),
        _low("beside", "goodput of the law beside other transfers", "beside_bps", _own),
        _low("others", "goodput of the other transfers", "others_bps", _rate),
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
        found |= {"beside_bps" if "others" in groups else "alone_bps": _goodput("sum", SUBJECT)}
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
