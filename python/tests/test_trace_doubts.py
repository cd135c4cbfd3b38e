"""Captures whose packets or times make numbers wrong: copies, steps of the clock, packets without a time; and filters."""

from __future__ import annotations

import struct

import pytest
from frames_by_hand import analysed, enhanced, ethernet, ipv4, pcap, section, simple, tcp, transfer

import ecnlab


def cooked(packet: bytes, device: int) -> bytes:
    return struct.pack("!HHIHBB8x", 0x0800, 0, device, 1, 0, 6) + packet


def routed(segments: int = 3) -> list[tuple[float, bytes]]:
    """What ``tcpdump -i any`` of a router captures: each packet at interfaces 4 and 7, 50 us later at the other."""
    frames = []
    for at, packet in transfer(segments):
        ways = (4, 7) if packet[12:16] == bytes([198, 51, 100, 7]) else (7, 4)
        frames += [(at, cooked(packet, ways[0])), (at + 0.05, cooked(packet, ways[1]))]
    return sorted(frames, key=lambda frame: frame[0])


def test_packets_at_two_interfaces_are_reported_with_the_filter_that_reads_one(cli, tmp_path):
    path = pcap(tmp_path / "x.pcap", routed(), link=276)
    found = analysed(cli, path)
    (warning,) = found["warnings"]
    assert warning.startswith("9 of 18 TCP packets are copies of a packet captured at another interface")
    assert "5 at interface 4 and then 7, 4 at interface 7 and then 4" in warning
    assert "--filter 'interface 4'" in warning
    assert f"warning: {warning}" in cli("trace", path).stderr
    for interface in (4, 7):
        found = analysed(cli, path, "--filter", f"interface {interface}")
        assert [row["retransmits"] for row in found["directions"]] == [0, 0]
        assert (found["warnings"], found["connections"][0]["packets"]) == ([], 9)
    cli("trace", path, "--html", "x.html")
    assert "captured at another interface" in (tmp_path / "x.html").read_text()


def test_packets_at_two_interfaces_of_a_pcapng_are_reported_too(cli, tmp_path):
    path = tmp_path / "x.pcapng"
    frames = [(at + i / 10, i, ethernet(packet)) for at, packet in transfer() for i in (0, 1)]
    blocks = [enhanced(i, at, frame) for at, i, frame in sorted(frames, key=lambda frame: frame[0])]
    path.write_bytes(section((1, 0), (1, 0)) + b"".join(blocks))
    assert "9 at interface 0 and then 1" in analysed(cli, path)["warnings"][0]


@pytest.mark.parametrize("after_ms", [0.001, 0.9])
def test_copies_of_a_mirror_port_are_told(cli, tmp_path, after_ms):
    frames = [(at + after, ethernet(packet)) for at, packet in transfer() for after in (0, after_ms)]
    frames.sort(key=lambda frame: frame[0])
    (warning,) = analysed(cli, pcap(tmp_path / "x.pcap", frames))["warnings"]
    assert warning.startswith("9 of 18 TCP packets are copies of a packet captured at the same interface just before")


@pytest.mark.parametrize("same_number", [False, True])
def test_retransmissions_and_duplicate_acks_are_no_copies(cli, tmp_path, same_number):
    # A host without identification sends a segment again after 5 ms, and the receiver sends 40 equal ACKs at once.
    frames = [(at, ethernet(packet)) for at, packet in transfer(2)]
    ident = 0 if same_number else 100
    again = [(90 + 5 * i, ipv4(True, tcp(True, 1501, 901, "A", 700), ident=ident and ident + i)) for i in range(3)]
    acks = [(110 + i / 1000, ipv4(False, tcp(False, 901, 1501, "A"), ident=ident and ident + i)) for i in range(40)]
    frames += [(at, ethernet(packet)) for at, packet in again + acks]
    found = analysed(cli, pcap(tmp_path / "x.pcap", frames))
    assert (found["warnings"], found["directions"][0]["retransmits"]) == ([], 2)


def test_a_step_of_the_clock_is_reported_everywhere(cli, tmp_path):
    frames = [(at - (7000 if at > 30 else 0), ethernet(packet)) for at, packet in transfer(4)]
    path = pcap(tmp_path / "x.pcap", frames)
    shown = cli("trace", path, "--html", "x.html")
    assert "warning: 7 packets with an earlier time than a packet before, by up to 6.98 s" in shown.stderr
    (warning,) = analysed(cli, path)["warnings"]
    assert "Durations, rates, round trips and delays across such a step are wrong" in warning
    assert ecnlab.trace(path).warnings == [warning]
    assert "by up to 6.98 s" in (tmp_path / "x.html").read_text()


