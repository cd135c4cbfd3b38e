"""Flows over IPv6: captures as tshark and ``ecnlab trace`` read them, closed forms, and refusals."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl
import pytest
from linux_plans import LINUX, the_plan
from test_capture_protocols import BAD, TSHARK, tshark

import ecnlab
from ecnlab.engines.model.path import bottleneck
from ecnlab.linux.plan import plan
from ecnlab.linux.wall.network import RouterLinks

SCENARIO = """\
format = 1
duration = "10 s"
profile = "modern"
link.access = { from = "server", to = "router", rate = "10 Mbps", delay = "1 ms" }
link.pipe = { from = "router", to = "client", rate = "2 Mbps", delay = "10 ms", queue = "red" }
tcp.six = { ecn = "rfc3168" }
tcp.four = { ecn = "rfc3168" }
flow.six = { count = 2, from = "server", to = "client", traffic = "ftp", tcp = "six", ip = 6, dscp = "EF" }
flow.four = { from = "server", to = "client", traffic = "ftp", tcp = "four" }
flow.datagrams = { from = "server", to = "client", ip = 6, traffic = { kind = "cbr", rate = "200 kbps", packet = "501 B", ecn = "ect1" } }
capture.pipe = { link = "pipe", queue = "after" }
capture.client = { node = "client", snap = "65535 B", format = "pcap" }

[queue.red]
discipline = "red"
limit = "60 packets"
min_th = "5 packets"
max_th = "15 packets"
max_p = 0.1
weight = 0.002
ecn = true
"""


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("six")
    return ecnlab.run(ecnlab.Scenario("six.toml", SCENARIO), captures=folder), folder


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt install tshark)")
def test_tshark_reads_ipv6_with_its_traffic_class(captured):
    run, folder = captured
    for file in ("pipe.pcapng", "client.pcap"):
        assert tshark(folder / file, "-Y", " or ".join(BAD)) == []
    # At the end of the link, from the server (nodes are in order of name: client, router, server).
    fields = ("ipv6.tclass.ecn", "ipv6.tclass.dscp", "ipv6.nxt", "ipv6.hlim", "ipv6.dst", "ipv6.plen")
    printed = (word for field in fields for word in ("-e", field))
    lines = tshark(folder / "client.pcap", "-Y", "ipv6.src == 2001:db8::3", "-T", "fields", *printed)
    rows = [line.split("\t") for line in lines]
    assert {tuple(row[1:5]) for row in rows} == {
        ("46", "6", "64", "2001:db8::1"),
        ("0", "17", "64", "2001:db8::1"),
    }
    # 1500 bytes and 501 bytes, less the header's 40.
    assert {row[5] for row in rows if row[2] == "17"} == {"461"}
    assert max(int(row[5]) for row in rows) == 1460
    ce = Counter(row[2] for row in rows if int(row[0]) == 3)
    flows = run.table("flows_run")
    received = {
        name: flows.filter(pl.col("name").str.starts_with(name))["ce_received"].sum() for name in ("six", "data")
    }
    assert {"six": ce["6"], "data": ce["17"]} == received
    assert min(received.values()) > 0


def test_the_analysis_counts_what_the_run_counts(tmp_path):
    changed = {"flow.datagrams.count": 0, "capture.server": {"node": "server"}}
    run = ecnlab.run(ecnlab.Scenario("six.toml", SCENARIO).with_overrides(changed), captures=tmp_path)
    flows = run.table("flows_run").filter(pl.col("name") != "datagrams")
    server, client = (ecnlab.trace(tmp_path / name) for name in ("server.pcapng", "client.pcap"))
    delivered = run.table("links_run").filter(link="pipe")["delivered"].item()
    for trace, sent in ((server, flows["segments_sent"].sum()), (client, delivered)):
        data = trace.directions.filter(pl.col("from_opener"))
        assert trace.damage is None
        assert data["packets"].sum() == sent
    assert data["ce"].sum() == flows["ce_received"].sum() > 0
    assert server.violations.is_empty()


@pytest.mark.parametrize(("ip", "mss"), [(4, "1460 B"), (6, "1440 B")])
def test_the_default_mss_fills_an_mtu_of_1500_bytes(ip, mss):
    text = f"""\
format = 1
duration = "5 s"
packets = true
link.pipe = {{ from = "a", to = "b", rate = "1.5 Mbps", delay = "10 ms" }}
flow.bulk = {{ from = "a", to = "b", traffic = "ftp", ip = {ip} }}
"""
    scenario = ecnlab.Scenario("mtu.toml", text)
    assert scenario.resolved["tcp"]["default"]["mss"] == mss
    assert ecnlab.run(scenario).table("packets")["wire_len"].max() == 1500


def test_closed_forms_count_the_header():
    """The model's round trip: 1440 + 60 bytes, ACKs of 60 instead of 40, and 12 of timestamps in both."""
    text = SCENARIO.replace('tcp.six = { ecn = "rfc3168" }', 'tcp.six = { ecn = "rfc3168", mss = "1440 B" }')
    flows = [bottleneck(ecnlab.Scenario("six.toml", only).resolved).classes[0] for only in _versions(text)]
    assert [flow.wire_bytes for flow in flows] == [1480.0, 1500.0]
    assert flows[1].ack_bytes - flows[0].ack_bytes == 20.0
    assert flows[0].payload_bytes == flows[1].payload_bytes


def _versions(text):
    """The scenario with the flow `six` alone, over IPv4 and IPv6."""
    lines = [line for line in text.splitlines() if not line.startswith(("flow.four", "flow.datagrams", "tcp.four"))]
    six = "\n".join(lines)
    return six.replace(", ip = 6", ""), six


def test_linux_has_addresses_of_the_versions_in_use():
    four, both = (the_plan(text) for text in (LINUX, LINUX.replace('tcp = "ecn"', 'tcp = "ecn"\nip = 6', 1)))
    # Without `ip = 6` the kernel is booted without IPv6, and has none of its settings.
    assert not re.search("2001:db8|ipv6", "".join(four.files.values()))
    flows = [line.split() for line in both.files["plan"].splitlines() if line.startswith("flow ")]
    ends = [(words[10], words[13]) for words in flows]
    assert sorted(ends) == [("10.0.3.2", "10.0.0.2"), ("2001:db8:0:3::3", "2001:db8:0:0::3")]
    # Without link-local addresses, and without groups of routers, the kernel sends nothing of its own.
    silent = [line.split()[1] for line in both.files["plan"].splitlines() if "addr_gen_mode 1" in line]
    assert silent == [line.split()[1] for line in both.files["plan"].splitlines() if line.startswith("host ")]
    up = [
        line for name, text in both.files.items() if name.endswith(".ip") for line in text.splitlines() if " up" in line
    ]
    assert all("multicast off" in line for line in up if line.split()[2][0] in "oidu")


def test_real_time_refuses_the_key():
    text = LINUX.replace('tcp = "ecn"', 'tcp = "ecn"\nip = 6', 1)
    with pytest.raises(ecnlab.SpecError, match=r"`flow\.marked\.ip`: the router of runs in real time has only IPv4"):
        plan(ecnlab.Scenario("pipe.toml", text), 1, RouterLinks())
