"""Lengths of packets in captures: of snapped packets of hosts with segmentation offload, and of jumbograms."""

from __future__ import annotations

import struct

import pytest
from frames_by_hand import analysed, ethernet, ipv6, obsolete, pcap, section, simple, tcp, transfer

LINKS = {
    "ethernet": (1, lambda packet, kind: ethernet(packet, kind)),
    "vlan": (1, lambda packet, kind: ethernet(struct.pack("!HH", 5, kind) + packet, 0x8100)),
    "cooked": (113, lambda packet, kind: bytes(14) + struct.pack("!H", kind) + packet),
    "cooked-v2": (276, lambda packet, kind: struct.pack("!H", kind) + bytes(18) + packet),
    "raw": (101, lambda packet, kind: packet),
}


@pytest.mark.parametrize("six", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("link", LINKS)
def test_a_snapped_packet_without_a_length_has_that_of_the_wire(cli, tmp_path, link, six):
    number, frame = LINKS[link]
    found = []
    for zero in (False, True):
        frames = [(at, frame(packet, 0x86DD if six else 0x0800)) for at, packet in transfer(zero=zero, six=six)]
        found.append(analysed(cli, pcap(tmp_path / f"{zero}.pcap", frames, link=number, snap=100)))
    assert found[0]["directions"] == found[1]["directions"]
    data = found[1]["directions"][0]
    assert (data["bytes"], data["missing_bytes"], data["outstanding_max"], data["rtt_samples"]) == (2100, 0, 700, 4)


def test_simple_and_obsolete_blocks_have_the_length_of_the_wire_too(cli, tmp_path):
    frames = [(at, ethernet(packet)) for at, packet in transfer(zero=True)]
    # The limit of the first interface, 97, is no multiple of four: the rest of a block is padding.
    head = section((1, 97), (101, 0))
    path = tmp_path / "x.pcapng"
    path.write_bytes(head + b"".join(simple(frame, 97) for _, frame in frames))
    assert analysed(cli, path)["directions"][0]["bytes"] == 2100
    path.write_bytes(head + b"".join(obsolete(at, frame, 97) for at, frame in frames))
    data = analysed(cli, path)["directions"][0]
    assert (data["bytes"], data["rtt_samples"]) == (2100, 4)


@pytest.mark.parametrize("option", [True, False], ids=["with the option", "without"])
def test_jumbograms_have_the_length_of_their_option_or_of_the_wire(cli, tmp_path, option):
    # Linux with BIG TCP: payload length 0, and up to 6.x a hop-by-hop header with the jumbo payload option.
    packets = transfer(six=True)
    segment = tcp(True, 101, 901, "A", 150_000)
    jumbo = struct.pack("!BBBBI", 6, 0, 0xC2, 4, len(segment) + 8)
    packet = ipv6(True, (jumbo if option else b"") + segment, ecn=2, following=0 if option else 6, length=0)
    packets[3:] = [(20, packet), (40, ipv6(False, tcp(False, 901, 150_101, "A")))]
    path = pcap(tmp_path / "x.pcap", [(at, ethernet(made, 0x86DD)) for at, made in packets], snap=128)
    data = analysed(cli, path)["directions"][0]
    assert (data["bytes"], data["missing_bytes"], data["segment_max"]) == (150_000, 0, 150_000)


def test_padding_of_short_frames_is_no_data(cli, tmp_path):
    frames = [(at, ethernet(packet).ljust(60, b"\x55")) for at, packet in transfer(length=2)]
    assert analysed(cli, pcap(tmp_path / "x.pcap", frames))["directions"][0]["bytes"] == 6
