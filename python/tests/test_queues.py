"""Queues within queues: their tables against the packets that went through them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import ecnlab

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def tree():
    """The example with classes in classes, and each packet's way."""
    return ecnlab.run(EXAMPLES / "classes.toml", seed=1, events=True)


def classes(run, table="classes_run"):
    """The rows of a table of classes at the bottleneck, by class."""
    rows = run.table(table).filter(pl.col("link") == "bottleneck").to_dicts()
    return {row["class"]: row for row in rows}


def test_what_comes_to_a_class_comes_to_the_queue_around_it(tree):
    rows = classes(tree)
    assert list(rows) == ["all", "voice", "data", "data/capable", "data/plain"]
    for outer, inner in (("all", ["voice", "data"]), ("data", ["data/capable", "data/plain"])):
        for fate in ("arrived", "departed", "marks", "dropped", "tail_drops"):
            assert rows[outer][fate] == sum(rows[name][fate] for name in inner)
    [whole] = tree.table("queues_run").filter((pl.col("link") == "bottleneck") & (pl.col("group") == "all")).to_dicts()
    assert [rows["all"][fate] for fate in ("arrived", "marks", "dropped")] == [
        whole[fate] for fate in ("arrived", "marks", "dropped")
    ]


def test_laws_treat_their_own_class(tree):
    rows = classes(tree)
    assert rows["data/capable"]["marks"] > 0 == rows["data/capable"]["early_drops"]
    assert rows["data/plain"]["early_drops"] > 0 == rows["data/plain"]["marks"]
    assert rows["voice"]["dropped"] == 0
    assert rows["data/capable"]["share_dropping"] > 0.0
    assert rows["data/plain"]["share_dropping"] is None
    # Strict priority: voice waits for the packet in transmission at most, 1.2 ms, and for another of its own.
    assert rows["voice"]["sojourn_max_s"] < 0.0024


def test_quantiles_are_those_of_the_packets(tree):
    packets = tree.table("packets").filter(pl.col("link") == "bottleneck")
    came = packets.filter(pl.col("event") == "enqueue")
    left = packets.filter(pl.col("event") == "dequeue")
    # Nothing of the voice is dropped, and it leaves in order.
    voice = [frame.filter(pl.col("flow") == "voice")["time_ps"] for frame in (came, left)]
    assert len(voice[0]) - len(voice[1]) in (0, 1)
    sojourns = (voice[1] - voice[0][: len(voice[1])]).sort() * 1e-12
    for name, share in (("sojourn_p50_s", 0.5), ("sojourn_p95_s", 0.95), ("sojourn_p99_s", 0.99)):
        exact = sojourns[max(-int(-share * len(sojourns) // 1), 1) - 1]
        assert classes(tree)["voice"][name] == pytest.approx(exact, rel=0.005, abs=1e-12)


def test_a_single_fifo_has_quantiles_if_asked(scenario):
    assert "classes" not in ecnlab.run(scenario, seed=1).tables
    text = scenario.read_text()
    at = text.index("discipline = ")
    scenario.write_text(f"{text[:at]}quantiles = true\n{text[at:]}")
    run = ecnlab.run(scenario, seed=1)
    for row in run.table("classes").to_dicts():
        assert row["class"] == "all"
        assert row["sojourn_p50_s"] <= row["sojourn_p95_s"] <= row["sojourn_p99_s"] <= row["sojourn_p999_s"]
        # The bin of the largest reaches 0.4 % past its middle.
        assert row["sojourn_p999_s"] <= row["sojourn_max_s"] * 1.004


def test_flows_in_queues_of_their_own_share_and_do_not_wait():
    run = ecnlab.run(EXAMPLES / "fair.toml", seed=1)
    flows = run.flows
    bulk = flows.filter(pl.col("group") == "bulk")["goodput_bps"]
    # Four bulk flows have equal shares (hashed to one queue, two would have half of that), the voice all it sends.
    assert bulk.min() > 0.9 * bulk.max()
    [voice] = flows.filter(pl.col("group") == "voice")["bytes_delivered"]
    assert voice * 8 / 25 == pytest.approx(64e3 * 172 / 200, rel=0.01)
    assert run.queue_series.filter(pl.col("link") == "bottleneck").height == 301
    assert run.table("class_series").filter(pl.col("link") == "bottleneck")["class"].unique().to_list() == ["all"]


def test_shapers_hold_their_rates_and_voice_has_its_own():
    run = ecnlab.run(EXAMPLES / "shapers.toml", seed=1)
    links = {row["link"]: row for row in run.links.to_dicts()}
    # 25 s are measured. The token bucket lets 15 kB more go than 2 Mbit/s, a quarter of a percent.
    down = links["down"]
    assert down["rate_bps"] == 2e6
    assert 0.95 < down["utilisation"] < 1.003
    # At most 9 Mbit/s of a link of 10, and what the buckets hold; CoDel keeps too little in the queues for all of that.
    up = links["up"]
    assert up["rate_bps"] == 10e6
    assert 0.7 < up["utilisation"] < 0.901
    rows = {(row["link"], row["class"]): row for row in run.table("classes_run").to_dicts()}
    assert rows["up", "voice"]["dropped"] == 0
    # A packet in transmission, 1.2 ms, and never more: voice has more than it asks for.
    assert rows["up", "voice"]["sojourn_max_s"] < 0.0013
    assert rows["up", "data"]["sojourn_mean_s"] > 0.005
    # Data are marked; ACKs, which are not ECN-capable, are dropped.
    assert rows["down", "inner"]["marks"] > 0 == rows["down", "inner"]["tail_drops"]


MARKED = """format = 1
duration = "10 s"
[link.pipe]
from = "a"
to = "b"
rate = "2 Mbps"
delay = "10 ms"
queue = "two"
[queue.two]
discipline = "classes"
schedule = "time-shifted"
tshift = "50 ms"
limit = "100 packets"
class.fast = { dscp = ["EF"], discipline = "droptail", limit = "50 packets" }
class.rest = { order = 1, discipline = "red", limit = "50 packets", min_th = "5 packets", max_th = "15 packets", ecn = true }
[capture.pipe]
link = "pipe"
[tcp.default]
ecn = "rfc3168"
[flow.bulk]
from = "a"
to = "b"
traffic = "ftp"
[flow.voice]
from = "a"
to = "b"
dscp = "EF"
traffic = { kind = "cbr", rate = "100 kbps", packet = "200 B" }
[flow.marked]
from = "a"
to = "b"
dscp = 34
traffic = "ftp"
"""


def test_a_dscp_finds_its_class_and_hides_no_codepoint_from_the_analysis(tmp_path):
    (tmp_path / "dscp.toml").write_text(MARKED)
    run = ecnlab.run(tmp_path / "dscp.toml", seed=1, captures=tmp_path / "captures")
    rows = {row["class"]: row for row in run.table("classes_run").filter(pl.col("link") == "pipe").to_dicts()}
    queues = {row["group"]: row for row in run.table("queues_run").filter(pl.col("link") == "pipe").to_dicts()}
    assert rows["fast"]["arrived"] == queues["voice"]["arrived"] > 0
    assert rows["rest"]["arrived"] == queues["bulk"]["arrived"] + queues["marked"]["arrived"]
    trace = ecnlab.trace(next((tmp_path / "captures").glob("*.pcapng")))
    assert len(trace.connections) == 2
    assert trace.directions["ce"].sum() == queues["all"]["marks"] > 0
