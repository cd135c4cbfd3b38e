"""Graphs of one direction of a connection: sequence numbers, data outstanding, goodput and round-trip times over time."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import numpy as np
from markupsafe import Markup

from ecnlab.base.lazy_imports import pl
from ecnlab.report import Chart, Line
from ecnlab.report.scale import Scale, padded, span
from ecnlab.report.svg import RUG, UNITS, Area, stretched, strokes

SIGNS: Final[Mapping[str, tuple[str, str, str]]] = {
    "fast": ("fast retransmission", "m2", "c1"),
    "sack": ("retransmission for SACK", "m2", "c4"),
    "partial": ("retransmission for a partial ACK", "m3", "c1"),
    "timeout": ("retransmission after a timeout", "m4", "c1"),
    "tail": ("tail loss probe", "m3", "c4"),
    "dropped": ("dropped here", "m4", "ink"),
    "duplicate": ("duplicate ACK", "m5", "c2"),
    "ce": ("CE", "m3", "c4"),
    "ece": ("ECE", "mo", "c3"),
    "cwr": ("CWR", "m1", "c5"),
}
"""Kinds of packets with their own marker: name, marker, colour."""

MAX_SIGNS: Final = 120
"""Most markers of a kind that can be distinguished; more become a rug at the lower end of the graph."""

BINS: Final = 300
"""Intervals over which goodput is taken."""

MIN_SEGMENT_HEIGHT: Final = 40
"""Least height of a segment, in units of the area: it is visible in a graph of millions of bytes."""

IDLE: Final = 20.0
"""A line has a gap where its points are this many times the 90th percentile of their distances apart."""

NAN: Final = math.nan


@dataclass(frozen=True, slots=True)
class Violation:
    """A packet that breaks a rule: its number in the capture, its time in s, and the rule in words."""

    packet: int
    time_s: float
    rule: str


@dataclass(frozen=True, slots=True)
class SequenceGraph:
    """Segments as upright strokes, ACKs and the window as steps, rare packets with their own signs.

    ``rows`` are the packets of one direction as `Trace.series` has them.
    """

    rows: pl.DataFrame
    violations: Sequence[Violation] = ()
    title: str = "Sequence numbers"
    unit: str = "bytes"
    source: str = ""
    kind: Literal["chart"] = "chart"

    @property
    def caption(self) -> str:
        """Return what the drawing leaves out."""
        return (
            "Segments and ACKs. Signs that would hide each other are strokes at the lower end. A red triangle leads to the "
            "packet that breaks a rule."
            if self.violations
            else "Segments and ACKs. Signs that would hide each other are strokes at the lower end."
        )

    def svg(self) -> Markup:
        """Return the drawing."""
        area = self._area()
        return area.svg(f"{self.title}. {self.caption}", self._marks(area), "zoom", links=bool(self.violations))

    def legend(self) -> list[tuple[str, str, str]]:
        """Return the kinds of packets that there are."""
        lines = [("segment", "c0", "line"), ("ACK", "c2", "line"), ("receive window", "c4", "line")]
        blocks = [("SACK block", "c3", "line")] if self._of("block").height else []
        return [*lines, *blocks, *((name, colour, "rug" if count > MAX_SIGNS else marker)
                                   for name, marker, colour, count in self._signs())]  # fmt: skip

    def table(self) -> tuple[list[str], list[list[str]]]:
        """The number of packets of each kind."""
        counts = self.rows.group_by("kind", maintain_order=True).len()
        return ["kind", "packets drawn"], [[_name(kind), f"{count:,}"] for kind, count in counts.iter_rows()]

    def _of(self, *kinds: str) -> pl.DataFrame:
        return self.rows.filter(pl.col("kind").is_in(kinds))

    def _signs(self) -> Iterator[tuple[str, str, str, int]]:
        for kind, (name, marker, colour) in SIGNS.items():
            if count := self._of(kind).height:
                yield name, marker, colour, count

    def _area(self) -> Area:
        drawn = self._of("data", "ack", "block")
        x, y = span(self.rows["time_s"].to_list()), span(drawn["low"].to_list() + self._of("data")["high"].to_list())
        low, high = padded(*y, 0.06)
        rows = sum(self._of(kind).height > MAX_SIGNS for kind in SIGNS)
        across, up = Scale(*x), Scale(low - 1.3 * RUG * rows * (high - low), high)
        return Area(across, up, across.ticks(), up.ticks(), "time, s", 320)

    def _marks(self, area: Area) -> Iterator[Markup]:
        acks = self._of("ack", "duplicate")
        times = acks["time_s"].to_list()
        rugs = [kind for kind in SIGNS if self._of(kind).height > MAX_SIGNS]
        yield stretched(
            [
                area.curve(*with_gaps(times, acks["high"].to_list()), "c4 thin", steps=True, name="receive window"),
                area.curve(*with_gaps(times, acks["low"].to_list()), "c2", steps=True, name="ACK"),
                _uprights(area, self._of("data"), "c0"),
                _uprights(area, self._of("block"), "c3"),
                *(
                    strokes(map(area.x.place, self._of(kind)["time_s"]), SIGNS[kind][2], SIGNS[kind][0], row)
                    for row, kind in enumerate(rugs)
                ),
            ]
        )
        yield Markup('<g class="moving">')
        for kind in (kind for kind in SIGNS if kind not in rugs):
            name, marker, colour = SIGNS[kind]
            for packet, time, low in self._of(kind).select("packet", "time_s", "low").iter_rows():
                yield area.marker(time, low, marker, colour, f"{name}, packet {packet}")
        yield from self._broken(area)
        yield Markup("</g>")

    def _broken(self, area: Area) -> Iterator[Markup]:
        drawn = self._of("data", "ack").sort("time_s").select("time_s", "low")
        times, places = drawn["time_s"].to_list(), drawn["low"].to_list()
        for one in self.violations:
            before = max(bisect_right(times, one.time_s) - 1, 0)  # the packet itself may be left out of the graph
            y = places[before] if places else area.y.low
            sign = area.marker(one.time_s, y, "m2", "no", f"packet {one.packet}: {one.rule}")
            yield Markup('<a href="#packet-{}" aria-label="packet {}: {}">{}</a>').format(
                one.packet, one.packet, one.rule, sign
            )


def graphs(rows: pl.DataFrame, violations: Sequence[Violation] = ()) -> list[SequenceGraph | Chart]:
    """The graphs of one direction; without round-trip times if there are none."""
    found: list[SequenceGraph | Chart] = [SequenceGraph(rows, violations), _outstanding(rows), _goodput(rows)]
    rtt = rows.filter(pl.col("kind") == "rtt")
    return [*found, _rtt(rtt)] if rtt.height else found


def with_gaps(times: Sequence[float], values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the points with a gap wherever nothing was sent for much longer than usual (`IDLE`)."""
    apart = sorted(b - a for a, b in pairwise(times))
    if not apart:
        return list(times), list(values)
    limit = IDLE * max(apart[int(0.9 * len(apart))], 1e-9)
    found_times, found_values = [times[0]], [values[0]]
    for before, time, value in zip(times, times[1:], values[1:], strict=False):
        if time - before > limit:
            found_times.append(before)
            found_values.append(NAN)
        found_times.append(time)
        found_values.append(value)
    return found_times, found_values


