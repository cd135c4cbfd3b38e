"""The scenario's TCPs as kernel settings: per host (sysctl), per route, per socket.

Explicit departures from the profile are applied or rejected. Values of the profile are applied where the kernel
supports them; otherwise the kernel's own value is used and the manifest reports it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from ecnlab import _core, laws
from ecnlab.base.quantities import number
from ecnlab.laws.kernel.findings import Findings
from ecnlab.laws.kinds import Feedback, Window
from ecnlab.linux import topology

KERNEL: Final = "linux-7"
"""The profile that describes the kernel's TCP."""

ENDS: Final = ("tcp_from", "tcp_to")
"""The keys of a flow's TCPs, by side."""

PROFILE: Final = "profile"
"""The parameter of a window law that names an implementation; the kernel has its own."""

OFF: Final = {"off": Feedback(tcp_ecn=0, kernel="off")}
"""A TCP without ECN."""

FIRST_BUFFER: Final = 131_072
"""Bytes of the receive buffer at first (tcp_rmem[1])."""

SEND_BUFFERS: Final = "4096 16384 67108864"
"""tcp_wmem: the kernel's, but at most 64 MiB in place of 4, which hold 1839 segments of 1448 bytes with their overhead."""

MIN_MAX_RTO_MS: Final = 1000
MAX_MAX_RTO_MS: Final = 120_000
"""The range of net.ipv4.tcp_rto_max_ms."""

FLAGS: Final = {
    "sack": "tcp_sack",
    "dsack": "tcp_dsack",
    "timestamps": "tcp_timestamps",
    "window_scaling": "tcp_window_scaling",
    "ecn_syn_fallback": "tcp_ecn_fallback",
    "idle_restart": "tcp_slow_start_after_idle",
}
"""Settings that are on or off for a whole host."""

COUNTS: Final = {
    "max_timeouts": "tcp_retries2",
    "max_syn_timeouts": "tcp_syn_retries",
    "linear_syn_timeouts": "tcp_syn_linear_timeouts",
}

OPTIONS: Final = {"scheme": 2, "off": 0, "minimum": 1, "full": 2, "persist": 3}
"""net.ipv4.tcp_ecn_option by ``ecn_option``."""

OWN_OPTIONS: Final = {"tcp_ecn_option": 2, "tcp_ecn_option_beacon": 3}
"""The kernel's values, of which that of the beacon is also the greatest."""

SET_HERE: Final = frozenset(
    {*FLAGS, *COUNTS, "ecn", "ecn_accepts", "ecn_option", "ecn_option_beacon"}
    | {"congestion", "mss", "receive_buffer", "initial_window", "min_rto", "max_rto", "profile"}
)


@dataclass(frozen=True)
class Tcp:
    """A ``[tcp.NAME]`` in the kernel's terms."""

    name: str
    sysctl: Mapping[str, str]
    route: str
    congestion: str
    window: int
    mss: int


def tcps_of(spec: Mapping[str, Any], departures: set[str], found: Findings) -> dict[str, Tcp]:
    """Every ``[tcp.NAME]`` that a flow uses; datagrams use none."""
    flows = [flow for flow in spec["flow"].values() if flow.get("count") != 0]
    used = {flow[end] for flow in flows for end in ENDS if end in flow}
    for name, flow in spec["flow"].items():
        if flow.get("count") != 0:
            _check_ends(name, [flow[end] for end in ENDS if end in flow], spec, found)
    return {name: _tcp(name, spec["tcp"][name], departures, found) for name in sorted(used)}


def _tcp(name: str, table: Mapping[str, Any], departures: set[str], found: Findings) -> Tcp:
    path = f"tcp.{name}"
    law = table["congestion"]
    congestion, parameters = (law, {}) if isinstance(law, str) else (law["kind"], law)
    windows = {name: window for name, window in laws.windows().items() if window.kernel}
    if congestion not in windows:
        message = f"`{path}.congestion`: the kernel has no `{congestion}`"
        found.refuse(f"{path}.congestion", message, f"it has {_or(windows)}")
    window = windows.get(congestion, Window())
    _check_parameters(f"{path}.congestion", congestion, parameters, window, found)
    _substitute_differences(path, table, window, departures, found)
    sysctl = {"tcp_ecn": str(_tcp_ecn(path, table, window, found))}
    sysctl |= _options(path, table, found)
    sysctl |= {there: str(int(table[key])) for key, there in FLAGS.items()}
    sysctl |= {there: str(table[key]) for key, there in COUNTS.items()}
    sysctl["tcp_wmem"] = SEND_BUFFERS
    sysctl["tcp_rto_max_ms"] = str(_ms(path, "max_rto", table, found, MIN_MAX_RTO_MS, MAX_MAX_RTO_MS))
    route = f"initcwnd {table['initial_window']} rto_min {_ms(path, 'min_rto', table, found)}ms"
    if table["ack_every"] == 1:
        route += " quickack 1"
    # With a window that is not the kernel's, the socket has at least its limit.
    buffer = number(table["receive_buffer"])
    if table["receive_window"] == KERNEL:
        sysctl["tcp_rmem"] = f"4096 {min(FIRST_BUFFER, buffer)} {buffer}"
        buffer = 0
    return Tcp(name, sysctl, route, window.kernel, buffer, number(table["mss"]))


