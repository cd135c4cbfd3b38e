"""Links and tunnels of captures: the TCP of the innermost IP packet is analysed."""

from __future__ import annotations

import struct

import pytest
from frames_by_hand import CLIENT, CLIENT6, analysed, ethernet, ipv4, ipv6, pcap, transfer

import ecnlab

LABELS = struct.pack("!II", 16 << 12 | 64, 17 << 12 | 1 << 8 | 64)
SNAP = bytes.fromhex("aaaa03000000")


def two(number: int) -> bytes:
    return struct.pack("!H", number)


def pppoe(frame: bytes) -> bytes:
    return struct.pack("!BBHH", 0x11, 0, 7, len(frame)) + frame


LINKS = {
    "ns-3's point-to-point": (9, lambda p, kind, ppp: two(ppp) + p),
    "PPP with HDLC's fields": (9, lambda p, kind, ppp: b"\xff\x03" + two(ppp) + p),
    "PPP with a short protocol": (9, lambda p, kind, ppp: bytes([ppp]) + p),
    "PPP_HDLC": (50, lambda p, kind, ppp: b"\xff\x03" + bytes([ppp]) + p),
    "PPP_HDLC of Cisco": (50, lambda p, kind, ppp: b"\x0f\x00" + two(kind) + p),
    "C_HDLC": (104, lambda p, kind, ppp: b"\x8f\x00" + two(kind) + p),
    "PPP_WITH_DIR": (204, lambda p, kind, ppp: b"\x01\xff\x03" + two(ppp) + p),
    "PPP_ETHER": (51, lambda p, kind, ppp: pppoe(two(ppp) + p)),
    "PPPoE": (1, lambda p, kind, ppp: ethernet(pppoe(two(ppp) + p), 0x8864)),
    "PPPoE in a VLAN": (1, lambda p, kind, ppp: ethernet(two(3) + two(0x8864) + pppoe(two(ppp) + p), 0x8100)),
    "MPLS": (1, lambda p, kind, ppp: ethernet(LABELS + p, 0x8847)),
    "MPLS in PPP": (9, lambda p, kind, ppp: two(0x0281) + LABELS + p),
    "MPLS from upstream": (1, lambda p, kind, ppp: ethernet(LABELS + p, 0x8848)),
    "QinQ of 0x9100": (1, lambda p, kind, ppp: ethernet(two(3) + two(0x8100) + two(4) + two(kind) + p, 0x9100)),
    "QinQ in SLL": (113, lambda p, kind, ppp: bytes(14) + two(0x9100) + two(3) + two(0x88A8) + two(4) + two(kind) + p),
    "QinQ in SLL2": (276, lambda p, kind, ppp: two(0x9100) + bytes(18) + two(3) + two(0x9200) + two(4) + two(kind) + p),
    "SNAP": (1, lambda p, kind, ppp: ethernet(SNAP + two(kind) + p, len(p) + 8)),
    "SNAP in SLL": (113, lambda p, kind, ppp: bytes(14) + two(4) + SNAP + two(kind) + p),
}


