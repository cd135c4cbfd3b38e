"""What both default spaces share: the bottleneck with its changes and faults, the flows, and the scenario made of them."""

from __future__ import annotations

import pathlib as files
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from ecnlab.searching.choices import Choices

PACKET: Final = 1500
"""Bytes of a full packet of Ethernet."""

SPACE: Final[Mapping[str, Any]] = tomllib.loads(
    (files.Path(__file__).parent / "assets" / "space.toml").read_text(encoding="utf-8")
)
"""Laws of the default spaces."""

HOP: Final = 1.0
"""Delay of the bottleneck in ms; the rest of an RTT is that of the access link."""

RATES: Final = (10, 5, 20, 2, 50, 1, 3, 30)
"""In Mbit/s."""

RTTS: Final = (40, 20, 80, 10, 160, 5, 320)
"""In ms, without queues."""

FACTORS: Final = (1, 2, 4, 8, 16, 32, 64)
"""Ends of the classes of the largest change of the rate, from one value to the next."""

RARE: Final = 0.75
"""The share of new points without what few paths have."""

LINK: Final = "bottleneck"

TRANSFERS: Final = "transfers"
"""The group of all bulk transfers to queues."""

ACCESS: Final = {"to": "router", "rate": "1 Gbps"}
PLAIN: Final = {"from": "server", "to": "client"}


@dataclass(slots=True)
class Path:
    """A drawn path and what is on it, to be written as a scenario."""

    duration: int
    """In seconds; the second half is measured."""
    rtt: int
    """In ms, at the beginning."""
    rates: Sequence[tuple[float, float]]
    """The rate in Mbit/s from each time in seconds on."""
    limit: int
    """Of the queue, in packets."""
    turns: tuple[float, float] | None = None
    """Seconds after which the rate and a part of it alternate, and the part."""
    later: tuple[float, int] | None = None
    """The time in seconds from which on there is another RTT, and that in ms."""
    far: int = 0
    """RTT of the second server in ms; 0 if there is none."""
    link: dict[str, Any] = field(default_factory=dict)
    """Further keys of the bottleneck."""
    flows: dict[str, dict[str, Any]] = field(default_factory=dict)
    tcps: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    boxes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    """What happens, in words."""
    queue: str = ""
    """The queue behind which senders are compared, one of `SPACE`."""

    @property
    def half(self) -> float:
        """The beginning of what is measured, in seconds."""
        return self.duration / 2

    @property
    def change(self) -> int:
        """The class of the largest change of the rate, a value of `FACTORS`."""
        each = [max(a / b, b / a) for (_, a), (_, b) in pairwise(self.rates)]
        largest = max([*each, 1 / self.turns[1] if self.turns else 1.0])
        return next((one for one in FACTORS if largest <= one), FACTORS[-1])

    @property
    def rate(self) -> float:
        """The mean rate of what is measured, in bits per second."""
        ends = [*(at for at, _ in self.rates[1:]), self.duration]
        spans = [(max(at, self.half), end, rate) for (at, rate), end in zip(self.rates, ends, strict=True)]
        turns = (1 + self.turns[1]) / 2 if self.turns else 1.0
        return 1e6 * turns * sum(rate * max(end - at, 0) for at, end, rate in spans) / self.half

    @property
    def least(self) -> float:
        """The least rate in Mbit/s."""
        return min(rate for _, rate in self.rates) * (self.turns[1] if self.turns else 1.0)

    def bulk(self, name: str, kind: str, count: int, start: float = 0.0, group: str = "") -> None:
        """Add ``count`` endless transfers of ``kind``, a sender of `SPACE`, to ``group`` (default: ``name``); they start within half a second from ``start`` on."""
        tcp = f"host-{kind}"
        self.tcps[tcp] = SPACE["sender"][kind]["tcp"]
        self.transfers(name, tcp, count, start, group)
        self.words.append(f"{count} × {SPACE['sender'][kind]['label']}" + (f" from {start:g} s on" if start else ""))

    def transfers(self, name: str, tcp: str, count: int, start: float = 0.0, group: str = "") -> None:
        """Add endless transfers of the table ``tcp``, without words."""
        begin = {"uniform": [f"{start:g} s", f"{start + 0.5:g} s"]}
        self.flows[name] = {
            **PLAIN,
            "traffic": "ftp",
            "tcp": tcp,
            "count": count,
            "start": begin,
            "group": group or name,
        }

    def tables(self, queues: Mapping[str, Mapping[str, Any]], queue: str, title: str) -> dict[str, Any]:
        """The scenario, with the bottleneck behind ``queue``, one of ``queues``."""
        bottleneck = {
            "from": "router",
            "to": "client",
            "rate": self._rate(),
            "delay": f"{HOP:g} ms",
            "queue": queue,
            **self.link,
        }
        near: Any = access(self.rtt)
        if self.later:
            near = [["0 s", near], [f"{self.later[0]:g} s", access(self.later[1])]]
        links = {LINK: bottleneck, "access": {**ACCESS, "from": "server", "delay": near}}
        if self.far:
            links["far"] = {**ACCESS, "from": "far", "delay": access(self.far)}
        return {
            "format": 1,
            "title": title,
            "duration": f"{self.duration} s",
            "warmup": f"{self.half:g} s",
            "link": links,
            "queue": dict(queues),
            "tcp": dict(self.tcps),
            "flow": self.flows,
            "box": self.boxes,
        }

    def _rate(self) -> Any:
        """The rate of the bottleneck, as a scenario has it."""
        first = self.rates[0][1]
        if self.turns:
            return {
                "square": [f"{first:g} Mbps", f"{first * self.turns[1]:g} Mbps"],
                "every": f"{2 * self.turns[0]:g} s",
            }
        if len(self.rates) == 1:
            return f"{first:g} Mbps"
        return [[f"{at:g} s", f"{rate:g} Mbps"] for at, rate in self.rates]