def _outstanding(rows: pl.DataFrame) -> Chart:
    flight = rows.filter(pl.col("kind") == "flight")
    times, values = with_gaps(flight["time_s"].to_list(), flight["high"].to_list())
    caption = "Sent and not yet acknowledged: a lower bound of the congestion window."
    return Chart("Data outstanding", caption, times, [Line("outstanding", values)], "bytes", height=200)


def _goodput(rows: pl.DataFrame) -> Chart:
    """Return the progress of ACKs, which does not depend on retransmissions."""
    acks = (
        rows.filter(pl.col("kind") == "ack")
        .group_by("time_s", maintain_order=True)
        .agg(pl.col("low").max())
        .sort("time_s")
    )
    if acks.height < 2:
        return Chart("Goodput", "No two ACKs.", [0.0, 1.0], [Line("goodput", [NAN, NAN])], "Mbit/s", height=200)
    times = np.linspace(float(acks["time_s"][0]), float(acks["time_s"][-1]), BINS + 1)
    rates = np.diff(np.interp(times, acks["time_s"], acks["low"].cum_max())) * 8e-6 / (times[1] - times[0])
    caption = (
        f"Acknowledged data of every {1e3 * (times[1] - times[0]):.3g} ms; between the ACKs that are drawn it is even."
    )
    return Chart("Goodput", caption, times.tolist(), [Line("goodput", [0.0, *rates.tolist()])], "Mbit/s", height=200)


def _rtt(rows: pl.DataFrame) -> Chart:
    times, values = rows["time_s"].to_list(), (rows["high"] / 1e6).to_list()
    return Chart("Round-trip time", "A dot for each sample.", times, [Line("RTT", values, dots=True)], "ms", height=200)


def _uprights(area: Area, rows: pl.DataFrame, kind: str) -> Markup:
    """An upright line for each row, from its lower to its upper value."""
    xs = [round(area.x.place(at) * UNITS) for at in rows["time_s"]]
    ends = ([round((1 - area.y.place(at)) * UNITS) for at in rows[side]] for side in ("low", "high"))
    drawn = "".join(f"M{x} {low}V{min(high, low - MIN_SEGMENT_HEIGHT)}" for x, low, high in zip(xs, *ends, strict=True))
    return Markup('<path class="{} uprights" d="{}"/>').format(kind, drawn)


def _name(kind: str) -> str:
    return SIGNS[kind][0] if kind in SIGNS else kind
