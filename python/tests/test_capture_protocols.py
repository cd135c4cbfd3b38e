"""Captures as others read them."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import ecnlab

SCENARIO = """\
format = 1
title = "segments, datagrams and source quenches"
duration = "10 s"
profile = "modern"

link.access = { from = "server", to = "router", rate = "10 Mbps", delay = "1 ms" }
link.pipe = { from = "router", to = "client", rate = "2 Mbps", delay = "10 ms", queue = "red" }
tcp.becn = { ecn = "ecn-becn" }
flow.segments = { count = 3, from = "server", to = "client", traffic = "ftp", tcp = "becn" }
flow.datagrams = { from = "server", to = "client", traffic = { kind = "cbr", rate = "200 kbps", packet = "501 B" } }
capture.router = { node = "router", snap = "65535 B" }
capture.short = { node = "router", format = "pcap" }

[queue.red]
discipline = "red"
limit = "60 packets"
min_th = "5 packets"
max_th = "15 packets"
max_p = 0.1
weight = 0.002
ecn = true
becn = { thresh = "5 packets" }
"""

TSHARK = shutil.which("tshark")
CHECKED = ["ip.check_checksum", "tcp.check_checksum", "udp.check_checksum"]
BAD = ["_ws.malformed", *(f"{protocol}.checksum.status == Bad" for protocol in ("ip", "tcp", "udp", "icmp"))]


def tshark(file: Path, *arguments: str) -> list[str]:
    """What tshark prints of ``file``, line by line, having checked every checksum."""
    preferences = [word for name in CHECKED for word in ("-o", f"{name}:TRUE")]
    command = [str(TSHARK), "-n", "-r", str(file), *preferences, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.splitlines()


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt install tshark)")
def test_tshark_reads_segments_datagrams_and_quenches(tmp_path):
    run = ecnlab.run(ecnlab.Scenario("captured.toml", SCENARIO), captures=tmp_path)
    whole, short = sorted(run.captures)
    protocols = Counter(tshark(whole, "-T", "fields", "-E", "occurrence=f", "-e", "ip.proto"))
    assert set(protocols) == {"1", "6", "17"}
    # The router forwards what it receives, and what it does not came from itself: each quench is there once.
    pipe = run.table("queues_run").filter(link="pipe", group="all").row(0, named=True)
    assert 0 <= pipe["quenches"] - protocols["1"] <= 1 < pipe["quenches"]
    for file in (whole, short):
        assert tshark(file, "-Y", " or ".join(BAD)) == []
    # Type 4, from the router to the server, about a segment from the server to the client. Nodes are in order of name.
    fields = ("icmp.type", "icmp.code", "ip.src", "ip.dst")
    (quench,) = set(tshark(whole, "-Y", "icmp", "-T", "fields", *(word for field in fields for word in ("-e", field))))
    client, router, server = (f"10.0.0.{i}" for i in (1, 2, 3))
    assert quench == f"4\t0\t{router},{server}\t{server},{client}"