def access(rtt: int) -> str:
    """The delay of an access link of a path with ``rtt`` in ms."""
    return f"{rtt / 2 - HOP:g} ms"


def drawn(choices: Choices) -> Path:
    """A path with its rates, RTTs and buffer."""
    duration = choices.pick("duration", (10, 20), RARE)
    rtt = choices.pick("rtt", RTTS)
    rates: list[tuple[float, float]] = [(0.0, choices.pick("rate", RATES))]
    for number in range(choices.pick("changes", range(5))):
        at = duration * choices.pick(f"change.{number}.at", (5, 6, 4, 7, 3, 8, 2, 9, 1)) / 10
        rates.append((at, choices.pick(f"change.{number}.rate", RATES)))
    rates = _in_order(rates)
    buffer = choices.pick("buffer", (1.0, 2.0, 0.5, 4.0, 8.0, 0.25))
    bdp = rates[0][1] * 1e3 * rtt / (8 * PACKET)
    path = Path(duration, rtt, rates, max(round(buffer * bdp), 4))
    path.words.append(_rate_words(rates) + f", RTT {rtt} ms, {buffer:g} BDP of buffer")
    if len(rates) == 1:
        _turns(choices, path)
    if later := choices.pick("rtt.later", (0, *(one for one in RTTS if one != rtt)), RARE):
        path.later = duration * choices.pick("rtt.later.at", (5, 6, 4, 7, 3)) / 10, later
        path.words.append(f"RTT {later} ms from {path.later[0]:g} s on")
    if choices.pick("bursts", (False, True), RARE):
        path.link["aggregation"] = {"time": "4 ms", "access": {"uniform": ["0 s", "1 ms"]}}
        path.words.append("packets leave in bursts of up to 4 ms after up to 1 ms")
    return path


def _turns(choices: Choices, path: Path) -> None:
    """Perhaps a rate that falls and rises again and again."""
    if half := choices.pick("turns", (0.0, 0.1, 1.0, 0.02), RARE):
        path.turns = half, 1 / choices.pick("turns.depth", (2, 4, 16))
        path.words.append(f"in turns of {half:g} s the rate is {path.least:g} Mbps")


def _in_order(rates: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """In order of time, one value for each, and without values that change nothing."""
    found: list[tuple[float, float]] = []
    for at, rate in sorted(dict(rates).items()):
        if not found or found[-1][1] != rate:
            found.append((at, rate))
    return found


def _rate_words(rates: Sequence[tuple[float, float]]) -> str:
    (_, first), *rest = rates
    return ", ".join([f"{first:g} Mbps", *(f"{rate:g} Mbps from {at:g} s on" for at, rate in rest)])


def outage(choices: Choices, path: Path) -> None:
    """Perhaps a time without the link."""
    length = choices.perhaps("outage", (0.0, 1.0, 0.5, 0.2, 2.0))
    if length:
        at = path.duration * choices.pick("outage.at", (4, 5, 3, 6, 2)) / 10
        packets = choices.pick("outage.packets", ("held", "lost"))
        path.link["outages"] = {"times": [[f"{at:g} s", f"{length:g} s"]], "packets": packets}
        path.words.append(f"the link is down for {length:g} s from {at:g} s on, its packets are {packets}")


def other_flows(choices: Choices, path: Path, kinds: Sequence[str], most: Sequence[int], group: str = "") -> None:
    """Perhaps other bulk transfers, of a TCP of ``kinds`` (the first is none)."""
    kind = choices.perhaps("others", kinds)
    if kind:
        count = choices.pick("others.count", most)
        start = path.duration * choices.pick("others.start", (0, 3, 5)) / 10
        path.bulk("others", kind, count, start, group)
        if far := choices.perhaps("others.rtt", (0, *RTTS)):
            path.far = far
            path.flows["others"]["from"] = "far"
            path.words[-1] += f", RTT {far} ms"
