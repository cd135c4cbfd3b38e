"""The queues that the data of a scenario's flows pass, with the flows: what advice about queues is judged by."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ecnlab import laws
from ecnlab._core import Scenario
from ecnlab.base.quantities import headers_bytes, highest, quantity

Table = Mapping[str, Any]

OFF: Final = "off"
"""The ECN feedback of a TCP without ECN."""

SHORTER: Final = 12
"""Bytes by which UDP's header is shorter than TCP's."""

CAPABLE: Final = frozenset({"ect0", "ect1", "ce"})


@dataclass
class Passage:
    """A queue table in front of a link, with the flows whose data pass it."""

    path: str
    queue: Table
    link: str
    """Name of the link."""
    rate_bps: float
    """Departure rate in bit/s; infinite if nothing bounds it."""
    flows: dict[str, Table] = field(default_factory=dict)
    capable: dict[str, Table] = field(default_factory=dict)
    """Those of them that are ECN-capable."""
    senders: dict[str, str] = field(default_factory=dict)
    """Of each flow with TCP, the table of the TCP that sends the data."""
    elsewhere: dict[str, float] = field(default_factory=dict)
    """Of each flow, the slowest of the other links on its path, and in ``supply`` the rate of all of its instances."""
    supply: dict[str, float] = field(default_factory=dict)
    packet: float = 0.0
    """Bytes of the largest packet of all flows before the link."""

    @property
    def marks(self) -> bool:
        """Whether the queue marks ECN-capable packets."""
        return bool(self.queue.get("ecn")) and bool(laws.facts("queue", self.queue["discipline"])["uses_ecn"])


def passages(scenario: Scenario) -> list[Passage]:
    """Return every queue in front of a link on the path of data; inner queues are selected by flow group and codepoint."""
    spec = scenario.resolved
    links = list(_links(spec))
    instances = Counter(name.partition("~")[0].partition("[")[0] for name in scenario.names("link") if "~" not in name)
    passed: dict[int, Passage] = {}
    for name, flow in spec["flow"].items():
        for start, end, tcp in () if flow.get("count") == 0 else _ways(flow):
            path = _path([(start, end) for _, start, end, _ in links], start, end)
            for index in path:
                link, _, _, table = links[index]
                queue = table["queue"]
                at = passed.setdefault(index, Passage(f"queue.{queue}", spec["queue"][queue], link, _rate(table)))
                at.flows[name] = flow
                at.packet = max(at.packet, _packet(flow, spec))
                if _is_capable(flow, spec):
                    at.capable[name] = flow
                if tcp in flow:
                    at.senders[name] = flow[tcp]
                _add_slowest(at, name, [links[other] for other in path if other != index], spec, instances)
    return [inner for at in passed.values() for inner in _inner(at)]


def _add_slowest(
    at: Passage, flow: str, others: list[tuple[str, str, str, Table]], spec: Table, instances: Counter[str]
) -> None:
    """Add the slowest of the other links of ``flow``; a link shared by several flows counts once."""
    rates = [(min(_rate(table), _rate(spec["queue"][table["queue"]])), link) for link, _, _, table in others]
    rate, link = min(rates, default=(math.inf, ""))
    at.elsewhere[flow] = rate
    at.supply[link or flow] = rate * max(instances[link], 1)


def _inner(at: Passage) -> Iterator[Passage]:
    """Yield ``at`` and the queues within it."""
    yield at
    rate = min(at.rate_bps, _rate(at.queue))
    taken: set[str] = set()
    # A packet belongs to the first class that it matches.
    for name, table in sorted(at.queue.get("class", {}).items(), key=lambda item: item[1]["order"]):
        flows, capable = (
            {flow: own for flow, own in which.items() if _may_join(own, table)} for which in (at.flows, at.capable)
        )
        codepoints = set(table.get("codepoints", CAPABLE))
        if taken >= codepoints & CAPABLE:
            capable = {}
        if "groups" not in table and "dscp" not in table:
            taken |= codepoints
        yield from _inner(
            Passage(f"{at.path}.class.{name}", table, "", rate, flows, capable, at.senders, packet=at.packet)
        )


def _rate(table: Table) -> float:
    """The rate of a link, or of a queue that has one of its own."""
    rates = [table.get("rate", "unlimited"), table.get("shaper", {}).get("rate", "unlimited")]
    return min(highest(rate) for rate in rates)


def _packet(flow: Table, spec: Table) -> float:
    """Bytes of the flow's largest packet."""
    if "quic_from" in flow:
        payload = max(_datagram(spec["quic"][flow[end]]) for end in ("quic_from", "quic_to"))
        return payload + headers_bytes(flow) - SHORTER
    if "tcp_from" not in flow:
        return quantity(flow["traffic"]["packet"])
    headers = spec["tcp"][flow["tcp_from"]]["data_headers"]
    mss = min(quantity(spec["tcp"][flow[end]]["mss"]) for end in ("tcp_from", "tcp_to"))
    return mss + (headers_bytes(flow) if headers == "real" else quantity(headers))


def _datagram(quic: Table) -> float:
    """Bytes of the largest UDP payload."""
    return quantity(quic["max_mtu" if quic["mtu_discovery"] else "initial_mtu"])


def _may_join(flow: Table, member: Table) -> bool:
    return not member.get("groups") or flow["group"] in member["groups"]


def _is_capable(flow: Table, spec: Table) -> bool:
    if "quic_from" in flow:
        return all(spec["quic"][flow[end]]["ecn"] for end in ("quic_from", "quic_to"))
    if "tcp_from" not in flow:
        return flow["traffic"].get("ecn") in CAPABLE
    offered, accepted = zip(*(_feedback(spec["tcp"][flow[end]]) for end in ("tcp_from", "tcp_to")), strict=True)
    return any(offered) and all(accepted)


def _feedback(tcp: Table) -> tuple[bool, bool]:
    """Return whether the host offers ECN, and whether it offers or accepts it."""
    offers = tcp["ecn"] != OFF
    return offers, offers or tcp["ecn_accepts"] != OFF


def _ways(flow: Table) -> Iterator[tuple[str, str, str]]:
    """Yield the ends of each data path, and the key of the TCP that sends; transactions have data in both directions."""
    start, end = (flow[key].partition("[")[0] for key in ("from", "to"))
    yield start, end, "tcp_from"
    if "response" in flow["traffic"]:
        yield end, start, "tcp_to"


def _links(spec: Table) -> Iterator[tuple[str, str, str, Table]]:
    """Name, start, end and table of every direction of a link; arrays of nodes and links count once."""
    for name, table in spec["link"].items():
        start, end = (table[key].partition("[")[0] for key in ("from", "to"))
        yield name, start, end, table
        if table["duplex"]:
            yield name, end, start, table["reverse"]


def _path(links: list[tuple[str, str]], start: str, end: str) -> list[int]:
    """Return the indices of the links of the shortest path from ``start`` to ``end``."""
    leaving: dict[str, list[tuple[int, str]]] = {}
    for index, (origin, target) in enumerate(links):
        leaving.setdefault(origin, []).append((index, target))
    reached: dict[str, list[int]] = {start: []}
    frontier = [start]
    for node in frontier:
        for index, target in leaving.get(node, ()):
            if target not in reached:
                reached[target] = [*reached[node], index]
                frontier.append(target)
    return reached.get(end, [])
