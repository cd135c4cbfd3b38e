"""A scenario's TCPs as settings of real hosts: ``sysctl``, the route, and what only a program can set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ecnlab._core import Scenario
from ecnlab.laws.kernel.findings import Findings
from ecnlab.linux.hosts import ENDS, Tcp, sysctls, tcps_of
from ecnlab.linux.tc_lines import Part


def hosts(scenario: Scenario) -> list[Part]:
    """A part for each ``[tcp.NAME]`` that a flow uses, and one for flows whose ends do not fit together on Linux."""
    spec, found = scenario.resolved, Findings()
    tcps = tcps_of(spec, {departure["key"] for departure in scenario.departures}, found)
    nodes = {name: tuple(_nodes(name, spec)) for name in tcps}
    parts = [_host(tcp, nodes, found) for tcp in tcps.values()]
    others = [one for one in found.refused if not one[0].startswith("tcp.")]
    if others:
        parts.append(Part("flows", (), (), refused=tuple(others)))
    return parts


def _nodes(name: str, spec: Mapping[str, Any]) -> list[str]:
    """The nodes at which a flow has the TCP ``name``."""
    ends = zip(("from", "to"), ENDS, strict=True)
    flows = [flow for flow in spec["flow"].values() if flow.get("count") != 0]
    return sorted({flow[side] for side, key in ends for flow in flows if flow.get(key) == name})


def _host(tcp: Tcp, nodes: Mapping[str, tuple[str, ...]], found: Findings) -> Part:
    path = f"tcp.{tcp.name}"
    mine = [one for one in found.refused if _is_of(one[0], path)]
    return Part(
        f"hosts with the TCP `{tcp.name}`",
        nodes[tcp.name],
        tuple(_lines(tcp, lacking={key for key, *_ in mine})),
        {"tcp": tcp.name},
        tuple(mine),
        tuple(one for one in found.instead if _is_of(one["key"], path)),
        tuple(_notes(tcp, nodes)),
    )


def _is_of(key: str, path: str) -> bool:
    return key == path or key.startswith(f"{path}.")


def _lines(tcp: Tcp, lacking: set[str]) -> Iterator[str]:
    path = f"tcp.{tcp.name}"
    if f"{path}.congestion" not in lacking:
        yield f"modprobe tcp_{tcp.congestion} 2>/dev/null || true"
        yield f"sysctl -w net.ipv4.tcp_congestion_control={tcp.congestion}"
    for file, value in sysctls(tcp):
        key = file.replace("/", ".")
        if key == "net.ipv4.tcp_ecn" and lacking & {f"{path}.ecn", f"{path}.ecn_accepts"}:
            continue
        yield f'sysctl -w {key}="{value}"' if " " in value else f"sysctl -w {key}={value}"


def _notes(tcp: Tcp, nodes: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    shared = sorted(name for name, at in nodes.items() if name != tcp.name and set(at) & set(nodes[tcp.name]))
    if shared:
        others = ", ".join(f"`{name}`" for name in shared)
        yield f"the settings are of a whole host: {others} at the same nodes need hosts or network namespaces of their own"
    yield f"for the route to the peer: ip route replace PEER via GATEWAY {tcp.route}"
    sockets = [f"TCP_MAXSEG {tcp.mss}"] + ([f"TCP_WINDOW_CLAMP {tcp.window}"] if tcp.window else [])
    yield f"sockets of the scenario have {' and '.join(sockets)}"
