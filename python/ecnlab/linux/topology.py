"""A scenario's nodes, links and routes as network namespaces, veth pairs and queue disciplines.

Every node is a namespace that only forwards. Its hosts, the ends of flows, are behind it in one namespace per TCP of
its flows: host-wide kernel settings differ between them, and drops of a queue are not reported to the TCP of its own
namespace, as the kernel would do. Every direction of a link consists of two veth pairs that meet in another namespace,
the wire::

    node A  o3 ~~~ a3  wire  b3 ~~~ i3  node B

``o3`` has the link's rate or shaper (tbf) and, inside it, its queue; ``b3`` has the rest of the link: its own rate
again if a shaper is slower, its delay and its loss (netem). Packets that enter ``a3`` are redirected to ``b3``. A
packet thus leaves the queue when the shaper permits, and arrives after serialisation and delay, as in the simulator.
Addresses of neighbours are static, and IPv6 has no link-local addresses: there is no ARP, no neighbour discovery, and
no packet except those of the scenario.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ecnlab import laws
from ecnlab.base.quantities import changes, highest, number
from ecnlab.base.types import Drawn, DrawnChanges, DrawnLink
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kernel.tc import bucket
from ecnlab.linux.disciplines import qdisc

WIRE: Final = "wire"

PACKET: Final = 1500
"""Bytes of the longest packet: a token bucket must hold one."""

ETHERNET: Final = "stab overhead -14 linklayer ethernet"
"""The kernel also counts the Ethernet header; the scenario's sizes start with the IP header."""

QUEUE: Final = "10"
PIPE: Final = "20"
"""Handles of the queue in front of a link and of the wire behind it."""

PARENT: Final = "1:1"
"""The class of a shaper."""

MAX_IN_FLIGHT: Final = 1_000_000
"""Packet limit of a wire, high enough that it never drops any."""


UNSUPPORTED: Final = ("drop", "mark", "drop_segments", "mark_segments")
"""Faults that only the simulator can inject at a given packet."""

UNLIKE: Final = ("jitter", "burst_loss")
"""Features that netem implements differently: distributions by tables, and the loss by the state before the step."""


@dataclass(frozen=True)
class Link:
    """One direction of a link: its description in the scenario and its place in the network."""

    index: int
    name: str
    origin: int
    target: int
    table: Mapping[str, Any]
    path: str
    delay_ps: int
    law: str
    changes: DrawnChanges | None = None
    quantiles: bool = False
    """Whether quantiles of sojourn times are kept for its queue."""

    @property
    def has_own_queue(self) -> bool:
        """Return whether the link names a queue."""
        return bool(self.table["queue"] != "default")

    @property
    def shaper(self) -> tuple[int, int] | None:
        """Rate and burst of the shaper, None if there is none."""
        shaper = self.table.get("shaper")
        return (number(shaper["rate"]), number(shaper["burst"])) if shaper else None

    @property
    def rate_bps(self) -> int | None:
        """Rate of the wire, None if it has none; the highest of one that changes."""
        rate = highest(self.table["rate"])
        return None if rate == math.inf else round(rate)

    @property
    def drain_bps(self) -> int | None:
        """The rate at which the queue drains: the shaper's, or the wire's."""
        return self.shaper[0] if self.shaper else self.rate_bps


def address(node: int, number: int = 0, ip: int = 4) -> str:
    """The address of a node (0), or of its hosts (from 1), of the IP version ``ip``."""
    if ip == 6:
        return f"2001:db8:0:{node:x}::{number + 1:x}"
    return f"10.{node >> 8}.{node & 255}.{number + 1}"


def network(node: int, ip: int) -> str:
    """The addresses of a node and all its hosts."""
    return f"2001:db8:0:{node:x}::/64" if ip == 6 else f"10.{node >> 8}.{node & 255}.0/24"


def own_address(address: str) -> str:
    """A line for ``ip -batch``: a node or host has this ``address``."""
    return f"address add {address}/128 dev lo nodad" if ":" in address else f"address add {address}/32 dev lo"


def host(node: int) -> str:
    """The namespace of a node."""
    return f"n{node}"


