"""Flows of UDP in captures: loss and jitter by RTP or by the simulator's numbers, and none where nothing numbers them."""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from pathlib import Path

import pytest

import ecnlab

PCMU, DYNAMIC = 0, 111


def datagram(port: int, payload: bytes, ecn: int = 0) -> bytes:
    udp = struct.pack("!HHHH", port, 6000, 8 + len(payload), 0) + payload
    ends = bytes([198, 51, 100, 1]) + bytes([198, 51, 100, 2])
    return struct.pack("!BBHHHBBH", 0x45, ecn, 20 + len(udp), 0, 0, 64, 17, 0) + ends + udp


def rtp(sequence: int, timestamp: int, kind: int = PCMU, source: int = 0xFEED) -> bytes:
    return struct.pack("!BBHII", 0x80, kind, sequence & 0xFFFF, timestamp, source) + bytes(160)


def written(file: Path, packets: list[tuple[float, bytes]]) -> Path:
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for time, one in sorted(packets):
        data += struct.pack("<IIII", int(time), round(time % 1 * 1e6), len(one), len(one)) + one
    file.write_bytes(data)
    return file


def jitter(transits: list[float]) -> float:
    """The estimate of RFC 3550 A.8 from arrival minus sending time."""
    found = 0.0
    for before, after in pairwise(transits):
        found += (abs(after - before) - found) / 16
    return found


def test_loss_and_jitter_of_rtp_are_those_of_rfc_3550(cli, tmp_path) -> None:
    # 20 ms of audio at 8 kHz; the sequence number wraps, two packets are lost, and one arrives behind the next
    waits = {0: 0.005, 1: 0.009, 2: 0.004, 5: 0.031, 6: 0.006, 7: 0.004}
    packets = [
        (0.02 * i + wait, datagram(5000, rtp(65534 + i, 160 * i), ecn=3 if i == 2 else 1)) for i, wait in waits.items()
    ]
    file = written(tmp_path / "call.pcap", packets)
    shown = cli("trace", str(file), "--json")
    (row,) = json.loads(shown.stdout)["datagrams"]
    assert (row["numbering"], row["packets"], row["lost"], row["loss_share"]) == ("RTP", 6, 2, 2 / 8)
    order = sorted(waits, key=lambda i: 0.02 * i + waits[i])
    assert row["jitter_s"] == pytest.approx(jitter([waits[i] for i in order]), rel=1e-3)
    assert (row["ce"], row["ect1"], row["from"]) == (1, 5, "198.51.100.1:5000")
    text = cli("trace", str(file)).stdout
    assert "datagrams" in text and "0.25" in text
    page = tmp_path / "call.html"
    cli("trace", str(file), "--html", str(page))
    assert 'id="datagrams"' in page.read_text()


def test_a_dynamic_payload_type_has_loss_but_no_jitter(tmp_path) -> None:
    packets = [(0.02 * i, datagram(5000, rtp(i, 960 * i, DYNAMIC))) for i in (0, 1, 2, 4)]
    (row,) = ecnlab.trace(written(tmp_path / "x.pcap", packets)).datagrams.to_dicts()
    assert (row["numbering"], row["lost"], row["jitter_s"]) == ("RTP", 1, None)


@pytest.mark.parametrize(
    "payloads",
    [
        [bytes([0x40, i, 7, 9]) * 8 for i in range(6)],  # another protocol
        [rtp(i, 160 * i, source=i % 2) for i in range(6)],  # two streams in one flow
        [rtp(9000 * i, 160 * i) for i in range(6)],  # numbers too far apart
        [bytes(172) for _ in range(6)],  # zeros, which are no numbers
        [struct.pack("!I", i) + b"data" for i in range(6)],  # numbers of another program
    ],
    ids=["other", "streams", "jumps", "zeros", "foreign"],
)
def test_a_flow_without_numbers_has_no_loss(tmp_path, payloads) -> None:
    packets = [(0.02 * i, datagram(5000, payload)) for i, payload in enumerate(payloads)]
    (row,) = ecnlab.trace(written(tmp_path / "x.pcap", packets)).datagrams.to_dicts()
    assert (row["numbering"], row["lost"], row["loss_share"], row["jitter_s"]) == ("none", None, None, None)


def test_the_numbers_of_the_simulators_datagrams_show_their_loss(cli, tmp_path) -> None:
    (tmp_path / "call.toml").write_text("""
format = 1
duration = "3 s"

link.wire = { from = "a", to = "b", rate = "1 Mbps", delay = "5 ms", loss = 0.1 }
flow.call = { from = "a", to = "b", traffic = { kind = "cbr", rate = "100 kbps", packet = "250 B" }, start = "0 s" }
capture.end = { node = "b" }
""")
    assert cli("run", "call.toml", "--out", "out").returncode == 0
    (row,) = ecnlab.trace(tmp_path / "out" / "captures" / "end.pcapng").datagrams.to_dicts()
    assert row["numbering"] == "ecnlab" and row["jitter_s"] is None
    (flow,) = ecnlab.load(tmp_path / "out").table("flows_run").to_dicts()
    assert 0 < row["lost"] <= flow["segments_sent"] - row["packets"] <= row["lost"] + 3  # the last ones are not seen
