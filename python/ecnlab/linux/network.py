"""The network between the hosts of a run, which implements the scenario's links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ecnlab.base.quantities import number
from ecnlab.base.types import Drawn, DrawnFlow, Place
from ecnlab.laws.kernel.findings import Findings
from ecnlab.linux import changes, sojourns, topology
from ecnlab.linux.hosts import ENDS, Host, sysctls
from ecnlab.linux.topology import Link, host


@dataclass(frozen=True)
class Ways:
    """The links between two nodes, in both directions."""

    there: list[Link]
    back: list[Link]


@dataclass(frozen=True)
class Flow:
    """A flow: its draw, its table, and its ways; of web traffic from every server to every client, else one."""

    drawn: DrawnFlow
    table: Any
    ways: list[Ways]

    @property
    def ip(self) -> int:
        """The IP version of its packets."""
        return int(self.table.get("ip", 4))

    @property
    def way(self) -> list[Link]:
        """Return the links on the path of the flow's data; for web traffic from the first server to the first client."""
        return self.ways[0].there

    @property
    def back(self) -> list[Link]:
        """The links of the way back."""
        return self.ways[0].back

    @property
    def ends(self) -> Iterator[tuple[int, str]]:
        """Every node at which it ends, with the key of its TCP there; datagrams have none."""
        for side, key in enumerate(ENDS):
            if key not in self.table:
                continue
            yield from ((node, key) for node in self.nodes(side))

    def nodes(self, side: int) -> list[int]:
        """Return the nodes that send the data (0) or receive it (1)."""
        if "web" in self.drawn:
            web = self.drawn["web"]
            return web["clients"] if side else web["servers"]
        return [self.drawn["to"] if side else self.drawn["from"]]


@dataclass(frozen=True)
class Layout:
    """The objects to be connected."""

    drawn: Drawn
    spec: Mapping[str, Any]
    links: list[Link]
    flows: list[Flow]
    homes: tuple[Host, ...]
    watched: frozenset[int]
    """Links whose queue is sampled over time: those with a queue of their own, and the slowest of each flow."""

    @property
    def versions(self) -> list[int]:
        """The IP versions of its flows."""
        return sorted({flow.ip for flow in self.flows})

    @property
    def nodes(self) -> list[str]:
        """The namespaces of its nodes."""
        return [host(node) for node in range(len(self.drawn["nodes"]))]


class Network(Protocol):
    """Makes links of something."""

    def files(self, layout: Layout, found: Findings) -> dict[str, str]:
        """Return the files for ``ip -batch`` and ``tc -batch``, by name; reject unsupported features."""

    def statements(self, layout: Layout, files: Iterable[str]) -> Iterator[str]:
        """Lines of the plan that make the namespaces, obey ``files``, and name the queues to read."""


class KernelLinks:
    """Links of the kernel's own devices and queue disciplines, all in namespaces."""

    def __init__(self, taps: Collection[tuple[int, Place]] = ()) -> None:
        """``taps`` are the places at links, by index, where packets are captured."""
        self._taps = sorted(taps)

    def files(self, layout: Layout, found: Findings) -> dict[str, str]:
        """See `Network`."""
        links, homes = layout.links, layout.homes
        topology.check(links, found)
        routes = _routes(layout.flows, layout.versions)
        batches: dict[str, list[str]] = {
            "wire.ip": [*topology.devices(links), *(home.cable() for home in homes)],
            "wire.tc": list(topology.wires(links)),
        }
        versions = layout.versions
        for node, name in enumerate(layout.nodes):
            own = [line for home in homes if home.node == node for line in home.lines_at_node(versions)]
            batches[f"{name}.ip"] = [*topology.interfaces(node, links, versions), *own, *routes.get(node, ())]
            lines = topology.queues(node, links, layout.spec, found)
            batches[f"{name}.tc"] = lines.tc
            if lines.attached:
                batches[f"{name}.{ATTACHED}"] = lines.attached
        for home in homes:
            batches[f"{home.name}.ip"] = list(home.lines(versions))
        return as_files(batches)

    def statements(self, layout: Layout, files: Iterable[str]) -> Iterator[str]:
        """See `Network`."""
        hosts = [home.name for home in layout.homes]
        for name in (topology.WIRE, *layout.nodes, *hosts):
            yield f"host {name}"
            if 6 in layout.versions:
                yield _silent(name)
        for name in layout.nodes:
            yield f"set {name} net/ipv4/ip_forward 1"
        yield from settings(layout.homes)
        yield from batch_commands(files)
        if 6 in layout.versions:
            yield from _ipv6(layout.nodes, hosts)
        yield from changes.statements(layout.links, layout.spec)
        yield from _measured(layout.links, layout.watched)
        yield from _tapped(layout, sorted({*self._taps, *sojourns.taps(layout.links)}))


