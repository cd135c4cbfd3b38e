"""Sentences about a capture: doubts about its numbers, and why it has no TCP connection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

LINK_TYPES: Final = {
    6: "token ring", 8: "SLIP", 10: "FDDI", 105: "IEEE 802.11", 107: "frame relay", 117: "pflog", 119: "Prism and IEEE 802.11",
    127: "radiotap and IEEE 802.11", 187: "Bluetooth HCI", 189: "USB of Linux", 192: "PPI", 195: "IEEE 802.15.4",
    201: "Bluetooth HCI", 220: "USB of Linux", 227: "CAN", 230: "IEEE 802.15.4", 239: "NFLOG", 247: "InfiniBand", 249: "USBPcap",
    252: "Wireshark's exported PDUs", 253: "netlink", 258: "pktap",
}  # fmt: skip
"""Names of link types that are not read (registry of tcpdump.org)."""

ETHER_TYPES: Final = {
    0x0806: "ARP", 0x8035: "RARP", 0x8809: "LACP", 0x8863: "PPPoE discovery", 0x888E: "EAPOL", 0x88CC: "LLDP",
    0x88E5: "MACsec", 0x88F7: "PTP",
}  # fmt: skip
"""Names of EtherTypes that are not IP."""

PROTOCOLS: Final = {
    2: "IGMP", 4: "IPv4 in too many tunnels", 33: "DCCP", 41: "IPv6 in too many tunnels", 47: "GRE of an unsupported version",
    50: "ESP (encrypted)", 51: "AH", 59: "no protocol", 89: "OSPF", 103: "PIM", 112: "VRRP", 115: "L2TP", 132: "SCTP",
}  # fmt: skip
"""Names of IP protocols that are not analysed."""

TUNNELS: Final = {4789: "vxlan", 8472: "vxlan:8472", 6081: "geneve"}
"""Values of ``--decapsulate`` by the UDP port of the tunnel."""

READ: Final = (
    "read are TCP over IPv4 and IPv6, in Ethernet, PPP, Linux cooked, BSD loopback and raw IP, with VLAN tags, MPLS, PPPoE, "
    "IP in IP and GRE; VXLAN and Geneve with --decapsulate"
)

MIRRORED: Final = 0.02
"""Share of copies at one interface from which a capture is suspected to be of a mirror port."""

Unread = Iterable[tuple[str, int, int]]
"""Packets that are not analysed: kind of their number, number, packets."""


def doubts(
    totals: Mapping[str, int | None], copies: tuple[int, int, list[tuple[int, int, int]]], untimed: int
) -> list[str]:
    """Return the warnings about a capture whose times or packets make numbers wrong."""
    return [*_times(totals, untimed), *_copies(*copies)]


def _times(totals: Mapping[str, int | None], untimed: int) -> list[str]:
    found = []
    if back := totals["back_in_time"]:
        step = (totals["step_back_ns"] or 0) / 1e9
        found.append(
            f"{_number(back, 'packet')} with an earlier time than a packet before, by up to {step:.9g} s: the clock was set back, or "
            "packets are out of order. Durations, rates, round trips and delays across such a step are wrong. If only the "
            "order is wrong, Wireshark's reordercap mends it"
        )
    if without := totals["untimed"]:
        they = "it has" if untimed == 1 else "they have"
        found.append(
            f"{_number(without, 'packet')} without a time (Simple Packet Blocks), in {_number(untimed, 'connection')}: {they} no "
            "round trips, durations, rates and delays, and the causes of retransmissions are uncertain"
        )
    return found


def _number(count: int, of: str) -> str:
    return f"{count:,} {of}" + ("" if count == 1 else "s")


def _copies(compared: int, same: int, between: list[tuple[int, int, int]]) -> list[str]:
    found = []
    if between:
        count = sum(packets for _, _, packets in between)
        pairs = ", ".join(f"{packets:,} at interface {a} and then {b}" for a, b, packets in between[:4])
        more = " and at others" if len(between) > 4 else ""
        found.append(
            f"{count:,} of {compared:,} TCP packets are copies of a packet captured at another interface ({pairs}{more}). They count "
            f"as retransmissions and duplicate ACKs. Read one interface: --filter 'interface {between[0][0]}'"
        )
    if same > 1 and same >= MIRRORED * compared:
        found.append(
            f"{same:,} of {compared:,} TCP packets are copies of a packet captured at the same interface just before, as from a mirror "
            "port that copies both directions. They count as retransmissions. Wireshark's editcap -d removes copies"
        )
    return found


def absence(totals: Mapping[str, int | None], unread: Unread, filter_: str | None) -> str:
    """Return why a capture has no TCP connection, and what to do next."""
    if totals["tcp"]:
        return f"no TCP packet matches the filter `{filter_}`: the capture has {totals['tcp']:,} TCP packets without it"
    if not totals["packets"]:
        return "the capture has no packets: check the interface and the filter of the program that made it"
    kinds = list(unread)
    contents = "; ".join(_contents(totals, kinds))
    ports = [number for kind, number, _ in kinds if kind == "UDP port"]
    next_ = f"open the tunnels: --decapsulate {','.join(TUNNELS[port] for port in sorted(ports))}" if ports else READ
    if totals["cut"]:
        next_ += "; truncated packets need a longer capture length, such as tcpdump -s 128"
    return f"no TCP packet among {totals['packets']:,} packets: {contents}; {next_}"


def _contents(totals: Mapping[str, int | None], unread: list[tuple[str, int, int]]) -> list[str]:
    named = {
        "unknown_link": _named(unread, "link type", LINK_TYPES),
        "other": _named(unread, "EtherType", ETHER_TYPES),
        "other_ip": _named(unread, "protocol", PROTOCOLS),
        "udp": [f"{packets:,} to port {number}, as {TUNNELS[number].split(':')[0]}" for kind, number, packets in unread
                if kind == "UDP port"],
    }  # fmt: skip
    names = {
        "udp": "UDP", "icmp": "ICMP", "other_ip": "other IP", "other": "not IP", "tunnelled": "in tunnels",
        "fragments": "fragments", "cut": "truncated within their headers", "malformed": "malformed",
        "unknown_link": "of an unknown link type",
    }  # fmt: skip
    return [
        f"{totals[kind]:,} {name}" + (f" ({', '.join(named[kind])})" if named.get(kind) else "")
        for kind, name in names.items()
        if totals[kind]
    ]


def _named(unread: Unread, wanted: str, names: Mapping[int, str]) -> list[str]:
    shown = []
    for kind, number, packets in unread:
        if kind == wanted and (number or wanted != "EtherType"):
            text = f"0x{number:04x}" if wanted == "EtherType" else str(number)
            shown.append(f"{packets:,} of {wanted} {text}" + (f", {names[number]}" if number in names else ""))
    return shown
