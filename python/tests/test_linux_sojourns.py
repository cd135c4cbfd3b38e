"""Sojourn times in the kernel's queues: from records of captures, and of runs on the kernel, where one has been built."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import kernel_or_skip, mostly_slow
from one_link import FTP, RENO, one_link

import ecnlab
from ecnlab._core import Scenario
from ecnlab.linux import sojourns
from ecnlab.linux.plan import plan

LINK = 'rate = "10 Mbps"\ndelay = "10 ms"\nreverse = { rate = "1 Gbps", delay = "10 ms" }'
CODEL = 'discipline = "codel"\nlimit = "100 packets"'
MS = 1_000_000
ZERO_NS = 5 * MS
"""Time of the log's clock at which the run began."""


def text(queue: str, duration: str = "10 s") -> str:
    return one_link(LINK, queue, FTP, profile="linux-7", duration=duration, sample="20 ms") + RENO


def links(queue: str) -> list:
    return plan(Scenario("x.toml", text(queue)), 1).links


def packet(number: int, ecn: int = 0, ttl: int = 64) -> bytes:
    """The headers of a TCP segment with the IP identification ``number``."""
    ip = struct.pack(">BBHHHBBH", 0x45, ecn, 1500, number, 0x4000, ttl, 6, 0) + bytes((10, 0, 0, 2, 10, 0, 1, 2))
    return ip + struct.pack(">HHIIHHHH", 80, 81, 1448 * number, 1, 0x8010, 9, 0, 0)


def record(time_ms: float, place: int, bytes_: bytes, link: int = 0) -> bytes:
    return struct.pack("<QIIII", ZERO_NS + round(time_ms * MS), link, 1500, len(bytes_), place) + bytes_


def log(*records: bytes) -> bytes:
    return struct.pack("<Q", ZERO_NS) + b"".join(records)


def test_a_packet_is_found_again_behind_the_queue_by_its_headers(tmp_path: Path) -> None:
    one = links(f"{CODEL}\nquantiles = true")[0]
    (tmp_path / "packets").write_bytes(
        log(
            record(1, sojourns.BEFORE, packet(1)),
            record(2, sojourns.BEFORE, packet(2)),
            record(2, sojourns.BEFORE, packet(9), link=1),
            record(3, sojourns.BEFORE, packet(3) + bytes(20)),
            record(4, sojourns.AFTER, packet(1, ecn=3, ttl=63)),
            record(5, sojourns.BEFORE, packet(4)),
            record(6, sojourns.BEFORE, packet(4)),
            record(7.5, sojourns.AFTER, packet(3, ttl=63) + bytes(20)),
            record(9, sojourns.AFTER, packet(4, ttl=63)),
        )
    )
    left, spent = sojourns.read(tmp_path / "packets", [one])["pipe"]
    # Packet 2 was dropped; 4 was seen twice before the queue.
    assert (left / MS).tolist() == [4, 7.5] and (spent / MS).tolist() == [3, 4.5]


def test_quantiles_are_those_of_packets_that_left_in_the_window() -> None:
    left = np.arange(1, 1001) * MS
    frame = pl.DataFrame({"link": ["pipe", "other"], "sojourn_mean_s": [9.0, 8.0]})
    pipe, other = sojourns.with_quantiles(frame, {"pipe": (left, left)}, 501 * MS).to_dicts()
    assert pipe["sojourn_mean_s"] == pytest.approx(0.7505) and pipe["sojourn_max_s"] == 1
    assert [pipe[name] for name in sojourns.QUANTILES] == pytest.approx([0.75, 0.975, 0.995, 1.0])
    assert other["sojourn_mean_s"] == 8 and other["sojourn_p99_s"] is None
    empty, _ = sojourns.with_quantiles(frame, {"pipe": (left, left)}, 2000 * MS).to_dicts()
    assert empty["sojourn_mean_s"] is None and empty["sojourn_p99_s"] is None


def test_only_queues_with_quantiles_are_captured() -> None:
    def taps(queue: str) -> list[str]:
        lines = plan(Scenario("x.toml", text(queue)), 1).files["plan"].splitlines()
        return [line for line in lines if line.startswith("tap")]

    assert taps(CODEL) == []
    assert taps(f"{CODEL}\nquantiles = true")[0] == "tap 0 after n0 o0 40"


@pytest.mark.parametrize("queue", mostly_slow([CODEL, 'discipline = "droptail"\nlimit = "50 packets"'], CODEL))
def test_quantiles_agree_with_the_simulator_and_change_no_packet(queue: str, tmp_path: Path) -> None:
    kernel_or_skip()
    path, plain = tmp_path / "with.toml", tmp_path / "without.toml"
    path.write_text(text(f"{queue}\nquantiles = true"))
    plain.write_text(text(queue))
    runs = [ecnlab.run(path, 1), *(ecnlab.run(file, 1, engine="linux") for file in (path, plain))]
    own, kernel, without = (run.table("links").filter(link="pipe").row(0, named=True) for run in runs)
    for name in ("sojourn_mean_s", "sojourn_p50_s", "sojourn_p99_s", "sojourn_max_s"):
        assert kernel[name] == pytest.approx(own[name], rel=0.1), name
    # Little's law from samples every 20 ms, without quantiles.
    assert kernel["sojourn_mean_s"] == pytest.approx(without["sojourn_mean_s"], rel=0.05)
    assert without["sojourn_p99_s"] is None
    same = ["delivered", "delivered_bytes", "queue_mean_packets"]
    assert [kernel[name] for name in same] == [without[name] for name in same]
