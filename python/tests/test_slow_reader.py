"""An application that reads slowly: its window closes, and the analysis of the capture finds window probes, not timeouts."""

from __future__ import annotations

import re
import subprocess
import sys

import ecnlab

SCENARIO = """
format = 1
duration = "8 s"
profile = "linux-7"

link.pipe = { from = "a", to = "b", rate = "20 Mbps", delay = "20 ms" }
tcp.t = { receive_buffer = "60 kB" }
flow.f = { from = "a", to = "b", traffic = "ftp", tcp = "t", read_rate = "100 kbps", read_interval = "3 s" }
capture.s = { node = "a", format = "pcap" }
"""


def test_probes_of_a_closed_window_are_no_timeouts(tmp_path):
    scenario = tmp_path / "slow.toml"
    scenario.write_text(SCENARIO)
    run = ecnlab.run(scenario, 1, captures=tmp_path / "captures")
    command = [sys.executable, "-m", "ecnlab", "trace", str(run.captures[0]), "--json"]
    report = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts = {
        name: sum(map(int, re.findall(rf'"{name}": ?(\d+)', report))) for name in ("probes", "timeouts", "retransmits")
    }
    assert counts == {"probes": 8, "timeouts": 0, "retransmits": 0}