def links_of(spec: Mapping[str, Any], drawn: Drawn) -> list[Link]:
    """Every direction of every link, in the order of a run's tables."""
    return [_link(index, one, spec) for index, one in enumerate(drawn["links"])]


def _link(index: int, one: DrawnLink, spec: Mapping[str, Any]) -> Link:
    table, path = spec["link"][one["table"]], f"link.{one['table']}"
    if one["reverse"]:
        table, path = table["reverse"], f"{path}.reverse"
    queue, changed = spec["queue"][table["queue"]], one.get("changes")
    law, quantiles = queue["discipline"], bool(queue.get("quantiles"))
    return Link(
        index, one["name"], one["from"], one["to"], table, path, one["delay_ps"], law, changed, quantiles=quantiles
    )


def path(links: list[Link], start: int, end: int) -> list[Link]:
    """The links from node ``start`` to ``end``: the fewest, and of equally short ways the first named.

    The same search as the simulator's (crates/engine/src/routes.rs), so that both send packets the same way.
    """
    reached: dict[int, Link] = {}
    frontier = deque([start])
    while frontier and end not in reached:
        node = frontier.popleft()
        for link in links:
            if link.origin == node and link.target != start and link.target not in reached:
                reached[link.target] = link
                frontier.append(link.target)
    way: list[Link] = []
    node = end
    while node != start:
        way.append(reached[node])
        node = reached[node].origin
    return way[::-1]


def refuse_tunnels(links: list[Link], found: Findings) -> None:
    """Reject tunnels, which only the simulator supports."""
    for link in links:
        if "tunnel" in link.table:
            remedy = "leave it out, or run the scenario in the simulator"
            found.refuse(f"{link.path}.tunnel", f"`{link.path}.tunnel`: the Linux engine has no tunnels", remedy)


def check(links: list[Link], found: Findings) -> None:
    """Reject link features that the kernel's wires do not support."""
    refuse_tunnels(links, found)
    for link in links:
        for key in UNSUPPORTED:
            if link.table.get(key):
                remedy = "leave it out, or run the scenario in the simulator; `loss` works on Linux"
                found.refuse(
                    f"{link.path}.{key}",
                    f"`{link.path}.{key}`: the kernel's links cannot select single packets",
                    remedy,
                )
        for key in UNLIKE:
            if key in link.table:
                remedy = "leave it out, or run the scenario in the simulator or with `--clock wall`, which have ecnlab's own links"
                found.refuse(f"{link.path}.{key}", f"`{link.path}.{key}`: netem implements it differently", remedy)
        if "aggregation" in link.table:
            remedy = "leave it out, or run the scenario in the simulator or with `--clock wall`"
            found.refuse(
                f"{link.path}.aggregation", f"`{link.path}.aggregation`: the kernel's links send no bursts", remedy
            )
        held = link.table.get("outages", {}).get("packets") == "held"
        if link.shaper and (held or changes(link.table["rate"])):
            # The queue would be in the shaper, and the packets that wait for the slower wire on the wire.
            remedy = "leave it out, or run the scenario in the simulator or with `--clock wall`"
            key = f"{link.path}.shaper"
            found.refuse(key, f"`{key}`: the kernel's links have no shaper in front of a rate that changes", remedy)
        if link.table.get("boxes"):
            remedy = "leave it out, or run the scenario in the simulator, or with `--clock wall`"
            found.refuse(f"{link.path}.boxes", f"`{link.path}.boxes`: the kernel's links have no boxes", remedy)
        if link.shaper and link.shaper[1] < PACKET:
            key = f"{link.path}.shaper.burst"
            found.refuse(key, f"`{key}` is less than a packet, which tbf would drop", 'write at least "1500 B"')


def devices(links: list[Link]) -> Iterator[str]:
    """Lines for ``ip -batch`` in the wire's namespace: every veth pair."""
    for link in links:
        i = link.index
        yield f"link add a{i} type veth peer name o{i} netns {host(link.origin)}"
        yield f"link add b{i} type veth peer name i{i} address {mac(link)} netns {host(link.target)}"
        yield f"link set a{i} up"
        yield f"link set b{i} up"