def test_connections_without_times_have_no_durations_rates_and_round_trips(cli, tmp_path):
    # The packets of the second connection, to another port, have times.
    other = [(at, packet.replace(two_ports(443), two_ports(444))) for at, packet in transfer()]
    assert all(two_ports(444) in packet for _, packet in other)
    path = tmp_path / "x.pcapng"
    blocks = [simple(ethernet(packet), 2000) for _, packet in transfer()]
    blocks += [enhanced(0, at, ethernet(packet)) for at, packet in other]
    path.write_bytes(section((1, 0)) + b"".join(blocks))
    found = analysed(cli, path, "--html", "x.html")
    without, with_ = found["connections"]
    assert (without["start_s"], without["duration_s"], with_["start_s"], with_["duration_s"]) == (None, None, 0, 0.1)
    data, _, timed, _ = found["directions"]
    names = ["goodput_bps", "throughput_bps", "rtt_min_s", "rtt_mean_s", "rtt_p50_s", "rtt_p99_s", "rtt_max_s"]
    assert ([data[name] for name in names], data["rtt_samples"], data["bytes"]) == ([None] * 7, 0, 2100)
    assert all(timed[name] is not None for name in names) and timed["rtt_samples"] == 4
    assert found["warnings"][0].startswith(
        "9 packets without a time (Simple Packet Blocks), in 1 connection: it has no round trips"
    )
    assert (found["totals"]["untimed"], found["totals"]["back_in_time"]) == (9, 0)
    assert "9 packets without a time" in (tmp_path / "x.html").read_text()
    assert set(ecnlab.trace(path).series(0)["kind"]).isdisjoint({"rtt"})


def two_ports(server: int) -> bytes:
    """The server's port, between zeros and ports of the client: it has two bytes like any other."""
    return struct.pack("!H", server)


BAD_FILTERS = {
    "net 192.0.2.0/33": "`net 192.0.2.0/33`: a prefix of IPv4 has 0 to 32 bits",
    "net 2001:db8::/129": "`net 2001:db8::/129`: a prefix of IPv6 has 0 to 128 bits",
    "net 2001:db8::/-1": "a prefix of IPv6 has 0 to 128 bits",
    "port 80 or net 192.0.2.77/24": "`net 192.0.2.77/24` has bits behind its prefix; the network is `192.0.2.0/24`",
    "net 2001:db8::1/64": "the network is `2001:db8::/64`",
    "net 192.0.2.0": "`net 192.0.2.0` is not a network",
    "net": "`net ` is not a network",
    "port 65536": "`port` needs a port from 0 to 65535, and `65536` is none",
    "port -1": "`-1` is none",
    "interface -1": "`-1` is none",
    "interface 4294967296": "`4294967296` is none",
    "  ": "it is empty",
    "interface 5": "`interface 5` is not in the capture, which has 0",
    "not (port 9 or interface 1)": "`interface 1` is not in the capture, which has 0",
}


@pytest.mark.parametrize("filter_", BAD_FILTERS)
def test_wrong_filters_are_told(cli, tmp_path, filter_):
    path = pcap(tmp_path / "x.pcap", [(at, ethernet(packet)) for at, packet in transfer()])
    ended = cli("trace", path, "--filter", filter_)
    assert (ended.returncode, BAD_FILTERS[filter_] in ended.stderr) == (2, True), ended.stderr


@pytest.mark.parametrize("filter_", ["net 198.51.100.0/24", "net 1.2.3.4/0", "net 198.51.100.7/32", "interface 0"])
def test_right_filters_are_read(cli, tmp_path, filter_):
    path = pcap(tmp_path / "x.pcap", [(at, ethernet(packet)) for at, packet in transfer()])
    assert analysed(cli, path, "--filter", filter_)["connections"][0]["packets"] == 9


def test_the_interfaces_of_cooked_headers_are_named(cli, tmp_path):
    ended = cli("trace", pcap(tmp_path / "x.pcap", routed(), link=276), "--filter", "interface 5")
    assert "`interface 5` is not in the capture, which has 0, 4, 7" in ended.stderr
