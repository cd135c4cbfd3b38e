"""From a scenario and a seed to the files that the guest obeys: statements, and batches for ip and tc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ecnlab._core import Scenario
from ecnlab.linux import topology
from ecnlab.linux.findings import Findings
from ecnlab.linux.hosts import Host, Tcp, sysctls, tcps_of
from ecnlab.linux.quantity import number
from ecnlab.linux.topology import Link, host
from ecnlab.types import Drawn, DrawnFlow, Instead

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
    homes = _homes(flows, tcps)
    watched = frozenset(_watched(links, flows))
    files = _batches(drawn, links, flows, homes.values(), spec, found)
    found.raise_if_any(scenario)
    times = [number(spec.get(key, "0 s")) for key in ("duration", "warmup", "sample")]
    lines = [f"run {' '.join(map(str, times))} {POLL_NS}"]
    lines += _setup(drawn, homes.values(), files)
    lines += _measured(links, watched)
    lines += _traffic(flows, tcps, homes)
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


def _batches(
    drawn: Drawn, links: list[Link], flows: list[Flow], homes: Iterable[Host], spec: Any, found: Findings
) -> dict[str, str]:
    """The files for ``ip -batch`` and ``tc -batch``, by name."""
    routes = _routes(flows)
    batches: dict[str, list[str]] = {
        "wire.ip": [*topology.devices(links), *(home.cable() for home in homes)],
        "wire.tc": list(topology.wires(links)),
    }
    for node in range(len(drawn["nodes"])):
        own = [line for home in homes if home.node == node for line in home.lines_at_node()]
        batches[f"{host(node)}.ip"] = [*topology.interfaces(node, links), *own, *routes.get(node, ())]
        batches[f"{host(node)}.tc"] = list(topology.queues(node, links, spec, found))
    for home in homes:
        batches[f"{home.name}.ip"] = list(home.lines())
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in batches.items()}


def _routes(flows: list[Flow]) -> dict[int, list[str]]:
    """Lines for ``ip -batch``: at every node, the way to each end of flows beyond it."""
    onward = {
        (link.origin, way[-1].target): topology.route(link, way[-1].target)
        for flow in flows
        for way in (flow.way, flow.back)
        for link in way
    }
    lines: dict[int, list[str]] = {}
    for (node, _), line in onward.items():
        lines.setdefault(node, []).append(line)
    return lines


def _setup(drawn: Drawn, homes: Iterable[Host], files: Mapping[str, str]) -> Iterator[str]:
    nodes = [host(node) for node in range(len(drawn["nodes"]))]
    for name in (topology.WIRE, *nodes, *(home.name for home in homes)):
        yield f"host {name}"
    for name in nodes:
        yield f"set {name} net/ipv4/ip_forward 1"
    for home in homes:
        for file, value in sysctls(home.tcp):
            yield f"set {home.name} {file} {value}"
    for file in files:
        name, _, program = file.rpartition(".")
        yield f"exec {name} /bin/{program} -batch /{file}"


def _measured(links: list[Link], watched: frozenset[int]) -> Iterator[str]:
    for link in links:
        how = "poll" if link.index in watched else "count"
        yield f"queue {link.index} {host(link.origin)} o{link.index} {topology.QUEUE} {how}"
        yield f"queue {link.index} {topology.WIRE} b{link.index} {topology.PIPE} count"


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
