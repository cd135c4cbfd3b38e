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

link.pipe = { from = "a", to = "b", rate = "2 Mbps", delay = "10 ms", queue = "two" }
capture.pipe = { link = "pipe" }
tcp.default = { ecn = "rfc3168" }
flow.bulk = { from = "a", to = "b", traffic = "ftp" }
flow.voice = { from = "a", to = "b", dscp = "EF", traffic = { kind = "cbr", rate = "100 kbps", packet = "200 B" } }
flow.marked = { from = "a", to = "b", dscp = 34, traffic = "ftp" }

[queue.two]
discipline = "classes"
schedule = "time-shifted"
tshift = "50 ms"
limit = "100 packets"
class.fast = { dscp = ["EF"], discipline = "droptail", limit = "50 packets" }
class.rest = { order = 1, discipline = "red", limit = "50 packets", min_th = "5 packets", max_th = "15 packets", ecn = true }
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


def times_of(run, link):
    """The sojourns in the queue of ``link`` of each group, in s, by the packet events of flows that it neither drops nor reorders."""
    events = run.packets.filter(link=link).join(
        run.flows.select(pl.col("name").alias("flow"), "group"), on="flow", how="left"
    )
    for (group,), own in events.group_by("group", maintain_order=True):
        came, left = (own.filter(event=name)["time_ps"] for name in ("enqueue", "dequeue"))
        pairs = zip(came[: len(left)], left, strict=True)
        yield group, sorted((go - come) * 1e-12 for come, go in pairs if go > WARMUP_PS)


WARMUP_PS = 100_030_000_000

PROBED = """
format = 1
duration = "3.00003 s"
warmup = "0.10003 s"

link.pipe = { from = "a", to = "b", rate = "1 Mbps", delay = "1 ms", queue = "wide" }
queue.wide = { discipline = "droptail", limit = "1000 packets", quantiles = true }

[flow.probe]
from = "a"
to = "b"
traffic = { kind = "cbr", rate = "100 kbps", packet = "125 B" }

[flow.bursts]
from = "a"
to = "b"
traffic = { kind = "on-off", rate = "3 Mbps", packet = "1000 B", on = "50 ms", off = "200 ms" }
"""


def test_quantiles_of_each_group_are_those_of_its_packets(tmp_path):
    (tmp_path / "run.toml").write_text(PROBED)
    run = ecnlab.run(tmp_path / "run.toml", seed=1, events=True)
    rows = {row["group"]: row for row in run.table("sojourns").to_dicts()}
    assert set(rows) == {"probe", "bursts"}
    bins = run.table("sojourn_bins").filter(link="pipe")
    for group, times in times_of(run, "pipe"):
        row = rows[group]
        assert row["departed"] == len(times) > 100
        assert row["sojourn_max_s"] == pytest.approx(times[-1], rel=1e-12)
        assert row["sojourn_mean_s"] == pytest.approx(sum(times) / len(times), rel=1e-9)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
            exact = times[max(-int(-share * len(times) // 1), 1) - 1]
            assert row[f"sojourn_{name}_s"] == pytest.approx(exact, rel=0.004, abs=1e-12)
        own = bins.filter(group=group)
        for low, high, number in own.select("from_s", "to_s", "packets").iter_rows():
            assert sum(low <= time < high for time in times) == number
    # The whole is the sum of the groups, and stands in `links`, too.
    assert bins.filter(group="all")["packets"].sum() == bins.filter(pl.col("group") != "all")["packets"].sum()
    of_link, of_class = (run.table(name).filter(link="pipe").row(0, named=True) for name in ("links", "classes"))
    for name in ("sojourn_p50_s", "sojourn_p99_s", "sojourn_p999_s"):
        assert of_link[name] == of_class[name] > 0
    assert run.links.filter(pl.col("link") != "pipe")["sojourn_p50_s"].null_count() == 1


def test_without_quantiles_there_are_none(scenario):
    run = ecnlab.run(scenario, seed=1)
    assert {"sojourns", "sojourn_bins"}.isdisjoint(run.tables)
    assert run.links["sojourn_p50_s"].null_count() == run.links.height
    with pytest.raises(ecnlab.EcnlabError, match="set quantiles = true in a queue"):
        run.table("sojourns")


def test_bins_of_classes_are_those_of_the_classes(tree):
    bins = tree.table("sojourn_bins").filter(link="bottleneck", group="all")
    found = dict(bins.group_by("class").agg(pl.col("packets").sum()).iter_rows())
    rows = tree.table("classes").filter(link="bottleneck")
    assert found == {row["class"]: row["departed"] for row in rows.to_dicts() if row["departed"]}


def test_a_second_queue_does_not_count_the_marks_of_the_first(cli, tmp_path):
    """Two queues in series mark: some packets arrive at the second with CE."""
    red = 'discipline = "red"\nlimit = "200 packets"\nmin_th = "1 packets"\nmax_th = "150 packets"\nmax_p = 1.0\necn = true'
    (tmp_path / "two.toml").write_text(f"""
format = 1
duration = "5 s"
[link.first]
from = "a"
to = "r"
rate = "4 Mbps"
delay = "5 ms"
queue = "q"
[link.second]
from = "r"
to = "s"
rate = "2 Mbps"
delay = "5 ms"
queue = "q"
[link.third]
from = "s"
to = "b"
rate = "2 Mbps"
delay = "5 ms"
queue = "open"
[queue.q]
{red}
[queue.open]
discipline = "droptail"
limit = "100 packets"
[flow.bulk]
count = 4
from = "a"
to = "b"
traffic = "ftp"
tcp = "tcp"
[tcp.tcp]
ecn = "rfc3168"
""")
    done = cli("run", "two.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    run = ecnlab.load(tmp_path / "out")
    queues = {row["link"]: row for row in run.table("queues").filter(group="all").to_dicts()}
    first, second, third = (queues[name] for name in ("first", "second", "third"))
    # Packets with CE that arrive are those marked before, less those on the way; the third queue is always empty.
    assert first["ce_arrived"] == 0 and 0 <= first["marks"] - second["ce_arrived"] <= 8
    assert 0 <= first["marks"] + second["marks"] - third["ce_arrived"] <= 100
    assert first["marks"] > 0 and first["marks_on_ce"] == 0 and second["marks_on_ce"] > 0
    # Each packet is counted as marked once. Those in the second queue and on its link have not been received.
    received = run.table("flows_run")["ce_received"].sum()
    assert received <= first["marks"] + second["marks"] <= received + 8
