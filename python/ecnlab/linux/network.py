"""The network between the hosts of a run, which implements the scenario's links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
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
        routes = _routes(layout.flows)
        batches: dict[str, list[str]] = {
            "wire.ip": [*topology.devices(links), *(home.cable() for home in homes)],
            "wire.tc": list(topology.wires(links)),
        }
        for node in range(len(layout.drawn["nodes"])):
            own = [line for home in homes if home.node == node for line in home.lines_at_node()]
            batches[f"{host(node)}.ip"] = [*topology.interfaces(node, links), *own, *routes.get(node, ())]
            lines = topology.queues(node, links, layout.spec, found)
            batches[f"{host(node)}.tc"] = lines.tc
            if lines.attached:
                batches[f"{host(node)}.{ATTACHED}"] = lines.attached
        for home in homes:
            batches[f"{home.name}.ip"] = list(home.lines())
        return as_files(batches)

    def statements(self, layout: Layout, files: Iterable[str]) -> Iterator[str]:
        """See `Network`."""
        nodes = [host(node) for node in range(len(layout.drawn["nodes"]))]
        for name in (topology.WIRE, *nodes, *(home.name for home in layout.homes)):
            yield f"host {name}"
        for name in nodes:
            yield f"set {name} net/ipv4/ip_forward 1"
        yield from settings(layout.homes)
        yield from batch_commands(files)
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


ATTACHED: Final = "attached"
"""Suffix of the files of queue disciplines that the guest attaches itself because tc does not support them."""

PROGRAMS: Final = "/bin"
"""Where ip and tc are in the guest's file system."""


def batch_commands(files: Iterable[str]) -> Iterator[str]:
    """Lines of the plan that have ``ip``, ``tc`` or the guest obey each of ``files``, in the host after which it is named."""
    for file in files:
        name, _, program = file.rpartition(".")
        yield f"attach {name} /{file}" if program == ATTACHED else f"exec {name} {PROGRAMS}/{program} -batch /{file}"


def _routes(flows: list[Flow]) -> dict[int, list[str]]:
    """Lines for ``ip -batch``: at every node, the way to each end of flows beyond it."""
    lines: dict[int, list[str]] = {}
    for (node, end), link in _onward(flows).items():
        lines.setdefault(node, []).append(topology.route(link, end))
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
    snap = max([*snaps, *(sojourns.SNAP for link in layout.links if link.quantiles)], default=0)
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
