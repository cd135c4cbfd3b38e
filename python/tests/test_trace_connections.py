"""Definitions of the analysis of a connection: keep-alives, window probes, Fast Open, late SYNs, crossing SYNs."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest
from conftest import mostly_slow
from segments import CE, ECT0, NOT_ECT, PLAIN, SACK, Hosts, read, sack

QUIET = {
    "timeouts": 0,
    "recoveries": 0,
    "retransmits": 0,
    "retransmits_timeout": 0,
    "retransmits_spurious": 0,
    "control_retransmits": 0,
    "duplicate_acks": 0,
    "missing_bytes": 0,
    "out_of_order": 0,
}
"""A direction without loss."""


def shows(row: dict[str, Any], **expected: object) -> None:
    """Compare columns of a row."""
    expected = QUIET | expected
    assert {name: row[name] for name in expected} == expected


def tshark(path: object, *fields: str) -> list[list[str]]:
    """Fields of each packet, by tshark."""
    if not shutil.which("tshark"):
        pytest.skip("no tshark")
    wanted = [part for name in fields for part in ("-e", name)]
    command = ["tshark", "-r", str(path), "-T", "fields", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("end", [0, 1])
def test_keep_alives_are_no_retransmissions(cli, tmp_path, size, end):
    hosts = Hosts(options=SACK).shake()
    hosts.send(30, 0, 1, 1, "PA", 333, ECT0)
    hosts.send(50, 1, 1, 334, "PA", 40, ECT0)
    hosts.send(50, 0, 334, 41, "A")
    last, peers = ((333, 41), (40, 334))[end]
    reply = sack((333, 334)) if size and end == 0 else b""
    for second in range(7, 12):
        hosts.send(1000 * second, end, last, peers, "A", size)
        hosts.send(1000 * second + 20, 1 - end, peers, last + 1, "A", options=reply)
    hosts.send(20_000, 0, 334, 41, "PA", 100, ECT0)
    hosts.send(20_020, 1, 41, 434, "A")
    path = hosts.save(tmp_path / "idle.pcap")
    found = read(cli, path)
    rows = found["directions"]
    shows(rows[end], keep_alives=5)
    shows(rows[1 - end], keep_alives=0)
    assert [row["unique_bytes"] for row in rows] == [433, 40]
    assert found["violations"] == []
    assert sum(flag != "" for (flag,) in tshark(path, "tcp.analysis.keep_alive")) == 5


def test_a_last_byte_sent_again_soon_is_a_retransmission(cli, tmp_path):
    hosts = Hosts().shake()
    hosts.send(30, 0, 1, 1, "PA", 1)
    hosts.send(50, 1, 1, 2, "A")
    hosts.send(330, 0, 1, 1, "PA", 1)
    hosts.send(350, 1, 1, 2, "A")
    hosts.send(5000, 0, 1, 1, "A", 1)
    hosts.send(5020, 1, 1, 2, "A")
    row = read(cli, hosts.save(tmp_path / "key.pcap"))["directions"][0]
    shows(row, retransmits=1, retransmits_timeout=1, retransmits_spurious=1, timeouts=1, keep_alives=1)


@pytest.mark.parametrize("kind", ["new", "old", "none", "accepted"])
@pytest.mark.parametrize("probes", [1, 5])
def test_probes_of_a_closed_window_are_no_losses(cli, tmp_path, kind, probes):
    hosts = Hosts(options=SACK).shake()
    hosts.send(30, 0, 1, 1, "A", 700, ECT0)
    hosts.send(50, 1, 1, 701, "A", window=0)
    una = 701
    for n in range(probes):
        seq, size = {"new": (una, 1), "accepted": (una, 1), "old": (una - 1, 1), "none": (una - 1, 0)}[kind]
        hosts.send(250 + 400 * n, 0, seq, 1, "A", size)
        una += kind == "accepted"
        hosts.send(270 + 400 * n, 1, 1, una, "A", window=0, options=sack((700, 701)) if kind == "old" else b"")
    hosts.send(4000, 1, 1, una, "A", window=16_000)
    for n in range(3):
        hosts.send(4000.1 + n / 10, 0, una + 900 * n, 1, "A", 900, ECT0)
    hosts.send(4020, 1, 1, una + 2700, "A")
    found = read(cli, hosts.save(tmp_path / "closed.pcap"))
    row = found["directions"][0]
    shows(row, probes=probes, keep_alives=0, unique_bytes=700 + una - 701 + 2700, retransmitted_bytes=0)
    assert (found["violations"], found["directions"][1]["window_zero"]) == ([], probes + 1)
    # One sample each for the SYN and the data before; of the three segments the ACK covers the last.
    assert (row["rtt_samples"], row["rtt_max_s"]) == (3, pytest.approx(0.02))


def test_a_real_loss_after_probes_is_one(cli, tmp_path):
    hosts = Hosts().shake()
    hosts.send(30, 0, 1, 1, "A", 700, ECT0)
    hosts.send(50, 1, 1, 701, "A", window=0)
    hosts.send(300, 0, 701, 1, "A", 1)
    hosts.send(320, 1, 1, 701, "A", window=0)
    hosts.send(400, 1, 1, 701, "A")
    for n in range(5):
        hosts.send(401, 0, 701 + 500 * n, 1, "A", 500, ECT0)
    for _ in range(4):
        hosts.send(421, 1, 1, 701, "A")
    hosts.send(422, 0, 701, 1, "A", 500)
    hosts.send(442, 1, 1, 3201, "A")
    row = read(cli, hosts.save(tmp_path / "loss.pcap"))["directions"][0]
    shows(row, probes=1, recoveries=1, retransmits=1, retransmits_fast=1, duplicate_acks=4, retransmitted_bytes=500)


def test_a_window_that_the_syn_ack_closes_is_probed(cli, tmp_path):
    hosts = Hosts()
    hosts.send(0, 0, 0, 0, "S", options=PLAIN)
    hosts.send(20, 1, 0, 1, "SA", options=PLAIN, window=0)
    hosts.send(20, 0, 1, 1, "A")
    hosts.send(220, 0, 1, 1, "A", 1)
    hosts.send(240, 1, 1, 1, "A", window=0)
    hosts.send(300, 1, 1, 1, "A", window=4000)
    hosts.send(301, 0, 1, 1, "A", 1200)
    hosts.send(321, 1, 1, 1201, "A", window=4000)
    found = read(cli, hosts.save(tmp_path / "shut.pcap"))["directions"]
    shows(found[0], probes=1, unique_bytes=1200)
    assert (found[1]["window_min"], found[1]["window_max"]) == (0, 16_000)


def test_window_extremes_leave_out_the_unscaled_windows_of_syns(cli, tmp_path):
    hosts = Hosts()
    hosts.send(0, 0, 0, 0, "S", options=PLAIN, window=65_000)
    hosts.send(20, 1, 0, 1, "SA", options=PLAIN, window=10)
    hosts.send(20, 0, 1, 1, "A", window=500)
    hosts.send(30, 0, 1, 1, "A", 100, window=800)
    rows = read(cli, hosts.save(tmp_path / "syn.pcap"))["directions"]
    assert [(row["window_min"], row["window_max"]) for row in rows] == [(2000, 3200), (None, None)]


@pytest.mark.parametrize(("acked", "parts"), [(0, [400]), (0, [250, 150]), (120, [280]), (400, [])])
def test_data_of_a_syn_sent_again_at_once_are_no_timeout(cli, tmp_path, acked, parts):
    hosts = Hosts()
    cookie = bytes([34, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1])
    hosts.send(0, 0, 0, 0, "SEC", 400, options=PLAIN + cookie)
    hosts.send(25, 1, 0, 1 + acked, "SAE", options=PLAIN)
    seq = 1 + acked
    for size in parts:
        hosts.send(25.1, 0, seq, 1, "A", size)
        seq += size
    hosts.send(25.2, 0, 401, 1, "A", 600, ECT0)
    hosts.send(50, 1, 1, 1001, "A")
    found = read(cli, hosts.save(tmp_path / "open.pcap"))
    again = {"retransmits": len(parts), "retransmits_partial": len(parts), "retransmitted_bytes": sum(parts)}
    shows(found["directions"][0], **again, unique_bytes=1000)
    assert found["violations"] == []


def test_data_of_a_syn_lost_twice_take_a_timeout(cli, tmp_path):
    hosts = Hosts()
    hosts.send(0, 0, 0, 0, "S", 400, options=PLAIN)
    hosts.send(25, 1, 0, 1, "SA", options=PLAIN)
    hosts.send(25.1, 0, 1, 1, "A", 400)
    hosts.send(1025, 0, 1, 1, "A", 400)
    hosts.send(1050, 1, 1, 401, "A")
    row = read(cli, hosts.save(tmp_path / "twice.pcap"))["directions"][0]
    shows(row, retransmits=2, retransmits_partial=1, retransmits_timeout=1, timeouts=1)


def exchange(flags: tuple[str, str] = ("SEC", "SAE"), size: int = 0) -> Hosts:
    """A handshake, two segments and their ACKs; the first has CE."""
    hosts = Hosts()
    hosts.send(0, 0, 0, 0, flags[0], size, options=PLAIN)
    hosts.send(20, 1, 0, 1 + size, flags[1], options=PLAIN)
    hosts.send(20.1, 0, 1 + size, 1, "A")
    hosts.send(30, 0, 1 + size, 1, "A", 900, CE)
    hosts.send(50, 1, 1, 901 + size, "AE")
    hosts.send(60, 0, 901 + size, 1, "AC", 900, ECT0)
    hosts.send(80, 1, 1, 1801 + size, "A", 10)
    return hosts


@pytest.mark.parametrize("size", mostly_slow([0, 60], 60))
@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("place", range(7))
def test_a_syn_or_syn_ack_captured_late_joins_its_connection(cli, tmp_path, late, place, size):
    order = [i for i in range(7) if i != late]
    order.insert(place, late)
    path = exchange(size=size).save(tmp_path / "late.pcap", order)
    found = read(cli, path)
    (connection,) = found["connections"]
    assert connection["opener"].endswith(":49152") and connection["ecn"] == "accepted"
    assert found["violations"] == []
    client, server = found["directions"]
    shows(client, unique_bytes=1800 + size, in_order_bytes=1800 + size, ce=1, syn=1, window_max=64_000)
    shows(server, unique_bytes=10, in_order_bytes=10, ece_sent=1, syn=1)
    assert 0.0199 < client["rtt_min_s"] <= client["rtt_max_s"] < 0.0201
    if size == 0:  # tshark gives a late SYN with data a stream of its own
        assert len({stream for (stream,) in tshark(path, "tcp.stream")}) == 1


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("place", range(9))
def test_a_late_syn_of_accecn_breaks_no_rule(cli, tmp_path, late, place):
    hosts = Hosts()
    hosts.send(0, 0, 0, 0, "SECN", options=PLAIN)
    hosts.send(20, 1, 0, 1, "SAC", options=PLAIN)
    hosts.send(20.1, 0, 1, 1, "AC")
    hosts.send(30, 0, 1, 1, "AEN", 900, ECT0)
    hosts.send(50, 1, 1, 901, "AEN")
    hosts.send(60, 0, 901, 1, "AEN", 900, CE)
    hosts.send(80, 1, 1, 1801, "ACN")
    hosts.send(90, 0, 1801, 1, "AEN", 900, ECT0)
    hosts.send(110, 1, 1, 2701, "ACN")
    order = [i for i in range(9) if i != late]
    order.insert(place, late)
    found = read(cli, hosts.save(tmp_path / "accurate.pcap", order))
    assert [connection["ecn"] for connection in found["connections"]] == ["AccECN"]
    assert found["violations"] == []
    assert [row["ecn_reductions"] for row in found["directions"]] == [0, 0]


def test_a_late_syn_that_reuses_the_port_opens_a_connection(cli, tmp_path):
    hosts = exchange()
    hosts.isn = (5_000_000, 6_000_000)
    hosts.send(200, 0, 0, 0, "S", options=PLAIN)
    hosts.send(220, 1, 0, 1, "SA", options=PLAIN)
    order = [1, 2, 3, 4, 0, 5, 6, 7, 8]
    found = read(cli, hosts.save(tmp_path / "reused.pcap", order))
    assert [(c["ecn"], c["packets"]) for c in found["connections"]] == [("accepted", 7), ("not offered", 2)]


def test_a_syn_again_after_the_syn_ack_keeps_the_negotiation(cli, tmp_path):
    hosts = exchange()
    hosts.packets.insert(2, (20.05, hosts.packets[0][1]))
    found = read(cli, hosts.save(tmp_path / "again.pcap"))
    assert [c["ecn"] for c in found["connections"]] == ["accepted"]
    assert found["directions"][0]["control_retransmits"] == 1


@pytest.mark.parametrize(
    ("syns", "answers", "ecn"),
    [
        (("SEC", "SEC"), ("SAE", "SAE"), "accepted"),
        (("SEC", "SEC"), ("A", "A"), "accepted"),
        (("SEC", "S"), ("SA", "SA"), "refused"),
        (("SEC", "SEC"), ("SA", "SAE"), "refused"),
        (("S", "S"), ("SA", "SA"), "not offered"),
        (("SECN", "SECN"), ("SAC", "SAC"), "AccECN"),
    ],
)
def test_a_simultaneous_open_is_one_connection(cli, tmp_path, syns, answers, ecn):
    hosts = Hosts()
    hosts.send(0, 0, 0, 0, syns[0], options=PLAIN)
    hosts.send(10, 1, 0, 0, syns[1], options=PLAIN)
    begun = int("S" not in answers[0])
    hosts.send(10.2, 0, begun, 1, answers[0], options=b"" if begun else PLAIN)
    hosts.send(20, 1, begun, 1, answers[1], options=b"" if begun else PLAIN)
    hosts.send(30, 0, 1, 1, "A", 500, NOT_ECT)
    hosts.send(50, 1, 1, 501, "A", 100)
    hosts.send(50.2, 0, 501, 101, "A")
    found = read(cli, hosts.save(tmp_path / "crossing.pcap"))
    (connection,) = found["connections"]
    assert (connection["ecn"], connection["opener"][-5:]) == (ecn, "49152")
    assert found["violations"] == []
    for row, size in zip(found["directions"], (500, 100), strict=True):
        shows(row, unique_bytes=size, in_order_bytes=size)


@pytest.mark.parametrize("early_us", [1, 400, 5000])
@pytest.mark.parametrize("sorted_by_time", [True, False])
def test_acks_stamped_before_their_data(cli, tmp_path, early_us, sorted_by_time):
    """A tap with two ports, whose stamps of one port are late: the ACK of each second segment comes first."""
    hosts = Hosts().shake()
    for n in range(6):
        at = 100 + 50 * n
        hosts.send(at, 0, 1 + 800 * n, 1, "A", 800, ECT0)
        hosts.send(at - early_us / 1000 if n % 2 else at + 20, 1, 1, 801 + 800 * n, "A")
    order = range(len(hosts.packets))
    order = sorted(order, key=lambda i: hosts.packets[i][0]) if sorted_by_time else list(order)
    found = read(cli, hosts.save(tmp_path / "tap.pcap", order))
    row = found["directions"][0]
    shows(row, unique_bytes=4800, in_order_bytes=4800)
    # The SYN and three segments.
    assert (row["rtt_samples"], row["rtt_min_s"], row["rtt_max_s"]) == (4, pytest.approx(0.02), pytest.approx(0.02))


def test_bytes_acknowledged_and_never_captured_are_missing(cli, tmp_path):
    hosts = Hosts().shake()
    for n in (0, 2, 3):
        hosts.send(100 + n, 0, 1 + 800 * n, 1, "A", 800, ECT0)
    hosts.send(123, 1, 1, 3201, "A")
    # This fills the hole, but too late for one captured after its ACK: it is sent again.
    hosts.send(900, 0, 801, 1, "A", 800)
    row = read(cli, hosts.save(tmp_path / "hole.pcap"))["directions"][0]
    shows(row, missing_bytes=800, retransmits=1, retransmits_timeout=1, retransmits_spurious=1, timeouts=1)


def test_a_reset_outside_the_window_closes_nothing(cli, tmp_path):
    """RFC 9293 §3.10.7.4: the receiver drops it. Its acknowledgement number is not read either."""
    hosts = Hosts().shake()
    hosts.send(30, 0, 1, 1, "A", 1000, ECT0)
    hosts.send(40, 1, 0x4000_0000, 0x2000_0000, "RA", window=0)
    hosts.send(50, 1, 1, 1001, "A")
    hosts.send(60, 0, 1001, 1, "A", 1000, ECT0)
    hosts.send(80, 1, 1, 2001, "A")
    found = read(cli, hosts.save(tmp_path / "forged.pcap"))
    client, server = found["directions"]
    assert not found["connections"][0]["closed"] and server["rst"] == 1
    assert (client["missing_bytes"], client["rtt_samples"], server["window_zero"]) == (0, 3, 0)
    # One with the next number closes it.
    hosts.send(90, 1, 1, 2001, "RA")
    assert read(cli, hosts.save(tmp_path / "reset.pcap"))["connections"][0]["closed"]


def test_the_reset_of_an_old_connection_does_not_close_the_new_one(cli, tmp_path):
    """RFC 9293 §3.5.1: a server that still has the old connection answers the SYN with an ACK, which the client resets."""
    hosts = Hosts(isn=(0x7000_0000, 77_000))
    hosts.send(0, 0, 0, 0, "SEC", options=PLAIN)
    hosts.send(20, 1, 3_000_000, -40_000, "A")
    hosts.send(20.1, 0, -40_000, 0, "R")
    hosts.send(1000, 0, 0, 0, "SEC", options=PLAIN)
    hosts.send(1020, 1, 0, 1, "SAE", options=PLAIN)
    hosts.send(1020.1, 0, 1, 1, "A")
    found = read(cli, hosts.save(tmp_path / "half-open.pcap"))
    assert [(row["packets"], row["ecn"], row["closed"]) for row in found["connections"]] == [(6, "accepted", False)]
