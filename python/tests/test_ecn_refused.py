"""ECN feedback that the peer refuses, or has in another form, is in the summary of a run and at the top of its page."""

from __future__ import annotations

import pytest

from ecnlab import Scenario, run
from ecnlab.folder.ecn_fallback import refused
from ecnlab.stages.both_summary import _refused

SCENARIO = """
format = 1
duration = "2 s"

link.pipe = {{ from = "a", to = "b", rate = "5 Mbps", delay = "5 ms", queue = "step" }}
queue.step = {{ discipline = "step", limit = "100 packets", threshold = "10 packets", ecn = true }}
tcp.asks = {{ profile = "linux-7", ecn = "{asks}", dsack = true }}
tcp.answers = {{ profile = "linux-7", ecn = "{answers}", dsack = true }}
flow.data = {{ from = "a", to = "b", traffic = "ftp", tcp_from = "asks", tcp_to = "answers" }}
"""

ENDS = "the ends have ecn = {asks} (tcp.asks) and {answers} (tcp.answers)"


@pytest.mark.parametrize(
    ("asks", "answers", "expected"),
    [
        ("accecn", "accecn", None),
        ("accecn", "accecn-linux", None),
        ("off", "off", None),
        ("rfc3168", "off", None),
        ("off", "rfc3168", "ECN was refused on 1 of 1 connections in data: "),
        ("dctcp", "off", "ECN feedback differs between the ends of data: "),
        ("accecn", "off", "ECN feedback differs between the ends of data: "),
        ("accecn", "rfc3168", "ECN feedback differs between the ends of data: "),
        ("dctcp", "rfc3168", "ECN feedback differs between the ends of data: "),
    ],
)
def test_the_summary_states_what_the_peer_refused(cli, tmp_path, asks, answers, expected) -> None:
    text = SCENARIO.format(asks=asks, answers=answers)
    (tmp_path / "x.toml").write_text(text)
    done = cli("run", "x.toml", "--out", "o")
    assert done.returncode == 0, done.stderr
    result = run(Scenario("x.toml", text))
    found = refused(result.flows, result.manifest["spec"])
    if expected is None:
        assert found == [] and "the ends have ecn" not in done.stdout
        return
    ends = ENDS.format(asks=f'"{asks}"', answers=f'"{answers}"')
    falls = "; AccECN falls back to RFC 3168 (RFC 9768 3.1.2)" if asks == "accecn" else ""
    assert found == [f"{expected}{ends}{falls}"]
    assert found[0] in " ".join(done.stdout.split())
    (finding,) = _refused(result)
    assert finding.statement == f"{expected.removesuffix(': ')}."
