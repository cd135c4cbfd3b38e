"""Access lines: rates, round trip, framing, and the traces of radio lines."""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from ecnlab.base import package_data
from ecnlab.base.errors import EcnlabError
from ecnlab.base.guesses import guess
from ecnlab.base.quantities import RATES, TIMES

SMALL: Final = 52
"""Bytes of an ACK with timestamps, as an IPv4 packet."""

LARGE: Final = 1500
"""Bytes of a full IP packet."""

SLOWEST_BPS: Final = 256e3
FASTEST_BPS: Final = 2.5e9
"""Rates of lines that can be advised on, in bit/s."""

LONGEST_RTT_S: Final = 1.0

CELL: Final = (48, 53)
"""Payload and length of an ATM cell in bytes."""

PTM: Final = (64, 65)
"""Payload and length of a PTM block in bytes."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of line, of ``assets/lines.toml``."""

    name: str
    label: str
    about: str
    overhead: int
    mpu: int
    framing: str
    cake: str
    down: str = ""
    up: str = ""
    aggregation: Mapping[str, Any] | None = None

    @property
    def radio(self) -> bool:
        """Whether its rate follows a trace."""
        return bool(self.down)

    def wire(self, size: int) -> int:
        """Bytes on the wire of an IP packet of ``size`` bytes, as CAKE counts them."""
        length = max(size + self.overhead, self.mpu)
        if self.framing == "atm":
            return CELL[1] * math.ceil(length / CELL[0])
        return length + math.ceil(length / PTM[0]) if self.framing == "ptm" else length

    def affine(self) -> tuple[float, float]:
        """Return a and b such that a + b size is `wire` of an ACK and of a full packet."""
        slope = (self.wire(LARGE) - self.wire(SMALL)) / (LARGE - SMALL)
        return self.wire(LARGE) - slope * LARGE, slope


@cache
def kinds() -> dict[str, Kind]:
    """Return the kinds of lines by name."""
    text = resources.files("ecnlab.advise").joinpath("assets", "lines.toml").read_text(encoding="utf-8")
    return {name: Kind(name, **values) for name, values in tomllib.loads(text).items()}


@dataclass(frozen=True, slots=True)
class Line:
    """An access line."""

    kind: Kind
    down_bps: float
    up_bps: float
    rtt_s: float
    buffer_s: float
    """Buffer at both ends of the line, in seconds at its rate."""

    @property
    def words(self) -> str:
        """The line in words, such as "VDSL2, 50 / 10 Mb/s, RTT 30 ms"."""
        rates = f"{self.down_bps / 1e6:g} / {self.up_bps / 1e6:g} Mb/s"
        return f"{self.kind.label}, {rates}, RTT {1e3 * self.rtt_s:g} ms"

    @property
    def name(self) -> str:
        """The line as part of a file name."""
        return f"{self.kind.name}-{self.down_bps / 1e6:g}-{self.up_bps / 1e6:g}-{1e3 * self.rtt_s:g}ms"

    def buffer_bytes(self, rate_bps: float) -> int:
        """Bytes of the buffer in front of a direction, at least ten full packets."""
        return max(round(rate_bps * self.buffer_s / 8), 10 * LARGE)


def line(kind: str, down: str, up: str, rtt: str, buffer: str | None) -> Line:
    """Return the line of the options' values. Raises EcnlabError with the option."""
    if kind not in kinds():
        raise EcnlabError(f"--link: no line is called {kind!r}{guess(kind, kinds())}; there are {', '.join(kinds())}")
    rtt_s = _number("--rtt", rtt, TIMES, 1e-12, "30ms")
    if not 1e-3 <= rtt_s <= LONGEST_RTT_S:
        raise EcnlabError(f"--rtt: {rtt} is not between 1 ms and 1 s, the round trips of access lines")
    rates = [_rate("--down", down), _rate("--up", up)]
    buffer_s = max(rtt_s, 0.1) if buffer is None else _number("--buffer", buffer, TIMES, 1e-12, "100ms")
    if not 1e-3 <= buffer_s <= 10.0:
        raise EcnlabError(f"--buffer: {buffer} is not between 1 ms and 10 s at the rate of the line")
    return Line(kinds()[kind], rates[0], rates[1], rtt_s, buffer_s)


def _rate(option: str, text: str) -> float:
    rate = _number(option, text, RATES, 1.0, "50Mbps")
    if not SLOWEST_BPS <= rate <= FASTEST_BPS:
        raise EcnlabError(f"{option}: {text} is not between 256 kbps and 2.5 Gbps")
    return rate


def _number(option: str, text: str, units: Mapping[str, int], scale: float, example: str) -> float:
    """Return the quantity ``text`` in bit/s or seconds."""
    value = text.strip()
    unit = next((name for name in sorted(units, key=len, reverse=True) if value.endswith(name)), None)
    try:
        found = float(value.removesuffix(unit).strip()) * units[unit] * scale if unit else math.nan
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise EcnlabError(f"{option}: {text!r} is no quantity: write a number and its unit, such as {example}")
    return found


def trace_csv(name: str, mean_bps: float) -> tuple[str, float]:
    """Return the trace ``name`` of the examples with its rates scaled to ``mean_bps``, as a CSV, and its length in seconds."""
    text = (package_data.folder("examples") / "traces" / name).read_text(encoding="utf-8")
    rows = list(csv.DictReader(row for row in text.splitlines() if not row.startswith("#")))
    times = [float(row["time_s"]) for row in rows]
    rates = [float(row["rate_mbps"]) for row in rows]
    end = math.ceil(times[-1] + 1e-9) if len(times) > 1 else 1
    spans = [after - before for before, after in zip(times, [*times[1:], end], strict=True)]
    mean = sum(rate * span for rate, span in zip(rates, spans, strict=True)) / end
    scaled = [f"{time:g},{rate * mean_bps / mean / 1e6:.6g}" for time, rate in zip(times, rates, strict=True)]
    return "\n".join(["time_s,rate_mbps", *scaled, ""]), float(end)
