"""Paths of a card: rate, RTT and buffer of a bottleneck, its flows and their start, drawn at random from the ranges of a sheet."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from ecnlab.base.quantities import quantity

PACKET: Final = 1500
"""Bytes of a full packet of Ethernet."""

LEAST: Final = 4
"""Least limit of the queue of a drawn path in packets: of a BDP of two packets a quarter would hold none."""

HOP: Final = 0.001
"""Delay of the bottleneck in seconds; the rest of an RTT is that of the access link."""

EXPRESSION: Final = "= "
"""Beginning of a value that depends on the path, such as ``= 0.75 rate``: a factor and a quantity of `DrawnPath.value`."""

QUANTITIES: Final = ("rate", "rtt", "buffer", "flows", "spread")
"""What is drawn, each from a stream of its own."""

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class DrawnPath:
    """A drawn path. Two replicates of a case differ in all of it; the arms of a replicate have the same."""

    rate: float
    """In bits per second."""
    rtt: float
    """In seconds, without queues."""
    buffer: float
    """The limit of the queue as a multiple of the BDP."""
    flows: int
    spread: float
    """Seconds within which all flows start."""

    @property
    def bdp(self) -> float:
        """The product of rate and RTT in full packets."""
        return self.rate * self.rtt / (8 * PACKET)

    def limit(self, buffer: float | None = None) -> int:
        """The limit of the queue in packets, with ``buffer`` BDPs (default: the drawn ones)."""
        return max(round((self.buffer if buffer is None else buffer) * self.bdp), LEAST)

    def value(self, name: str, factor: float) -> Any:
        """``factor`` times a quantity, as a scenario writes it."""
        match name:
            case "rate":
                return f"{1e-6 * factor * self.rate:.6g} Mbps"
            case "access":
                return f"{1e3 * factor * (self.rtt / 2 - HOP):.6g} ms"
            case "spread":
                return f"{factor * self.spread:.6g} s"
            case "bdp":
                return f"{max(round(factor * self.bdp), 1)} packets"
            case "flows":
                return max(round(factor * self.flows), 1)
        raise ValueError(f"a drawn path has no {name!r}")

    def as_json(self) -> dict[str, float]:
        """Its quantities with their units."""
        return {
            "rate_bps": self.rate,
            "rtt_s": self.rtt,
            "buffer_bdp": self.buffer,
            "flows": self.flows,
            "spread_s": self.spread,
        }


@dataclass(frozen=True, slots=True)
class Draws:
    """What paths are drawn from: ranges of all quantities, drawn uniformly by their logarithms, and classes by the BDP."""

    ranges: Mapping[str, Range]
    classes: Mapping[str, Range]
    """Ranges of the BDP in packets by name: each class has its own paths, and its own verdicts."""
    number: Mapping[str, Sequence[int]]
    """Paths by size, of each class."""

    def within(self, ranges: Mapping[str, Any]) -> Draws:
        """The same with other ranges of some quantities."""
        return replace(self, ranges={**self.ranges, **_ranges(ranges)})

    def paths(self, stream: str, size: str) -> dict[str, tuple[DrawnPath, ...]]:
        """The paths by class. Those of a ``stream``, a text with the seed, are always the same."""
        return {
            name: tuple(self._drawn(f"{stream} {name}", within, number))
            for (name, within), number in zip(self.classes.items(), self.number[size], strict=True)
        }

    def _drawn(self, stream: str, within: Range, number: int) -> Iterator[DrawnPath]:
        streams = {name: Random(f"{stream} {name}") for name in QUANTITIES}
        for _ in range(number):
            while True:
                found = {name: _log_uniform(one, self.ranges[name]) for name, one in streams.items()}
                path = DrawnPath(found["rate"], found["rtt"], found["buffer"], round(found["flows"]), found["spread"])
                if within[0] <= path.bdp < within[1]:
                    yield path
                    break


def read(text: Mapping[str, Any]) -> Draws:
    """The table ``[paths]`` of a sheet."""
    classes = {name: (float(low), float(high)) for name, (low, high) in text["bdp"].items()}
    return Draws(_ranges({name: text[name] for name in QUANTITIES}), classes, text["number"])


def _ranges(text: Mapping[str, Any]) -> dict[str, Range]:
    return {name: (_number(low), _number(high)) for name, (low, high) in text.items()}


def _number(value: Any) -> float:
    return quantity(value) if isinstance(value, str) else float(value)


def _log_uniform(stream: Random, ends: Range) -> float:
    """A number between ``ends``, with three significant digits."""
    low, high = map(math.log, ends)
    return float(f"{math.exp(low + (high - low) * stream.random()):.3g}")


def resolved(value: Any, path: DrawnPath) -> Any:
    """``value`` with all expressions in it replaced by their values on ``path``."""
    if isinstance(value, str) and value.startswith(EXPRESSION):
        factor, name = value.removeprefix(EXPRESSION).split()
        return path.value(name, float(factor))
    if isinstance(value, Mapping):
        return {key: resolved(one, path) for key, one in value.items()}
    return [resolved(one, path) for one in value] if isinstance(value, list | tuple) else value


def depending(tables: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The keys of ``tables`` whose values have an expression, KIND.NAME.KEY, and the values."""
    return {
        f"{kind}.{name}.{key}": value
        for kind, named in tables.items()
        for name, table in named.items()
        for key, value in table.items()
        if _has_expression(value)
    }


def _has_expression(value: Any) -> bool:
    if isinstance(value, Mapping | list | tuple):
        return any(map(_has_expression, value.values() if isinstance(value, Mapping) else value))
    return isinstance(value, str) and value.startswith(EXPRESSION)