def _check_parameters(
    path: str, congestion: str, parameters: Mapping[str, Any], window: Window, found: Findings
) -> None:
    """Parameters of the window law other than the kernel's: a profile is substituted, anything else refused."""
    for key, value in window.kernel_has.items():
        requested = parameters.get(key, window.profile if key == PROFILE else value)
        if requested == value:
            continue
        if key == PROFILE:
            found.substitute(path, key, requested, value)
            continue
        has, remedy = (value, f", or set it to {value}") if value is not None else ("none", "")
        message = f"`{path}.{key}`: the kernel's {congestion} has {has}, and no setting for it"
        found.refuse(f"{path}.{key}", message, f"leave it out{remedy}")


def _tcp_ecn(path: str, table: Mapping[str, Any], window: Window, found: Findings) -> int:
    """net.ipv4.tcp_ecn for the feedback of a TCP with the law ``window``."""
    ecn, accepts = table["ecn"], table["ecn_accepts"]
    known = OFF | {law: feedback for law, feedback in laws.feedbacks().items() if feedback.tcp_ecn is not None}
    own = window.kernel_ecn
    if own and ecn in OFF:
        message = f"`{path}.ecn`: the kernel's {window.kernel} negotiates ECN whatever `ecn` is"
        found.refuse(f"{path}.ecn", message, f'write ecn = "{own}", or another `congestion`')
    elif own and ecn in (own, *known):
        found.substitute(path, "ecn", ecn, own)
        return 1
    elif ecn not in known:
        found.refuse(f"{path}.ecn", f"`{path}.ecn`: the kernel's TCP has no `{ecn}`", _feedbacks(known, ecn))
        return 0
    feedback = known[ecn]
    found.substitute(path, "ecn", ecn, feedback.kernel)
    if accepts not in known:
        found.refuse(
            f"{path}.ecn_accepts", f"`{path}.ecn_accepts`: the kernel's TCP has no `{accepts}`", f"it has {_or(known)}"
        )
        return 0
    return known[accepts].accepted_by.get(feedback.kernel, feedback.tcp_ecn or 0)


def _options(path: str, table: Mapping[str, Any], found: Findings) -> dict[str, str]:
    """The settings of the AccECN option that are not the kernel's own; older kernels have none of them."""
    beacon, most = table["ecn_option_beacon"], OWN_OPTIONS["tcp_ecn_option_beacon"]
    if beacon > most:
        found.refuse_value(f"{path}.ecn_option_beacon", beacon, f"it has at most {most}")
    requested = {"tcp_ecn_option": OPTIONS[table["ecn_option"]], "tcp_ecn_option_beacon": beacon}
    return {key: str(value) for key, value in requested.items() if value != OWN_OPTIONS[key]}


def _feedbacks(known: Mapping[str, Feedback], requested: str) -> str:
    having = [law for law, window in laws.windows().items() if window.kernel_ecn == requested]
    more = f', and `{requested}` with congestion = "{having[0]}"' if having else ""
    return f"it has {_or(known)}{more}"