def as_files(batches: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Lines by name of the file, as the files' texts."""
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in batches.items()}


def settings(homes: Iterable[Host]) -> Iterator[str]:
    """Lines of the plan with settings of a whole host."""
    for home in homes:
        for file, value in sysctls(home.tcp):
            yield f"set {home.name} {file} {value}"


def _ipv6(nodes: Iterable[str], hosts: Iterable[str]) -> Iterator[str]:
    """Lines of the plan, after all devices are there: routers without multicast join no groups, of which they would send reports."""
    for name in nodes:
        yield f"set {name} net/ipv6/conf/all/forwarding 1"
    # As in the simulator, and like `txrehash`: else the label is the socket's hash.
    for name in hosts:
        yield f"set {name} net/ipv6/auto_flowlabels 0"


def _silent(name: str) -> str:
    """A line of the plan: devices that the namespace ``name`` gets have no IPv6 address of their own, and so send nothing.

    With a link-local address a device would send neighbour and router solicitations.
    """
    return f"set {name} net/ipv6/conf/default/addr_gen_mode 1"


ATTACHED: Final = "attached"
"""Suffix of the files of queue disciplines that the guest attaches itself because tc does not support them."""

PROGRAMS: Final = "/bin"
"""Where ip and tc are in the guest's file system."""


def batch_commands(files: Iterable[str]) -> Iterator[str]:
    """Lines of the plan that have ``ip``, ``tc`` or the guest obey each of ``files``, in the host after which it is named."""
    for file in files:
        name, _, program = file.rpartition(".")
        yield f"attach {name} /{file}" if program == ATTACHED else f"exec {name} {PROGRAMS}/{program} -batch /{file}"


def _routes(flows: list[Flow], versions: Sequence[int]) -> dict[int, list[str]]:
    """Lines for ``ip -batch``: at every node, the way to each end of flows beyond it."""
    lines: dict[int, list[str]] = {}
    for (node, end), link in _onward(flows).items():
        lines.setdefault(node, []).extend(topology.route(link, end, ip) for ip in versions)
    return lines


def _onward(flows: list[Flow]) -> dict[tuple[int, int], Link]:
    """The link that leads on, by a node and the end of a flow beyond it."""
    return {
        (link.origin, way[-1].target): link
        for flow in flows
        for ways in flow.ways
        for way in (ways.there, ways.back)
        for link in way
    }


def _measured(links: list[Link], watched: frozenset[int]) -> Iterator[str]:
    for link in links:
        how = "poll" if link.index in watched else "count"
        yield f"queue {link.index} {host(link.origin)} o{link.index} {topology.QUEUE} {how}"
        yield f"queue {link.index} {topology.WIRE} b{link.index} {topology.PIPE} count"


def _tapped(layout: Layout, taps: Iterable[tuple[int, Place]]) -> Iterator[str]:
    """Return the lines of the plan that name the devices to capture.

    A packet that arrives at a queue passes no device there, but has passed one at the same time when it entered the
    node.
    """
    snaps = [number(capture["snap"]) for capture in layout.spec.get("capture", {}).values()]
    snap = max(
        [*snaps, *(sojourns.SNAP[ip] for link in layout.links if link.quantiles for ip in layout.versions)], default=0
    )
    early = {index for index, place in taps if place == "before"}
    for index, place in taps:
        link = layout.links[index]
        if place == "after":
            yield f"tap {index} {place} {host(link.origin)} o{index} {snap}"
        elif place == "end":
            yield f"tap {index} {place} {host(link.target)} i{index} {snap}"
    for (node, end), link in _onward(layout.flows).items():
        if link.index in early:
            yield f"way {host(node)} {end} {link.index}"
    for node in sorted({layout.links[index].origin for index in early}):
        devices = [f"i{link.index}" for link in layout.links if link.target == node]
        devices += [f"d{home.number}" for home in layout.homes if home.node == node]
        for device in devices:
            yield f"tap 0 before {host(node)} {device} {snap}"
