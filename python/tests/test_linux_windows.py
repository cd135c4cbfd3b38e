"""Receive windows announced by the Linux kernel in virtual time and by the simulator, ACK by ACK; skipped without that kernel."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from conftest import first_fast, kernel_or_skip

import ecnlab

PATH = """
format = 1
duration = "4 s"
profile = "linux-7"

link.pipe = { from = "a", to = "b", rate = "20 Mbps", delay = "100 ms", queue = "big", reverse = { rate = "20 Mbps", queue = "big" } }
queue.big = { discipline = "droptail", limit = "2000 packets" }
tcp.t = { congestion = "reno", dsack = true }
flow.f = { from = "a", to = "b", traffic = "ftp", tcp = "t", start = "0.2 ms" }
capture.receiver = { node = "b", format = "pcap" }
"""
"""A start 0.2 ms after a tick gives both engines' timestamps the same phase: RTT samples are whole milliseconds."""

LONG_HOLE = {"link.pipe.delay": "300 ms", "queue.big.limit": "30 packets", "duration": "8 s"}

NO_SACK = {"tcp.t": {"congestion": "reno", "sack": False, "dsack": False, "recovery": "linux-newreno"}}


@pytest.fixture(scope="module", autouse=True)
def kernel():
    return kernel_or_skip()


def announced(path: Path) -> dict[int, int]:
    """Bytes announced with each acknowledgement number, by the first ACK that has it, of the receiver in a pcap of one flow."""
    data, place, shift, first = path.read_bytes(), 24, 0, 0
    windows: dict[int, int] = {}
    while place < len(data):
        (kept,) = struct.unpack_from("<I", data, place + 8)
        ip = data[place + 16 : place + 16 + kept]
        place += 16 + kept
        tcp = ip[(ip[0] & 15) * 4 :]
        _, destination, _, ack, offset, flags, window = struct.unpack_from("!HHIIBBH", tcp)
        if flags & 2:
            if not flags & 16:
                sender = destination
                continue
            options = tcp[20 : (offset >> 4) * 4]
            shift = options[options.index(b"\x03\x03") + 2]
            first = ack
        elif destination != sender and len(ip) - (ip[0] & 15) * 4 == (offset >> 4) * 4:
            windows.setdefault((ack - first) % 2**32, window << shift)
    return windows


def both(tmp_path: Path, changes: dict[str, str]) -> tuple[dict[int, int], dict[int, int]]:
    """Windows of the simulator and the kernel by acknowledgement number."""
    scenario = tmp_path / "path.toml"
    scenario.write_text(PATH)
    found = []
    for engine in ("packets", "linux"):
        run = ecnlab.run(scenario, 1, engine=engine, overrides=changes or None, captures=tmp_path / engine)
        found.append(announced(run.captures[0]))
    return found[0], found[1]


def test_an_undisturbed_start_announces_the_same_windows(tmp_path):
    simulated, kernel = both(tmp_path, {})
    common = [ack for ack in kernel if ack in simulated and ack < 250_000]
    assert len(common) > 60
    assert {ack: simulated[ack] for ack in common} == {ack: kernel[ack] for ack in common}
    assert max(kernel[ack] for ack in common) > 4 * kernel[common[0]]


@pytest.mark.parametrize(
    ("changes", "zeros"),
    [
        ({"flow.f.read_rate": "2 Mbps"}, 0),
        ({"flow.f.read_rate": "100 kbps", "flow.f.read_interval": "1500 ms", "tcp.t.receive_buffer": "60 kB"}, 1),
    ],
    ids=["2 Mbps", "zero window"],
)
def test_a_slow_reader_announces_the_same_windows(tmp_path, changes, zeros):
    simulated, kernel = both(tmp_path, changes)
    common = simulated.keys() & kernel.keys()
    assert len(common) >= 20
    assert {ack: simulated[ack] for ack in common} == {ack: kernel[ack] for ack in common}
    assert [sum(window == 0 for window in windows.values()) for windows in (simulated, kernel)] == [zeros, zeros]


@pytest.mark.parametrize(
    "changes",
    first_fast(
        2,
        [
            {"queue.big.limit": "30 packets"},
            {"tcp.t.receive_buffer": "300 kB"},
            {},
            LONG_HOLE,
            NO_SACK,
            {"flow.f.read_rate": "1 Mbps", "flow.f.read_interval": "500 ms", "tcp.t.receive_buffer": "100 kB"},
        ],
    ),
    ids=["lossy start", "small buffer", "long", "long hole", "no SACK", "1 Mbps in 0.5 s"],
)
def test_windows_differ_by_what_a_tick_decides(tmp_path, changes):
    """Half of the windows are within 10 %: an RTT sample of one tick more moves a measurement by a segment, which later ones keep."""
    simulated, kernel = both(tmp_path, changes)
    common = sorted(kernel.keys() & simulated.keys())
    assert len(common) > 30
    ratios = sorted(simulated[ack] / kernel[ack] for ack in common if kernel[ack])
    assert 0.9 <= ratios[len(ratios) // 4] <= ratios[-len(ratios) // 4] <= 1.1, (ratios[0], ratios[-1])
    assert max(simulated.values()) == pytest.approx(max(kernel.values()), rel=0.15)