@pytest.mark.parametrize("six", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("link", LINKS)
def test_links_lead_to_the_ip_packet(cli, tmp_path, link, six):
    number, frame = LINKS[link]
    kind, ppp = (0x86DD, 0x57) if six else (0x0800, 0x21)
    frames = [(at, frame(packet, kind, ppp)) for at, packet in transfer(six=six, zero=True)]
    found = analysed(cli, pcap(tmp_path / "x.pcap", frames, link=number, snap=130))
    assert (found["totals"]["tcp"], found["totals"]["cut"], found["warnings"]) == (9, 0, [])
    data = found["directions"][0]
    assert (data["bytes"], data["ect0"], found["connections"][0]["ecn"]) == (2100, 3, "accepted")


def gre(packet: bytes, kind: int, flags: int = 0) -> bytes:
    return struct.pack("!HH", flags, kind) + bytes(4 * (flags >> 12).bit_count()) + packet


def udp(payload: bytes, port: int) -> bytes:
    return struct.pack("!HHHH", 55_000, port, 8 + len(payload), 0) + payload


VNI = struct.pack("!II", 0x08000000, 99 << 8)
TUNNELS = {
    "IP in IP": (None, lambda p: ipv4(True, p, ecn=3, protocol=4)),
    "4in6": (None, lambda p: ipv6(True, p, ecn=3, following=4)),
    "two levels": (None, lambda p: ipv6(True, ipv4(True, p, protocol=4), following=4)),
    "GRE": (None, lambda p: ipv4(True, gre(p, 0x0800), protocol=47)),
    "GRE with all fields": (None, lambda p: ipv4(True, gre(p, 0x0800, 0xB000), protocol=47)),
    "GRE over IPv6, bridged": (None, lambda p: ipv6(True, gre(ethernet(p), 0x6558), following=47)),
    "ERSPAN type I": (None, lambda p: ipv4(True, gre(ethernet(p), 0x88BE), protocol=47)),
    "ERSPAN type II": (None, lambda p: ipv4(True, gre(bytes(8) + ethernet(p), 0x88BE, 0x1000), protocol=47)),
    "ERSPAN type III": (None, lambda p: ipv4(True, gre(bytes(12) + ethernet(p), 0x22EB, 0x1000), protocol=47)),
    "ERSPAN type III with a platform header": (
        None,
        lambda p: ipv4(True, gre(bytes(11) + b"\x01" + bytes(8) + ethernet(p), 0x22EB, 0x1000), protocol=47),
    ),
    "VXLAN": ("vxlan,geneve", lambda p: ipv4(True, udp(VNI + ethernet(p), 4789), ecn=3, protocol=17)),
    "VXLAN at Linux's port": ("vxlan:8472", lambda p: ipv6(True, udp(VNI + ethernet(p), 8472), following=17)),
    "Geneve with an option": (
        "geneve",
        lambda p: ipv4(True, udp(struct.pack("!BBHIQ", 2, 0, 0x6558, 0, 0) + ethernet(p), 6081), protocol=17),
    ),
    "Geneve without Ethernet": (
        "geneve",
        lambda p: ipv4(True, udp(struct.pack("!BBHI", 0, 0, 0x0800, 0) + p, 6081), protocol=17),
    ),
    "IP in IP in VXLAN": (
        "vxlan",
        lambda p: ipv4(True, udp(VNI + ethernet(ipv4(True, p, protocol=4)), 4789), protocol=17),
    ),
}


@pytest.mark.parametrize("tunnel", TUNNELS)
def test_tunnels_are_opened_and_the_inner_codepoint_counts(cli, tmp_path, tunnel):
    option, outer = TUNNELS[tunnel]
    path = pcap(tmp_path / "x.pcap", [(at, ethernet(outer(p), 0x86DD if outer(p)[0] >> 4 == 6 else 0x0800)) for at, p in transfer()])  # fmt: skip
    found = analysed(cli, path, *(["--decapsulate", option] if option else []))
    assert (found["totals"]["tcp"], found["totals"]["tunnelled"]) == (9, 9)
    data = found["directions"][0]
    assert (data["from"], data["bytes"], data["ect0"], data["ce"]) == ("198.51.100.7:50123", 2100, 3, 0)
    assert ecnlab.trace(path, decapsulate=option).series(0).height > 0


@pytest.mark.parametrize("kind", [41, 47], ids=["6in4", "GRE"])
def test_ipv6_inside_and_lengths_of_zero_inside(cli, tmp_path, kind):
    def outer(packet: bytes) -> bytes:
        return ethernet(ipv4(True, gre(packet, 0x86DD) if kind == 47 else packet, protocol=kind))

    frames = [(at, outer(packet)) for at, packet in transfer(six=True, zero=True)]
    data = analysed(cli, pcap(tmp_path / "x.pcap", frames, snap=140))["directions"][0]
    assert (data["bytes"], data["missing_bytes"], data["from"]) == (2100, 0, "[2001:db8::7]:50123")


def test_fragments_of_a_tunnel_are_put_together(cli, tmp_path):
    frames = []
    for at, packet in transfer():
        outer = gre(packet, 0x0800)
        for start in range(0, len(outer), 400):
            part = bytearray(ipv4(True, outer[start : start + 400], protocol=47, ident=at + 1))
            more = 0x2000 if start + 400 < len(outer) else 0
            part[6:8] = two(more | start // 8)
            frames.append((at, ethernet(bytes(part))))
    data = analysed(cli, pcap(tmp_path / "x.pcap", frames))["directions"][0]
    assert (data["bytes"], data["missing_bytes"]) == (2100, 0)


def test_no_more_than_eight_tunnels_are_opened(cli, tmp_path):
    def nested(packet: bytes, depth: int) -> bytes:
        return ipv4(True, nested(packet, depth - 1), protocol=4) if depth else packet

    for depth, code in ((8, 0), (9, 1), (200, 1)):
        path = pcap(tmp_path / "x.pcap", [(at, ethernet(nested(packet, depth))) for at, packet in transfer()])
        assert analysed(cli, path, code=code)["totals"]["tcp"] == (9 if code == 0 else 0)


HOP6 = bytes.fromhex("20010db8" + "00" * 11 + "aa")
ROUTES6 = {
    "type 0": lambda end: struct.pack("!BBBBI", 6, 4, 0, 1, 0) + HOP6 + end,
    "type 2": lambda end: struct.pack("!BBBBI", 6, 2, 2, 1, 0) + end,
    "segments (type 4)": lambda end: struct.pack("!BBBBBBH", 6, 4, 4, 1, 1, 0, 0) + end + HOP6,
}


@pytest.mark.parametrize("route", ROUTES6)
def test_the_last_address_of_a_routing_header_is_the_destination(cli, tmp_path, route):
    """RFC 8200 §8.1: one connection, although only the client's packets have the header."""
    frames = []
    for at, p in transfer(six=True):
        if p[8:24] == CLIENT6:
            header = ROUTES6[route](p[24:40])
            p = p[:4] + two(len(p) - 40 + len(header)) + b"\x2b" + p[7:24] + HOP6 + header + p[40:]
        frames.append((at, ethernet(p, 0x86DD)))
    found = analysed(cli, pcap(tmp_path / "x.pcap", frames))
    assert [(row["packets"], row["ecn"]) for row in found["connections"]] == [(9, "accepted")]
    data = found["directions"][0]
    assert (data["to"], data["bytes"], data["missing_bytes"]) == ("[2001:db8::9]:443", 2100, 0)


@pytest.mark.parametrize("kind", [131, 137], ids=["loose", "strict"])
def test_the_last_address_of_a_source_route_is_the_destination(cli, tmp_path, kind):
    """RFC 791 §3.1, with a no-operation before the option; a route that is used up changes nothing."""
    frames = []
    for at, p in transfer():
        if p[12:16] == CLIENT:
            done = at >= 50
            route = (
                bytes([1, kind, 11, 12 if done else 8])
                + bytes([192, 0, 2, 1])
                + (bytes([192, 0, 2, 2]) if done else p[16:20])
            )
            to = p[16:20] if done else bytes([192, 0, 2, 2])
            p = b"\x48" + p[1:2] + two(len(p) + 12) + p[4:16] + to + route + p[20:]
        frames.append((at, ethernet(p)))
    found = analysed(cli, pcap(tmp_path / "x.pcap", frames))
    assert [(row["packets"], row["ecn"]) for row in found["connections"]] == [(9, "accepted")]
    assert found["directions"][0]["bytes"] == 2100


def test_authentication_headers_are_read_over(cli, tmp_path):
    """RFC 4302: in both versions of IP; integrity values of 12 bytes."""
    for six in (False, True):
        frames = []
        for at, p in transfer(six=six):
            header = struct.pack("!BBHII", 6, 4, 0, 7, at) + bytes(12)
            if six:
                p = p[:4] + two(len(p) - 40 + 24) + b"\x33" + p[7:40] + header + p[40:]
            else:
                p = p[:2] + two(len(p) + 24) + p[4:9] + b"\x33" + p[10:20] + header + p[20:]
            frames.append((at, ethernet(p, 0x86DD if six else 0x0800)))
        data = analysed(cli, pcap(tmp_path / "x.pcap", frames))["directions"][0]
        assert (data["bytes"], data["ect0"], data["missing_bytes"]) == (2100, 3, 0)


@pytest.mark.parametrize("value", ["gre", "vxlan:0", "vxlan:70000", "vxlan,", "", "geneve:x"])
def test_wrong_tunnels_are_told(cli, tmp_path, value):
    path = pcap(tmp_path / "x.pcap", [(at, ethernet(packet)) for at, packet in transfer()])
    ended = cli("trace", path, "--decapsulate", value)
    assert ended.returncode == 2
    assert "decapsulate: `" in ended.stderr and "write `vxlan`" in ended.stderr


ARP = ethernet(bytes(28), 0x0806)
NOTHING = {
    "udp": (1, [ethernet(ipv4(True, udp(b"x", 53), protocol=17)), ARP], ["1 UDP", "1 of EtherType 0x0806, ARP", "read are TCP"]),
    "vxlan": (1, [ethernet(ipv4(True, udp(VNI + ARP, 4789), protocol=17))], ["to port 4789", "--decapsulate vxlan"]),
    "flannel": (1, [ethernet(ipv4(True, udp(VNI + ARP, 8472), protocol=17))], ["--decapsulate vxlan:8472"]),
    "geneve": (1, [ethernet(ipv4(True, udp(VNI + ARP, 6081), protocol=17))], ["--decapsulate geneve"]),
    "wifi": (127, [bytes(40)] * 3, ["3 of an unknown link type", "3 of link type 127, radiotap and IEEE 802.11"]),
    "unnamed link": (4000, [bytes(40)], ["1 of link type 4000", "Ethernet, PPP"]),
    "esp": (1, [ethernet(ipv4(True, bytes(40), protocol=50))], ["1 other IP (1 of protocol 50, ESP (encrypted))"]),
    "icmp": (101, [ipv4(True, bytes(40), protocol=1)], ["1 ICMP"]),
    "empty": (1, [], ["the capture has no packets"]),
}  # fmt: skip


@pytest.mark.parametrize("kind", NOTHING)
def test_a_capture_without_tcp_tells_what_it_has_and_what_to_do(cli, tmp_path, kind):
    link, frames, expected = NOTHING[kind]
    path = pcap(tmp_path / "x.pcap", list(enumerate(frames)), link=link)
    ended, code = cli("trace", path), 1 if frames else 0
    assert ended.returncode == code
    assert [text for text in expected if text not in ended.stderr] == []
    assert "connections" not in ended.stdout
    found = analysed(cli, path, code=code)
    assert found["connections"] == [] and expected[0] in found["warnings"][0]
    assert ecnlab.trace(path).absence == found["warnings"][0]


def test_packets_truncated_in_their_headers_are_told(cli, tmp_path):
    path = pcap(tmp_path / "x.pcap", [(at, ethernet(packet)) for at, packet in transfer()], snap=40)
    ended = cli("trace", path, "--html", "x.html")
    assert (ended.returncode, "9 truncated within their headers; " in ended.stderr) == (1, True)
    assert "tcpdump -s 128" in ended.stderr
    assert "9 truncated within their headers" in (tmp_path / "x.html").read_text()


def test_a_filter_that_matches_nothing_is_told(cli, tmp_path):
    path = pcap(tmp_path / "x.pcap", [(at, ethernet(packet)) for at, packet in transfer()])
    ended = cli("trace", path, "--filter", "port 9")
    assert ended.returncode == 1
    assert "no TCP packet matches the filter `port 9`: the capture has 9 TCP packets without it" in ended.stderr
