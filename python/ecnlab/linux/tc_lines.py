"""A scenario's queues and hosts as lines for a shell on real machines: ``tc``, ``ip`` and ``sysctl``.

The lines of queues are those of the engine in virtual time (`topology.placed`), on the devices of the reader's machines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ecnlab import laws
from ecnlab._core import Scenario
from ecnlab.base.errors import EcnlabError
from ecnlab.base.quantities import changes, written
from ecnlab.base.safe_text import one_line
from ecnlab.laws.kernel.findings import Findings
from ecnlab.linux import topology
from ecnlab.linux.disciplines import tc_words
from ecnlab.linux.topology import Link
from ecnlab.scenario.links import INDEX, REVERSE

DEVICE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,14}")
"""Names of network devices that need no quotes in a shell."""

LONGEST: Final = 15
"""Characters of a device's name (IFNAMSIZ without the final zero)."""

PLAIN: Final = {"limit": "1000 packets", "full": "tail"}
"""The queue of links that name none, Linux's own transmit queue, if the scenario does not change it."""


@dataclass(frozen=True)
class Part:
    """Lines for one place: the queue of a link, its wire, or the hosts with a TCP."""

    about: str
    nodes: tuple[str, ...]
    """Machines of the lines, as nodes of the scenario."""
    lines: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    """Link, queue, discipline and device; or the TCP."""
    refused: tuple[tuple[str, str, str], ...] = ()
    """Key, message and remedy of what Linux lacks."""
    substituted: tuple[Any, ...] = ()
    """Values that Linux replaces by its own."""
    notes: tuple[str, ...] = ()
    missing: bool = False
    """Whether Linux lacks the whole queue, or a setting without which it would be another."""


@dataclass(frozen=True)
class Requested:
    """The options of ``ecnlab tc``."""

    link: str | None = None
    devices: tuple[str, ...] = ()
    """A device for all links, or LINK=DEVICE for each."""
    ingress: bool = False
    """Shape packets that the device receives, instead of those that it sends."""
    emulate: bool = False
    """Also write the delays and losses of the chosen links."""


def queues(scenario: Scenario, requested: Requested) -> list[Part]:
    """The parts of all links with a queue, or of the link that ``requested`` names. Raises EcnlabError for wrong options."""
    spec, drawn = scenario.resolved, scenario.drawn(1)
    chosen = _chosen(_one_of_each(topology.links_of(spec, drawn)), spec, requested.link)
    devices = _devices(list(dict.fromkeys(_table(link.name) for link in chosen)), requested.devices)
    paths = {link.path for link in chosen}
    parts: list[Part] = []
    for link in chosen:
        ends = drawn["nodes"][link.origin], drawn["nodes"][link.target]
        # The machine at the end of a link with queues in both directions shapes both: it is the customer's router.
        ingress = requested.ingress or f"{link.path}.reverse" in paths
        parts.append(_queue(link, ends, spec, devices[_table(link.name)], ingress, requested))
        if requested.emulate:
            parts.append(_wire(link, ends, devices[_table(link.name)], ingress, _delay(link, spec)))
    return parts


def _table(name: str) -> str:
    """The ``[link.NAME]`` of a link of the tables."""
    return INDEX.sub("", name.removesuffix(REVERSE))


def _one_of_each(links: Iterable[Link]) -> list[Link]:
    """The first link of every array, in both directions."""
    first: dict[str, Link] = {}
    for link in links:
        first.setdefault(link.path, link)
    return list(first.values())


def _chosen(links: Sequence[Link], spec: Mapping[str, Any], name: str | None) -> list[Link]:
    having = [link for link in links if _has_queue(link, spec)]
    if name is None:
        return having
    known = {_table(link.name) for link in links}
    table = _table(name)
    if table not in known:
        raise EcnlabError(f"--link: there is no link {one_line(name)!r}; the scenario has {', '.join(sorted(known))}")
    if name.endswith(REVERSE):
        back = [link for link in links if link.path == f"link.{table}.reverse"]
        if not back:
            raise EcnlabError(f"--link: {one_line(table)!r} has one direction only: leave {REVERSE} out")
        return back
    same = [link for link in having if _table(link.name) == table]
    return same or [link for link in links if link.path == f"link.{table}"]


def _has_queue(link: Link, spec: Mapping[str, Any]) -> bool:
    queue = spec["queue"][link.table["queue"]]
    acts = "class" in queue or laws.facts("queue", queue["discipline"])["uses_ecn"]
    return acts or link.has_own_queue or any(queue.get(key) != value for key, value in PLAIN.items())


def _devices(tables: Sequence[str], given: Sequence[str]) -> dict[str, str]:
    """The device of each link: those ``given``, else eth0, eth1, ...; two links have two devices."""
    named = dict(_named(one, tables) for one in given)
    if None in named and len(tables) > 1:
        example = " ".join(f"--dev {table}=eth{i}" for i, table in enumerate(tables))
        raise EcnlabError(f"--dev: {len(tables)} links have queues: choose one with --link, or write {example}")
    free = (name for name in (f"eth{i}" for i in range(len(tables) + len(named))) if name not in named.values())
    devices = {table: named.get(table) or named.get(None) or next(free) for table in tables}
    taken = [one for one in devices.values() if list(devices.values()).count(one) > 1]
    if taken:
        raise EcnlabError(f"--dev: two links on {taken[0]}: a device has one queue; name another for one of them")
    return devices


