"""RFC 2884, section 4.2: tcpdump and tcptrace, read beside the counters of 60 s of the testbed (row R11)."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import ecnlab

TESTBED = Path(__file__).parents[2] / "papers/rfc2884/testbed.toml"
CLIENT = "to_ecn"
"""The link of the ECN client."""


@dataclass
class Captured:
    """A run, and its captures of all that the server sends and receives, and at the ECN client."""

    flows: pl.DataFrame
    server: Path
    client: Path

    def of(self, column: str, *groups: str) -> int:
        """A counter of the run, summed over the flows of the groups, or over all."""
        chosen = self.flows.filter(pl.col("group").is_in(groups)) if groups else self.flows
        return int(chosen[column].sum())


@pytest.fixture(scope="module")
def captured(tmp_path_factory) -> Captured:
    folder = tmp_path_factory.mktemp("captures")
    places = {
        "capture.server": {"node": "server", "format": "pcap"},
        "capture.client": {"link": CLIENT, "end": "to", "format": "pcap"},
    }
    run = ecnlab.run(TESTBED, seed=1, captures=folder, overrides={"duration": "60 s", **places})
    found = Captured(run.table("flows_run"), folder / "server.pcap", folder / "client.pcap")
    # What the tests compare has happened.
    assert min(found.of(column, "ecn") for column in ("ce_received", "ece_received", "cwr_sent")) > 20
    assert found.of("retransmits", "plain") > 5
    return found


def test_ecnlab_trace_counts_what_the_run_counts(captured) -> None:
    at_server, at_client = (ecnlab.trace(path, standard="rfc2481") for path in (captured.server, captured.client))
    assert (at_server.violations.height, at_client.violations.height) == (0, 0)
    # The sender of each flow has the port 5001.
    sent = at_server.directions.filter(pl.col("from").str.ends_with(":5001"))
    found = {name: int(sent[name].sum()) for name in ("timeouts", "ece_received", "cwr_sent")}
    assert found == {name: captured.of(name) for name in found}
    assert int(sent["retransmits"].sum() + sent["control_retransmits"].sum()) == captured.of("retransmits")
    assert int(at_client.directions["ce"].sum()) == captured.of("ce_received", "ecn")


@pytest.mark.skipif(not shutil.which("tcptrace"), reason="tcptrace is not installed")
def test_tcptrace_counts_the_retransmissions_of_the_run(captured) -> None:
    text = subprocess.run(
        ["tcptrace", "-n", "-l", str(captured.server)], check=True, capture_output=True, text=True
    ).stdout
    # Of each connection the direction of the server, which opens it, and then the client's; a SYN sent again counts as data.
    pairs = re.findall(r"rexmt data pkts: +(\d+) +rexmt data pkts: +(\d+)", text)
    assert len(pairs) == captured.flows.height
    assert sum(int(server) for server, _ in pairs) == captured.of("retransmits")


@pytest.mark.skipif(not shutil.which("tcpdump"), reason="tcpdump is not installed")
def test_tcpdump_shows_the_marks_and_echoes_of_the_run(captured) -> None:
    def shown(capture: Path, expression: str) -> int:
        no_syn = f"tcp[tcpflags] & tcp-syn = 0 and {expression}"
        command = ["tcpdump", "-n", "-r", str(capture), no_syn]
        return len(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())

    assert shown(captured.client, "ip[1] & 3 = 3") == captured.of("ce_received", "ecn")
    assert shown(captured.server, "tcp[tcpflags] & tcp-ece != 0") == captured.of("ece_received")
    assert shown(captured.server, "tcp[tcpflags] & tcp-cwr != 0") == captured.of("cwr_sent")