def mac(link: Link) -> str:
    """The Ethernet address of the device at the far end."""
    return f"02:00:00:00:{link.index >> 8:02x}:{link.index & 255:02x}"


def interfaces(node: int, links: list[Link], versions: Sequence[int]) -> Iterator[str]:
    """Lines for ``ip -batch`` in a node's namespace: its addresses of these IP ``versions``, its devices, its neighbours."""
    yield "link set lo up"
    yield from (own_address(address(node, ip=ip)) for ip in versions)
    for link in links:
        if link.origin == node:
            # One packet a time: a queue in front of this device shall not meet the sender's bundles.
            yield f"link set o{link.index} gso_max_segs 1 multicast off up"
            for ip in versions:
                neighbour = address(link.target, ip=ip)
                yield f"neighbour add {neighbour} lladdr {mac(link)} dev o{link.index} nud permanent"
        if link.target == node:
            yield f"link set i{link.index} multicast off up"


def route(link: Link, end: int, ip: int) -> str:
    """A line for ``ip -batch``: the way to node ``end`` and its hosts over ``link``."""
    return f"route add {network(end, ip)} via {address(link.target, ip=ip)} dev o{link.index} onlink"


class Queues(NamedTuple):
    """Lines in a node's namespace: for ``tc -batch``, and those that the guest obeys after them."""

    tc: list[str]
    attached: list[str]


def queues(node: int, links: list[Link], spec: Mapping[str, Any], found: Findings) -> Queues:
    """The queue in front of each of the node's links, in its shaper."""
    lines = Queues([], [])
    for link in links:
        if link.origin == node:
            own = in_front(link, f"o{link.index}", spec, link.drain_bps, found)
            lines.tc.extend(own.tc)
            lines.attached.extend(own.attached)
    return lines


def in_front(link: Link, device: str, spec: Mapping[str, Any], rate_bps: int | None, found: Findings) -> Queues:
    """The queue in front of ``link``, on ``device``, in a shaper of ``rate_bps``; None: without a shaper."""
    name = link.table["queue"]
    words = qdisc(spec["queue"][name], name, rate_bps, found)
    lines = placed(device, words, rate_bps, link.shaper[1] if link.shaper else PACKET)
    if laws.discipline(link.law).attached:
        return Queues(lines[:-1], [f"{device} {PARENT} {QUEUE}: {words}"])
    return Queues(lines, [])


def placed(device: str, words: str, rate_bps: int | None, burst: int = PACKET, sizes: str = ETHERNET) -> list[str]:
    """The lines for the discipline of ``words`` on ``device``, in a shaper of ``rate_bps``; None: without a shaper.

    ``burst`` is the shaper's in bytes, as the table of ``sizes`` counts them.
    """
    if rate_bps is None:
        return [f"qdisc add dev {device} {sizes} root handle {QUEUE}: {words}"]
    depth = bucket(burst, rate_bps)
    return [
        f"qdisc add dev {device} {sizes} root handle 1: tbf rate {rate_bps}bit burst {depth} limit {depth}",
        f"qdisc add dev {device} parent {PARENT} handle {QUEUE}: {words}",
    ]


def pipe(link: Link) -> str:
    """The arguments of netem for everything after the queue of ``link``: its delay, loss and rate."""
    words = [f"delay {link.delay_ps / 1e6:.3f}us limit {MAX_IN_FLIGHT}"]
    if link.table["loss"]:
        words.append(f"loss {100 * link.table['loss']}%")
    if link.rate_bps is not None:
        words.append(f"rate {link.rate_bps}bit -14")
    return " ".join(words)


def wires(links: list[Link]) -> Iterator[str]:
    """Return the lines for ``tc -batch`` in the wire's namespace: everything after each queue."""
    for link in links:
        i = link.index
        yield f"qdisc add dev a{i} ingress"
        yield f"filter add dev a{i} ingress matchall action mirred egress redirect dev b{i}"
        yield f"qdisc add dev b{i} root handle {PIPE}: netem {pipe(link)}"