def _named(given: str, tables: Sequence[str]) -> tuple[str | None, str]:
    table, _, device = given.rpartition("=")
    if not DEVICE.fullmatch(device):
        raise EcnlabError(f"--dev is {given!r}: write a device of `ip link`, such as eth0, or LINK=eth0")
    if table and table not in tables:
        links = f"those with queues are {', '.join(tables)}" if tables else "no link has a queue"
        raise EcnlabError(f"--dev: there is no queue at a link {one_line(table)!r}; {links}")
    return table or None, device


# ---------------------------------------------------------------- a queue


def _queue(
    link: Link, ends: tuple[str, str], spec: Mapping[str, Any], device: str, ingress: bool, requested: Requested
) -> Part:
    found = Findings()
    shaped = ifb(device) if ingress else device
    below = _below(link, shaped, spec, found)
    topology.check([link], found)
    prepare = (redirect(device, shaped) if ingress else egress(device)) if below else ()
    name = link.table["queue"]
    names = {"link": link.name, "queue": name, "discipline": link.law, "device": shaped}
    return Part(
        f"link `{link.name}`, {ends[0]} to {ends[1]}, {_rate(link)}: queue `{name}` ({laws.label('queue', link.law)}), {_where(device, ingress)}",
        (ends[1] if ingress else ends[0],),
        (*prepare, *below),
        names,
        tuple(dict.fromkeys(found.refused)),
        tuple(found.instead),
        tuple(_notes(link, _delay(link, spec), ingress, emulated=requested.emulate)) if below else (),
        missing=not below,
    )


def _below(link: Link, device: str, spec: Mapping[str, Any], found: Findings) -> tuple[str, ...]:
    """The lines of the queue; none if Linux lacks it."""
    queue = spec["queue"][link.table["queue"]]
    # A discipline with a rate of its own is the shaper.
    rate = None if "rate" in queue else link.drain_bps
    words = tc_words(queue, link.table["queue"], rate, found)
    if not words:
        return ()
    burst = link.shaper[1] if link.shaper else topology.PACKET
    return tuple(f"tc {line}" for line in topology.placed(device, words, rate, burst))


def _rate(link: Link) -> str:
    if link.rate_bps is None:
        return "no rate"
    rate = link.table["rate"]
    return f"{link.rate_bps} bit/s at most" if changes(rate) else written(rate)


def _where(device: str, ingress: bool) -> str:
    return f"packets that {device} receives" if ingress else f"packets that {device} sends"


def ifb(device: str) -> str:
    """The intermediate functional block of ``device``."""
    return f"ifb4{device[4 - LONGEST :]}"


def egress(device: str) -> tuple[str, ...]:
    """The lines before the queue of packets that ``device`` sends."""
    return (
        f"tc qdisc del dev {device} root 2>/dev/null || true",
        f"ip link set dev {device} gso_max_segs 1",
    )


def redirect(device: str, ifb: str) -> tuple[str, ...]:
    """The lines that send what ``device`` receives through ``ifb``."""
    return (
        "modprobe ifb numifbs=0 2>/dev/null || true",
        f"tc qdisc del dev {device} ingress 2>/dev/null || true",
        f"ip link del {ifb} 2>/dev/null || true",
        f"ip link add {ifb} type ifb",
        f"ip link set dev {ifb} up",
        f"tc qdisc add dev {device} handle ffff: ingress",
        f"tc filter add dev {device} ingress matchall action mirred egress redirect dev {ifb}",
    )


def _delay(link: Link, spec: Mapping[str, Any]) -> Any:
    """The delay in the scenario: without one of its own, a reverse direction has the link's."""
    return link.table.get("delay", spec["link"][_table(link.name)]["delay"])


def _notes(link: Link, delay: Any, ingress: bool, *, emulated: bool) -> Iterator[str]:
    """What the lines leave out, or need beside them."""
    if changes(link.table["rate"]):
        yield "the rate changes during a run of the scenario: these lines have the highest"
    if changes(delay):
        yield "the delay changes during a run of the scenario: a queue has no part in it"
    if not emulated:
        drawn = "" if isinstance(delay, str) or changes(delay) else " (drawn for each run; this is that of seed 1)"
        loss = f" and loss {100 * link.table['loss']:g} %" if link.table["loss"] else ""
        yield f"delay {link.delay_ps / 1e9:g} ms{drawn}{loss} belong to the path; --emulate adds lines of netem for a laboratory"
    if link.rate_bps is not None and ingress:
        yield "the device's own link must be faster than the rate here, or the queue is at the sender's side"
    if ingress:
        yield "one packet at a time, as in the scenario: `ethtool -K` of the device with `gro off lro off`"
    if laws.discipline(link.law).attached:
        yield f"tc must know `{link.law}` (`tc qdisc add {link.law} help`): iproute2 6.1 does not"


# ---------------------------------------------------------------- the wire of a laboratory


def _wire(link: Link, ends: tuple[str, str], device: str, ingress: bool, delay: Any) -> Part:
    """What is behind the queue: on the machine before the shaper of received packets, else on that at the far end."""
    netem = topology.pipe(link)
    if ingress:
        place, lines = device, egress(device)
    else:
        place = ifb(device)
        lines = redirect(device, place)
    line = f"tc qdisc add dev {place} root handle {topology.PIPE}: netem {netem}"
    notes = [f"{device} is the device of this machine, at the other end of the link"]
    if not isinstance(delay, str):
        notes.append("the delay is that of a run with seed 1, at its start")
    return Part(
        f"wire of link `{link.name}`, {ends[0]} to {ends[1]}: delay, loss and rate",
        (ends[0] if ingress else ends[1],),
        (*lines, line),
        {"link": link.name, "device": place},
        notes=tuple(notes),
    )
