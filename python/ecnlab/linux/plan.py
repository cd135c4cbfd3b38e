"""From a scenario and a seed to the files that the guest obeys: statements, and batches for ip and tc."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ecnlab._core import Scenario
from ecnlab.base.quantities import number
from ecnlab.base.types import Drawn, DrawnFlow, Instead
from ecnlab.laws.kernel.findings import Findings
from ecnlab.linux import topology
from ecnlab.linux.hosts import ENDS, Host, Tcp, tcps_of
from ecnlab.linux.network import Flow, KernelLinks, Layout, Network, Ways
from ecnlab.linux.topology import Link
from ecnlab.linux.web import overlapping, sessions

POLL_NS: Final = 20_000_000
"""Between two looks at the length of a queue."""

READ_INTERVAL: Final = "10 ms"
"""The default of a flow's ``read_interval``."""

KINDS: Final = {"ftp": "bulk", "crr": "exchange", "web": "web"}


@dataclass(frozen=True)
class Plan:
    """The parts of a run on Linux."""

    drawn: Drawn
    links: list[Link]
    flows: list[Flow]
    homes: tuple[Host, ...]
    files: dict[str, str]
    """Files for the guest, by name."""
    instead: list[Instead]
    """Deviations of the kernel from the scenario."""
    duration_ns: int
    warmup_ns: int


def plan(scenario: Scenario, seed: int, network: Network | None = None) -> Plan:
    """Return the run of ``scenario`` with ``seed``; ``network`` implements its links, by default the kernel.

    Raises SpecError for features that Linux does not support, with file, line and key.
    """
    spec, drawn, found = scenario.resolved, scenario.drawn(seed), Findings()
    links = topology.links_of(spec, drawn)
    flows = [_flow(one, spec, links) for one in drawn["flows"]]
    if spec.get("end_after"):
        message = "`end_after`: a run of the Linux engine lasts its `duration`"
        found.refuse("end_after", message, "leave it out, or run the scenario in the simulator")
    _refuse_quic(spec, found)
    found.raise_if_any(scenario)
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
    flow = Flow(one, spec["flow"][one["table"]], [])
    pairs = ((here, there) for here in flow.nodes(0) for there in flow.nodes(1))
    flow.ways.extend(
        Ways(topology.path(links, here, there), topology.path(links, there, here)) for here, there in pairs
    )
    return flow


def _refuse_quic(spec: Mapping[str, Any], found: Findings) -> None:
    for name, flow in spec["flow"].items():
        if "quic_from" in flow:
            key = f"flow.{name}.quic"
            found.refuse(key, f"`{key}`: the kernel has no QUIC", "leave it out, or run the scenario in the simulator")


def _check_traffic(flows: list[Flow], found: Findings) -> None:
    for flow in flows:
        kind = flow.table["traffic"]["kind"]
        if kind not in KINDS:
            key = f"flow.{flow.drawn['table']}.traffic"
            found.refuse(key, f"`{key}`: the Linux engine does not send `{kind}`", f"it sends {', '.join(KINDS)}")
    for name, table in {flow.drawn["table"]: flow.table for flow in flows}.items():
        if "stop" in table:
            key = f"flow.{name}.stop"
            found.refuse(
                key, f"`{key}`: the Linux engine cannot stop a flow", "leave it out, or give the transfer a `size`"
            )
        if "dscp" in table:
            key = f"flow.{name}.dscp"
            found.refuse(key, f"`{key}`: the Linux engine does not set a DSCP", "leave it out")
        for key in ("request", "response"):
            if not isinstance(table["traffic"].get(key, ""), str):
                path = f"flow.{name}.traffic.{key}"
                message = f"`{path}`: the Linux engine has no random sizes of transactions"
                found.refuse(path, message, 'write one size, such as "5 kB"')


def _homes(flows: list[Flow], tcps: dict[str, Tcp]) -> dict[tuple[int, str], Host]:
    """The host of every node and TCP at the end of a flow."""
    homes: dict[tuple[int, str], Host] = {}
    count: dict[int, int] = {}
    for flow in flows:
        for node, end in flow.ends:
            key = node, flow.table[end]
            if key not in homes:
                count[node] = count.get(node, 0) + 1
                homes[key] = Host(node, count[node], tcps[flow.table[end]])
    return homes


def _watched(links: list[Link], flows: list[Flow]) -> Iterator[int]:
    yield from (link.index for link in links if link.has_own_queue)
    ways = (ways.there for flow in flows for ways in flow.ways)
    yield from (min(way, key=lambda link: link.drain_bps or float("inf")).index for way in ways)


def _traffic(flows: list[Flow], tcps: dict[str, Tcp], homes: Mapping[tuple[int, str], Host]) -> Iterator[str]:
    numbers = {name: i for i, name in enumerate(tcps)}
    for tcp in tcps.values():
        yield f"tcp {tcp.congestion} {tcp.window} {tcp.mss} {tcp.sysctl['tcp_ecn_fallback']}"
    for i, flow in enumerate(flows):
        drawn, traffic = flow.drawn, flow.table["traffic"]
        sent = next((traffic[key] for key in ("request", "packet", "size") if key in traffic), "0 B")
        response, think = (number(traffic.get(key, "0 B")) for key in ("response", "think"))
        kind = KINDS[traffic["kind"]] + ("-overlapping" if overlapping(traffic) else "")
        words: list[object] = [i, kind, drawn["start_ps"] // 1000, number(sent), response, think, *_reads(flow.table)]
        for side in (0, 1):
            words += _end(flow, side, flow.nodes(side)[0], numbers, homes)
        yield _line("flow", *words)
        if "web" in drawn:
            yield from _pools(i, flow, numbers, homes)
            yield from sessions(i, drawn["web"], overlapping=overlapping(traffic))


def _reads(table: Mapping[str, Any]) -> tuple[int, int]:
    """Bytes of a read of the receiving application and nanoseconds between reads; zeros if it reads at once."""
    if "read_rate" not in table:
        return 0, 0
    every = number(table.get("read_interval", READ_INTERVAL))
    return number(table["read_rate"]) * every // 8_000_000_000, every


def _line(*words: object) -> str:
    return " ".join(map(str, words))


def _end(
    flow: Flow, side: int, node: int, numbers: Mapping[str, int], homes: Mapping[tuple[int, str], Host]
) -> list[object]:
    name = flow.table[ENDS[side]]
    home = homes[node, name]
    return [home.name, home.address(flow.ip), numbers[name]]


def _pools(index: int, flow: Flow, numbers: Mapping[str, int], homes: Mapping[tuple[int, str], Host]) -> Iterator[str]:
    for side in (0, 1):
        for node in flow.nodes(side):
            yield _line("pool", index, side, *_end(flow, side, node, numbers, homes))
