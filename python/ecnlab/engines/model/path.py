"""Model input from a scenario: classes of equal flows that share one slow link."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ecnlab import laws
from ecnlab.base.quantities import changes, headers_bytes, quantity
from ecnlab.laws.model_coverage import covered, expected

TIMESTAMP_BYTES = 12.0
"""Bytes of the timestamps option as sent, with padding (RFC 7323 appendix A)."""

LINUX_OVERHEAD_BYTES = 832.0
"""Memory of a segment in Linux's receive buffer beyond its payload (skb->truesize), as in the simulator."""

OFF = "off"
"""Feedback scheme of a TCP without ECN."""

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of a link table; an array of links counts once."""

    name: str
    start: str
    end: str
    rate_bps: float
    delay_s: float
    queue: str
    settings: Table


@dataclass(frozen=True, slots=True)
class FlowClass:
    """The flows of one table: equal except for random draws."""

    name: str
    group: str
    count: int
    path: tuple[Link, ...]
    back: tuple[Link, ...]
    ecn: bool
    sender: Table
    receiver: Table
    headers_bytes: float
    """IP and TCP without options."""

    @property
    def payload_bytes(self) -> float:
        """Data in a full segment; its options are counted in the MSS."""
        options = TIMESTAMP_BYTES if self.sender["timestamps"] and self.receiver["timestamps"] else 0.0
        return min(quantity(self.sender["mss"]), quantity(self.receiver["mss"])) - options

    @property
    def wire_bytes(self) -> float:
        """A full segment on the wire."""
        headers = self.sender["data_headers"]
        mss = min(quantity(self.sender["mss"]), quantity(self.receiver["mss"]))
        return mss + self.headers_bytes if headers == "real" else self.payload_bytes + quantity(headers)

    @property
    def ack_bytes(self) -> float:
        """An ACK on the wire."""
        headers = self.receiver["ack_headers"]
        real = self.headers_bytes + TIMESTAMP_BYTES * self.sender["timestamps"]
        return real if headers == "real" else quantity(headers)

    @property
    def base_rtt_s(self) -> float:
        """Round trip with empty queues: propagation, and a full segment and its ACK sent over every link."""
        out = sum(link.delay_s + 8.0 * self.wire_bytes / link.rate_bps for link in self.path)
        return out + sum(link.delay_s + 8.0 * self.ack_bytes / link.rate_bps for link in self.back)

    @property
    def max_window(self) -> float:
        """Return the segments of the largest window announced: with Linux's, the buffer also has their overhead."""
        overhead = LINUX_OVERHEAD_BYTES if self.receiver["receive_window"] == "linux-7" else 0
        return quantity(self.receiver["receive_buffer"]) / (self.payload_bytes + overhead)

    @property
    def per_ack(self) -> float:
        """Return the segments per window increase: 1 if the window grows by the bytes acknowledged."""
        return 1.0 if self.sender["growth"] == "bytes-acked" else float(self.receiver["ack_every"])


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The bottleneck link and the flows that share it."""

    link: Link
    classes: tuple[FlowClass, ...]

    @property
    def wire_bytes(self) -> float:
        """A full segment on the wire, the same for all."""
        return self.classes[0].wire_bytes


def bottleneck(spec: Table) -> Bottleneck:
    """Return the single slow link of the resolved scenario ``spec``.

    Raises NotCoveredError for features no model covers.
    """
    links = list(_links(spec))
    classes = tuple(_class(name, flow, spec, links) for name, flow in spec["flow"].items() if flow.get("count") != 0)
    slowest = min((link for each in classes for link in each.path), key=lambda link: (link.rate_bps, link.name))
    _check_links(classes, slowest)
    sizes = {each.wire_bytes for each in classes}
    covered(len(sizes) == 1, f"segments of {_listed(sizes)} bytes share {slowest.name}", "give all flows one mss")
    return Bottleneck(slowest, classes)


def _links(spec: Table) -> Iterator[Link]:
    """Every direction of every link, in the order of their names."""
    for name, table in sorted(spec["link"].items()):
        start, end = _node(table["from"]), _node(table["to"])
        delay = _delay(table["delay"], name)
        yield Link(name, start, end, _rate(table, name), delay, table["queue"], table)
        if table["duplex"]:
            back = table["reverse"]
            returns = _delay(back["delay"], name) if "delay" in back else delay
            yield Link(f"{name}~reverse", end, start, _rate(back, name), returns, back["queue"], back)


def _class(name: str, flow: Table, spec: Table, links: list[Link]) -> FlowClass:
    traffic = flow["traffic"]
    covered(traffic["kind"] == "ftp", f"flow {name} sends {traffic['kind']}", 'models cover traffic = "ftp"')
    covered("quic_from" not in flow, f"flow {name} has QUIC", "leave out its quic")
    covered("stop" not in flow, f"flow {name} stops at {flow.get('stop')}", "leave out its stop")
    covered("read_rate" not in flow, f"flow {name} reads at {flow.get('read_rate')}", "leave out its read_rate")
    covered("size" not in traffic, f"flow {name} ends after {traffic.get('size')}", "leave out its size")
    known = [law for law, feedback in laws.feedbacks().items() if feedback.halves_on_mark]
    sender, receiver = spec["tcp"][flow["tcp_from"]], spec["tcp"][flow["tcp_to"]]
    for tcp in (sender, receiver):
        expected(tcp["ecn"], (OFF, *known), f"flow {name} uses ecn")
    start, end = _node(flow["from"]), _node(flow["to"])
    count = flow.get("count") or max(spec["node"][node].get("count", 1) for node in (start, end))
    ecn = sender["ecn"] != OFF and (receiver["ecn"], receiver["ecn_accepts"]) != (OFF, OFF)
    path, back = _path(links, start, end), _path(links, end, start)
    return FlowClass(name, flow["group"], count, path, back, ecn, sender, receiver, headers_bytes(flow))


def _path(links: list[Link], start: str, end: str) -> tuple[Link, ...]:
    """Return the path with the fewest links; among equal ones, the first by name where they part (docs/scenario.md)."""
    far = {end: 0}
    while start not in far:
        found = {link.start: far[link.end] + 1 for link in links if link.end in far and link.start not in far}
        covered(bool(found), f"no path leads from {start} to {end}", "join them by links")
        far |= found
    path: list[Link] = []
    while start != end:
        path.append(
            next(link for link in links if link.start == start and far.get(link.end, math.inf) == far[start] - 1)
        )
        start = path[-1].end
    return tuple(path)


def _check_links(classes: tuple[FlowClass, ...], slowest: Link) -> None:
    """Check that only ``slowest`` delays or loses packets."""
    for each in classes:
        covered(slowest in each.path, f"flow {each.name} does not cross {slowest.name}", "models cover one bottleneck")
        for link in (*each.path, *each.back):
            for key in ("loss", "drop", "mark", "drop_segments", "mark_segments", "boxes", "tunnel"):
                covered(not link.settings.get(key), f"link {link.name} has {key}", "leave it out")
            for key in ("jitter", "burst_loss", "outages", "aggregation"):
                covered(key not in link.settings, f"link {link.name} has {key}", "leave it out")
        for link in each.path:
            faster = link is slowest or link.rate_bps > slowest.rate_bps
            covered(faster, f"links {slowest.name} and {link.name} are equally slow", "models cover one bottleneck")
    for link in {link.name: link for each in classes for link in each.back}.values():
        acks = max(each.ack_bytes / each.wire_bytes for each in classes) * slowest.rate_bps
        covered(link.rate_bps > acks, f"ACKs would fill {link.name}", "make it faster")


def _node(text: str) -> str:
    return text.partition("[")[0]


def _rate(table: Table, name: str) -> float:
    covered(not changes(table["rate"]), f"the rate of link {name} changes", "give it one rate")
    rates = [table["rate"], *([table["shaper"]["rate"]] if "shaper" in table else [])]
    return min(quantity(rate) for rate in rates)


def _delay(delay: Any, name: str) -> float:
    """Return a delay, or the mean of a random one; links have only uniform ones, which are bounded."""
    covered(not changes(delay), f"the delay of link {name} changes", "give it one delay")
    if isinstance(delay, str):
        return quantity(delay)
    low, high = (quantity(text) for text in delay["uniform"])
    return (low + high) / 2.0


def _listed(values: Any) -> str:
    return ", ".join(sorted(f"{value:g}" if isinstance(value, float) else str(value) for value in values))
