"""From a scenario and a seed to the files that the guest obeys: statements, and batches for ip and tc."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ecnlab._core import Scenario
from ecnlab.linux import topology
from ecnlab.linux.findings import Findings, Instead
from ecnlab.linux.hosts import Tcp, sysctls, tcps_of
from ecnlab.linux.quantity import number
from ecnlab.linux.topology import Link, host
from ecnlab.types import Drawn, DrawnFlow

POLL_NS: Final = 20_000_000
"""Between two looks at the length of a queue."""

KINDS: Final = {"ftp": "bulk", "crr": "exchange"}


@dataclass(frozen=True)
class Flow:
    """A flow: its draw, its table, and its way."""

    drawn: DrawnFlow
    table: Any
    way: list[Link]
    back: list[Link]


@dataclass(frozen=True)
class Plan:
    """What a run on Linux consists of."""

    drawn: Drawn
    links: list[Link]
    flows: list[Flow]
    watched: frozenset[int]
    """Links whose queue is sampled over time: those with a queue of their own, and the slowest of each flow."""
    files: dict[str, str]
    """By name, what the guest reads."""
    instead: list[Instead]
    """Where the kernel does not do as the scenario says."""
    duration_ns: int
    warmup_ns: int


def plan(scenario: Scenario, seed: int) -> Plan:
    """The run of ``scenario`` under ``seed``. Raises SpecError for what Linux cannot do, with file, line and key."""
    spec, drawn, found = scenario.resolved, scenario.drawn(seed), Findings()
    links = topology.links_of(spec, drawn)
    flows = [_flow(one, spec, links) for one in drawn["flows"]]
    topology.check(links, found)
    _check_traffic(flows, found)
    tcps = tcps_of(spec, {departure["key"] for departure in scenario.departures}, found)
    homes = _homes(flows, tcps, found)
    watched = frozenset(_watched(links, flows))
    files = _batches(drawn, links, flows, tcps, spec, found)
    found.raise_if_any(scenario)
    times = [number(spec.get(key, "0 s")) for key in ("duration", "warmup", "sample")]
    lines = [f"run {' '.join(map(str, times))} {POLL_NS}"]
    lines += _setup(drawn, homes)
    lines += _measured(links, watched)
    lines += _traffic(flows, tcps)
    files["plan"] = "".join(f"{line}\n" for line in lines)
    return Plan(drawn, links, flows, watched, files, found.instead, times[0], times[1])


def _flow(one: DrawnFlow, spec: Any, links: list[Link]) -> Flow:
    way, back = topology.path(links, one["from"], one["to"]), topology.path(links, one["to"], one["from"])
    return Flow(one, spec["flow"][one["table"]], way, back)


def _check_traffic(flows: list[Flow], found: Findings) -> None:
    for flow in flows:
        kind = flow.table["traffic"]["kind"]
        if kind not in KINDS:
            key = f"flow.{flow.drawn['table']}.traffic"
            found.refuse(key, f"`{key}`: the Linux engine does not send `{kind}`", f"it sends {', '.join(KINDS)}")


def _homes(flows: list[Flow], tcps: dict[str, Tcp], found: Findings) -> dict[int, Tcp]:
    """The TCP of every node at the end of a flow. The kernel has one for all connections of a host."""
    homes: dict[int, Tcp] = {}
    for flow in flows:
        for node, end in ((flow.drawn["from"], "tcp_from"), (flow.drawn["to"], "tcp_to")):
            tcp = tcps[flow.table[end]]
            other = homes.setdefault(node, tcp)
            if other.sysctl != tcp.sysctl:
                key = f"flow.{flow.drawn['table']}.{end}"
                message = f"`{key}`: on Linux `{tcp.name}` and `{other.name}` cannot be of one node"
                found.refuse(key, message, "give these flows nodes of their own, each with a link to this one")
    return homes


def _watched(links: list[Link], flows: list[Flow]) -> Iterator[int]:
    yield from (link.index for link in links if link.has_own_queue)
    yield from (min(flow.way, key=lambda link: link.drain_bps or float("inf")).index for flow in flows)


def _batches(
    drawn: Drawn, links: list[Link], flows: list[Flow], tcps: dict[str, Tcp], spec: Any, found: Findings
) -> dict[str, str]:
    """The files for ``ip -batch`` and ``tc -batch``, by name."""
    routes = _routes(flows, tcps, found)
    batches: dict[str, list[str]] = {
        "wire.ip": list(topology.devices(links)),
        "wire.tc": list(topology.wires(links)),
    }
    for node in range(len(drawn["nodes"])):
        batches[f"{host(node)}.ip"] = [*topology.interfaces(node, links), *routes.get(node, ())]
        batches[f"{host(node)}.tc"] = list(topology.queues(node, links, spec, found))
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in batches.items()}


def _routes(flows: list[Flow], tcps: dict[str, Tcp], found: Findings) -> dict[int, list[str]]:
    """Lines for ``ip -batch``: at every node, the way to each end beyond it, with its TCP's settings at the first."""
    first: dict[tuple[int, int], str] = {}
    onward: dict[tuple[int, int], str] = {}
    for flow in flows:
        for way, end in ((flow.way, "tcp_from"), (flow.back, "tcp_to")):
            origin, target = way[0].origin, way[-1].target
            settings = tcps[flow.table[end]].route
            if first.setdefault((origin, target), settings) != settings:
                key = f"flow.{flow.drawn['table']}.{end}"
                message = f"`{key}`: on Linux two TCPs between the same nodes cannot differ in what a route sets"
                found.refuse(key, message, "give these flows nodes of their own")
            for link in way:
                onward[link.origin, target] = topology.route(link, target)
    lines: dict[int, list[str]] = {}
    for (node, target), words in onward.items():
        lines.setdefault(node, []).append(f"route add {words} {first.get((node, target), '')}".rstrip())
    return lines


def _setup(drawn: Drawn, homes: dict[int, Tcp]) -> Iterator[str]:
    nodes = range(len(drawn["nodes"]))
    yield f"host {topology.WIRE}"
    for node in nodes:
        yield f"host {host(node)}"
        yield f"set {host(node)} net/ipv4/ip_forward 1"
    for node, tcp in sorted(homes.items()):
        for file, value in sysctls(tcp):
            yield f"set {host(node)} {file} {value}"
    for name in (topology.WIRE, *map(host, nodes)):
        yield f"exec {name} /bin/ip -batch /{name}.ip"
        yield f"exec {name} /bin/tc -batch /{name}.tc"


def _measured(links: list[Link], watched: frozenset[int]) -> Iterator[str]:
    for link in links:
        how = "poll" if link.index in watched else "count"
        yield f"queue {link.index} {host(link.origin)} o{link.index} {topology.QUEUE} {how}"
        yield f"queue {link.index} {topology.WIRE} b{link.index} {topology.PIPE} count"


def _traffic(flows: list[Flow], tcps: dict[str, Tcp]) -> Iterator[str]:
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
            words += [host(node), topology.address(node), numbers[flow.table[end]]]
        yield "flow " + " ".join(map(str, words))
