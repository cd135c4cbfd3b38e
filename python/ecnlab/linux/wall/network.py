"""Links implemented by a router in user space (crates/live): each host has one device; everything else is ecnlab's.

The queue disciplines are therefore the simulator's, with all their settings, and faults affect the packets that a
scenario names. Only the hosts are the kernel's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ecnlab import laws
from ecnlab.laws.kernel.findings import Findings
from ecnlab.linux.hosts import Host
from ecnlab.linux.network import Flow, Layout, as_files, batch_commands, settings
from ecnlab.linux.topology import own_address, refuse_tunnels

DEVICE: Final = "u0"
"""A host's only way out."""

ROOM: Final = 10_000
"""Packets that a device buffers while the router is late; any drop there fails the run."""


class RouterLinks:
    """Links of our own, between the TUN devices of hosts."""

    def files(self, layout: Layout, found: Findings) -> dict[str, str]:
        """See `ecnlab.linux.network.Network`."""
        refuse_tunnels(layout.links, found)
        _refuse_quenches(layout.spec, found)
        _refuse_web(layout.flows, found)
        _refuse_ipv6(layout.flows, found)
        return as_files({f"{home.name}.ip": _lines(home) for home in layout.homes})

    def statements(self, layout: Layout, files: Iterable[str]) -> Iterator[str]:
        """See `ecnlab.linux.network.Network`. The router makes the devices while the guest waits."""
        yield from (f"host {home.name}" for home in layout.homes)
        yield "wait"
        yield from settings(layout.homes)
        yield from batch_commands(files)


def _lines(home: Host) -> Iterator[str]:
    """Lines for ``ip -batch`` in the host's namespace."""
    yield "link set lo up"
    yield own_address(home.address(4))
    # Segments are not bundled, as in virtual time: a queue shall meet packets.
    yield f"link set {DEVICE} gso_max_segs 1 txqueuelen {ROOM} mtu 1500 up"
    yield f"route add default dev {DEVICE} src {home.address(4)} {home.tcp.route}"


def _refuse_quenches(spec: Mapping[str, Any], found: Findings) -> None:
    for name, queue in spec["queue"].items():
        key = laws.facts("queue", queue["discipline"])["quenches"]
        if queue.get(key):
            found.refuse_value(
                f"queue.{name}.{key}", queue[key], "its hosts do not receive source quenches: leave it out"
            )


def _refuse_web(flows: Iterable[Flow], found: Findings) -> None:
    """Reject web traffic: the router identifies flows by one port each, and web traffic listens at both ends."""
    for flow in flows:
        if "web" in flow.drawn:
            key = f"flow.{flow.drawn['table']}.traffic"
            found.refuse(key, f"`{key}`: `web` traffic is not supported in real time", "leave `--clock wall` out")


def _refuse_ipv6(flows: Iterable[Flow], found: Findings) -> None:
    for flow in flows:
        if flow.ip != 4:
            key = f"flow.{flow.drawn['table']}.ip"
            message = f"`{key}`: the router of runs in real time has only IPv4"
            found.refuse(key, message, "leave it out, or leave `--clock wall` out")