def _ms(
    path: str, key: str, table: Mapping[str, Any], found: Findings, least: int = 1, most: int = MAX_MAX_RTO_MS
) -> int:
    """The time ``key`` in whole milliseconds, which the kernel counts, within its bounds."""
    requested = number(table[key])
    ms = min(max(requested // 10**6, least), most)
    if ms * 10**6 != requested:
        found.substitute(path, key, table[key], f"{ms} ms")
    return ms


def _check_ends(flow: str, ends: Sequence[str], spec: Mapping[str, Any], found: Findings) -> None:
    """Reject a flow whose ``ends``, names of TCPs, differ in the ECN feedback required by the kernel's window law.

    The law sends its SYN with ECT, to which a kernel without the law replies without ECN.
    """
    own = {name: _window(spec["tcp"][name]).kernel_ecn for name in ends}
    if len(set(own.values())) > 1:
        (name, *_) = (name for name, feedback in own.items() if feedback)
        key = f"flow.{flow}.{ENDS[ends.index(name)]}"
        message = f"`{key}`: the kernel's ECN feedback `{own[name]}` needs the window law of `tcp.{name}` at both ends"
        found.refuse(key, message, f'write tcp = "{name}", or another `congestion`')


def _window(table: Mapping[str, Any]) -> Window:
    law = table["congestion"]
    return laws.windows().get(law if isinstance(law, str) else law["kind"], Window())


def _substitute_differences(
    path: str, table: Mapping[str, Any], window: Window, departures: set[str], found: Findings
) -> None:
    """Every setting that the kernel fixes, where the scenario has another value."""
    kernel = _kernel_settings()
    of_law = {
        "slow_start": window.kernel_slow_start,
        "ecn_control": window.kernel_ecn_control,
        "gso_max_segs": window.kernel_gso_max_segs or table["gso_max_segs"],
    }
    for key, value in table.items():
        if key in SET_HERE or (key == "ack_every" and value == 1):
            continue
        fixed = of_law.get(key, kernel[key]["value"])
        own, same = fixed, [fixed]
        if key == "recovery" and not table["sack"]:
            own, *like = _recoveries_without_sack()
            same = [own, *like]
        if value in same:
            continue
        if f"{path}.{key}" in departures:
            found.refuse_value(f"{path}.{key}", value, _remedy(key, fixed))
        found.substitute(path, key, value, own)


@cache
def _kernel_settings() -> Mapping[str, Any]:
    """The settings of the profile `KERNEL` by key, each a table with its ``value``."""
    settings: dict[str, Any] = _core.profiles()[KERNEL]["settings"]
    return settings


def _recoveries_without_sack() -> list[str]:
    """The kernel's behaviour without SACK, and the schemes that it replaces."""
    known = {law: recovery.kernel_without_sack for law, recovery in laws.recoveries().items()}
    return [law for kind in ("same", "like") for law, own in known.items() if own == kind]


def _remedy(key: str, own: object) -> str:
    if key == "recovery":
        return f"it has `{own}`, and `{_recoveries_without_sack()[0]}` with `sack = false`"
    return f"its TCP has {json.dumps(own)}, and no setting for it"


@dataclass(frozen=True)
class Host:
    """A namespace at the end of flows: behind ``node``, from number 1, with one TCP."""

    node: int
    number: int
    tcp: Tcp

    @property
    def name(self) -> str:
        """The namespace."""
        return f"h{self.node}x{self.number}"

    def address(self, ip: int) -> str:
        """Its address of the IP version ``ip``."""
        return topology.address(self.node, self.number, ip)

    def _mac(self, side: int) -> str:
        return f"02:0{side}:{self.node >> 8:02x}:{self.node & 255:02x}:00:{self.number:02x}"

    def cable(self) -> str:
        """A line for ``ip -batch`` anywhere: the veth pair that joins it to its node, without rate, delay or queue."""
        node = topology.host(self.node)
        ends = f"address {self._mac(1)} type veth peer name u0 address {self._mac(2)} netns {self.name}"
        return f"link add d{self.number} netns {node} {ends}"

    def lines(self, versions: Sequence[int]) -> Iterator[str]:
        """Lines for ``ip -batch`` in its namespace, which has an address of each of these IP ``versions``."""
        yield "link set lo up"
        yield from (topology.own_address(self.address(ip)) for ip in versions)
        yield "link set u0 gso_max_segs 1 multicast off up"
        for ip in versions:
            node = topology.address(self.node, ip=ip)
            yield f"neighbour add {node} lladdr {self._mac(1)} dev u0 nud permanent"
            yield f"route add default via {node} dev u0 onlink src {self.address(ip)} {self.tcp.route}"

    def lines_at_node(self, versions: Sequence[int]) -> Iterator[str]:
        """Lines for ``ip -batch`` in its node's namespace."""
        device = f"d{self.number}"
        yield f"link set {device} multicast off up"
        for ip in versions:
            own = self.address(ip)
            yield f"neighbour add {own} lladdr {self._mac(2)} dev {device} nud permanent"
            yield f"route add {own} via {own} dev {device} onlink"


def sysctls(tcp: Tcp) -> Iterator[tuple[str, str]]:
    """(file below /proc/sys, value) of a host with this TCP."""
    for key, value in tcp.sysctl.items():
        yield f"net/ipv4/{key}", value
    # A connection must not reuse metrics of an earlier one, and the minimum RTT covers its whole life.
    yield "net/ipv4/tcp_no_metrics_save", "1"
    yield "net/ipv4/tcp_min_rtt_wlen", "86400"
    # A socket draws another hash after a timeout, and queue disciplines of the same kernel take the packet's hash for that of its flow:
    # CAKE and FQ-CoDel would have a new flow. A router does not see the sender's hash.
    yield "net/core/txrehash", "0"


def _or(names: Any) -> str:
    return ", ".join(names)
