"""Packets that their receiver does not accept, and flags that no negotiation uses: captures made byte by byte."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

SYN, RST, ACK, ECE, CWR = 0x02, 0x04, 0x10, 0x40, 0x80


def packet(at_ms: int, client: bool, flags: int, seq: int, ack: int, size: int = 0) -> bytes:
    """A record of pcap with an IPv4 and a TCP header and ``size`` zero bytes; checksums are zero."""
    ends = (bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
    ports = (40_000, 80)
    source, target = (0, 1) if client else (1, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + size, 0, 0, 64, 6, 0) + ends[source] + ends[target]
    tcp = struct.pack(">HHIIBBHHH", ports[source], ports[target], seq, ack, 0x50, flags, 60_000, 0, 0)
    data = ip + tcp + bytes(size)
    return struct.pack("<IIII", at_ms // 1000, at_ms % 1000 * 1000, len(data), len(data)) + data


def handshake(offer: int = 0, answer: int = 0) -> list[bytes]:
    return [
        packet(0, True, SYN | offer, 100, 0),
        packet(10, False, SYN | ACK | answer, 500, 101),
        packet(20, True, ACK, 101, 501),
    ]


@pytest.fixture
def traced(cli, tmp_path):
    def run(packets: list[bytes]) -> dict[str, Any]:
        file = Path(tmp_path / "made.pcap")
        file.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + b"".join(packets))
        found: dict[str, Any] = json.loads(cli("trace", file, "--json").stdout)
        return found

    return run


def of_client(found: dict[str, Any], column: str) -> object:
    return next(row for row in found["directions"] if row["from"].startswith("10.0.0.1"))[column]


@pytest.mark.parametrize(("ack", "missing"), [(201 + 50_000_000, 0), (201 + 3000, 3000)])
def test_an_ack_of_data_never_sent_is_none_of_missing_data(traced, ack, missing):
    data, reply = packet(30, True, ACK, 101, 501, 100), packet(40, False, ACK, 501, ack)
    found = traced([*handshake(), data, reply, packet(50, True, ACK, max(201, 201 + missing), 501, 100)])
    assert of_client(found, "missing_bytes") == missing


def test_a_refused_syn_sent_again_is_not_spurious(traced):
    packets = []
    for at in (0, 500, 1000):
        packets += [packet(at, True, SYN, 100, 0), packet(at + 1, False, RST | ACK, 0, 101)]
    found = traced(packets)
    assert (of_client(found, "control_retransmits"), of_client(found, "retransmits_spurious")) == (2, 0)


@pytest.mark.parametrize(
    ("offer", "answer", "broken"),
    [(0, ECE, 1), (0, CWR, 1), (ECE | CWR, CWR, 1), (ECE | CWR, ECE, 0), (0, 0, 0)],
)
def test_flags_of_a_syn_ack_answer_those_of_the_syn(traced, offer, answer, broken):
    found = traced(handshake(offer, answer))
    assert [row["rule"] for row in found["violations"]] == ["setup-flags"] * broken
