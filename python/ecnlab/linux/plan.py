"""From a scenario and a seed to the files that the guest obeys: statements, and batches for ip and tc."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ecnlab._core import Scenario
from ecnlab.linux import topology
from ecnlab.linux.findings import Findings
from ecnlab.linux.hosts import Host, Tcp, tcps_of
from ecnlab.linux.network import Flow, KernelLinks, Layout, Network
from ecnlab.linux.quantity import number
from ecnlab.linux.topology import Link
from ecnlab.types import Drawn, DrawnFlow, Instead

POLL_NS: Final = 20_000_000
"""Between two looks at the length of a queue."""

KINDS: Final = {"ftp": "bulk", "crr": "exchange"}


@dataclass(frozen=True)
class Plan:
    """What a run on Linux consists of."""

    drawn: Drawn
    links: list[Link]
    flows: list[Flow]
    homes: tuple[Host, ...]
    files: dict[str, str]
    """By name, what the guest reads."""
    instead: list[Instead]
    """Where the kernel does not do as the scenario says."""
    duration_ns: int
    warmup_ns: int


def plan(scenario: Scenario, seed: int, network: Network | None = None) -> Plan:
    """The run of ``scenario`` under ``seed``, its links made by ``network``, by default the kernel.

    Raises SpecError for what Linux cannot do, with file, line and key.
    """
    spec, drawn, found = scenario.resolved, scenario.drawn(seed), Findings()
    links = topology.links_of(spec, drawn)
    flows = [_flow(one, spec, links) for one in drawn["flows"]]
    _check_traffic(flows, found)
    tcps = tcps_of(spec, {departure["key"] for departure in scenario.departures}, found)
    homes = _homes(flows, tcps)
    layout = Layout(drawn, spec, links, flows, tuple(homes.values()), frozenset(_watched(links, flows)))
    network = network or KernelLinks()
    files = network.files(layout, found)
    found.raise_if_any(scenario)
    times = [number(spec.get(key, "0 s")) for key in ("duration", "warmup", "sample")]
    lines = [f"run {' '.join(map(str, times))} {POLL_NS}"]
    lines += network.statements(layout, tuple(files))
    lines += _traffic(flows, tcps, homes)
    files["plan"] = "".join(f"{line}\n" for line in lines)
    return Plan(drawn, links, flows, layout.homes, files, found.instead, times[0], times[1])


def _flow(one: DrawnFlow, spec: Any, links: list[Link]) -> Flow:
    way, back = topology.path(links, one["from"], one["to"]), topology.path(links, one["to"], one["from"])
    return Flow(one, spec["flow"][one["table"]], way, back)


def _check_traffic(flows: list[Flow], found: Findings) -> None:
    for flow in flows:
        kind = flow.table["traffic"]["kind"]
        if kind not in KINDS:
            key = f"flow.{flow.drawn['table']}.traffic"
            found.refuse(key, f"`{key}`: the Linux engine does not send `{kind}`", f"it sends {', '.join(KINDS)}")


def _homes(flows: list[Flow], tcps: dict[str, Tcp]) -> dict[tuple[int, str], Host]:
    """The host of every node and TCP at the end of a flow."""
    homes: dict[tuple[int, str], Host] = {}
    count: dict[int, int] = {}
    for flow in flows:
        for node, end in ((flow.drawn["from"], "tcp_from"), (flow.drawn["to"], "tcp_to")):
            key = node, flow.table[end]
            if key not in homes:
                count[node] = count.get(node, 0) + 1
                homes[key] = Host(node, count[node], tcps[flow.table[end]])
    return homes


def _watched(links: list[Link], flows: list[Flow]) -> Iterator[int]:
    yield from (link.index for link in links if link.has_own_queue)
    yield from (min(flow.way, key=lambda link: link.drain_bps or float("inf")).index for flow in flows)


def _traffic(flows: list[Flow], tcps: dict[str, Tcp], homes: Mapping[tuple[int, str], Host]) -> Iterator[str]:
    numbers = {name: i for i, name in enumerate(tcps)}
    for tcp in tcps.values():
        yield f"tcp {tcp.congestion} {tcp.window} {tcp.mss}"
    for i, flow in enumerate(flows):
        drawn, traffic = flow.drawn, flow.table["traffic"]
        size, response, think = (number(traffic.get(key, "0 B")) for key in ("size", "response", "think"))
        if "request" in traffic:
            size = number(traffic["request"])
        words: list[object] = [i, KINDS[traffic["kind"]], drawn["start_ps"] // 1000, size, response, think]
        for node, end in ((drawn["from"], "tcp_from"), (drawn["to"], "tcp_to")):
            home = homes[node, flow.table[end]]
            words += [home.name, home.address, numbers[flow.table[end]]]
        yield "flow " + " ".join(map(str, words))
