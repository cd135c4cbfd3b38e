"""A run has the columns of its own laws; a sweep those of all its runs, missing where a run has not the law."""

from __future__ import annotations

import json

import polars as pl
import pytest
from conftest import assert_same_bytes

import ecnlab
from ecnlab import laws
from ecnlab.folder import finished_runs
from ecnlab.folder.columns import TABLES
from ecnlab.folder.tables import stacked

NETWORK = """format = 1
duration = "2 s"
sample = "100 ms"

link.l = { from = "a", to = "b", rate = "2 Mbps", delay = "10 ms", queue = "q" }
flow.f = { from = "a", to = "b", traffic = "ftp" }
tcp.default = { profile = "linux-7" }
queue.q = { discipline = "droptail", limit = "20 packets" }
"""

ARMS = """format = 1
title = "three queues and two window laws"
scenario = "scenario.toml"
seed = 3
replicates = 2
[arm.tail]
set = {}
[arm.codel]
set = { "queue.q" = { discipline = "codel", limit = "20 packets" } }
[arm.red]
set = { "queue.q" = { discipline = "red", limit = "20 packets", min_th = "5 packets", max_th = "15 packets" }, "tcp.default.congestion" = "bbr" }
[metrics]
average = { table = "links", column = "average_mean_packets" }
below = { table = "links", column = "share_below", aggregate = "sum" }
"""


def core(table: str) -> list[str]:
    """The columns of every run."""
    return [name for name in TABLES[table] if name not in laws.columns(table)]


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(NETWORK)
    return path


def test_a_run_without_laws_that_add_columns_has_those_of_every_run(network):
    run = ecnlab.run(network, 1)
    for table in ("links", "links_run", "queue_series", "flow_series"):
        assert run.table(table).columns == core(table.removesuffix("_run")), table


def test_a_run_has_the_columns_of_its_laws(network):
    codel = {"queue.q.discipline": "codel", "queue.q.quantiles": True}
    run = ecnlab.run(network, 1, overrides=codel | {"tcp.default.congestion": "dctcp", "tcp.default.ecn": "rfc3168"})
    assert run.table("queue_series").columns == [*core("queue_series"), "codel_count"]
    assert run.table("class_series").columns == [*core("class_series"), "codel_count"]
    assert run.table("flow_series").columns == [*core("flow_series"), "alpha"]
    assert set(run.table("links").columns) == {*core("links"), "share_dropping"}
    assert set(run.table("classes").columns) == {*core("classes"), "share_dropping"}
    assert run.manifest["tables"]["queue_series"]["units"]["codel_count"] == "count"


def test_a_slow_start_threshold_is_missing_until_the_first_reduction(network):
    # The pipe and the queue hold less than the receive window: the first loss sets the threshold to half the data outstanding.
    run = ecnlab.run(network, 1)
    series = run.table("flow_series").filter(pl.col("cwnd_bytes").is_not_null())
    thresholds = series["ssthresh_bytes"].to_list()
    reduced = next(i for i, one in enumerate(thresholds) if one is not None)
    assert reduced > 0, "the first sample is in slow start"
    largest = series["flight_bytes"].max()
    assert all(2 * 1460 <= one <= largest for one in thresholds[reduced:])


@pytest.mark.parametrize("batch", [1, 60])
def test_a_sweep_has_the_columns_of_all_its_laws(network, tmp_path, monkeypatch, batch):
    monkeypatch.setattr(finished_runs, "BATCH", batch)
    path = tmp_path / "experiment.toml"
    path.write_text(ARMS)
    sweep = ecnlab.sweep(path, tmp_path / "out", keep=["queue_series", "flow_series"])
    series = sweep.table("queue_series").collect()
    added = [name for name in series.columns if name in laws.columns("queue_series")]
    assert added == ["average_packets", "average_bytes", "max_p", "codel_count"]
    there = {arm: {name for name in added if not one[name].is_null().all()} for (arm,), one in series.group_by("arm")}
    assert there == {"tail": set(), "codel": {"codel_count"}, "red": {"average_packets", "average_bytes", "max_p"}}
    alone = ecnlab.run(network, sweep.runs["seed"][0]).table("queue_series")
    first = sweep.runs["seed"][0]
    of_first = series.filter(arm="tail", replicate=0)
    assert sweep.runs.filter(arm="tail", replicate=0)["seed"].item() == first
    assert of_first.select(alone.columns).equals(alone)
    assert "bbr_bw_bps" in sweep.table("flow_series").collect_schema()
    metrics = sweep.metrics.filter(replicate=0)
    found = {(arm, metric): value for arm, metric, value in metrics.select("arm", "metric", "value").iter_rows()}
    assert found["tail", "average"] is None and found["codel", "average"] is None and found["red", "average"] > 0
    # The sum of no values is 0, as it was of missing ones.
    assert found["tail", "below"] == 0 and 0 < found["red", "below"] <= 1


def test_more_runs_of_another_law_keep_those_merged_before(network, tmp_path):
    path = tmp_path / "experiment.toml"
    path.write_text(ARMS.replace("[arm.red", "[arm.z_red").replace("replicates = 2", "replicates = 1"))
    ecnlab.sweep(path, tmp_path / "grown", keep=["queue_series"])
    path.write_text(path.read_text().replace("replicates = 1", "replicates = 2"))
    ecnlab.sweep(path, tmp_path / "grown", keep=["queue_series"])
    ecnlab.sweep(path, tmp_path / "once", keep=["queue_series"])
    assert_same_bytes(tmp_path / "grown" / "tables", tmp_path / "once" / "tables")


def test_stacked_rows_have_the_order_of_the_table():
    codel = pl.DataFrame({"id": ["1"], "time_s": [0.0], "codel_count": [1.0]})
    red = pl.DataFrame({"id": ["2"], "time_s": [0.0], "average_packets": [2.0]})
    rows = stacked("queue_series", [codel, red])
    assert rows.columns == ["id", "time_s", "average_packets", "codel_count"]
    assert rows["average_packets"].to_list() == [None, 2.0] and rows["codel_count"].to_list() == [1.0, None]
    assert stacked("queue_series", [red.lazy(), codel.lazy()]).collect().columns == rows.columns


def test_a_manifest_has_the_values_that_a_law_derives(network, tmp_path):
    red = {"queue.q.discipline": "red", "queue.q.min_th": "auto packets", "queue.q.max_th": "auto packets"}
    ecnlab.run(network, 1, overrides=red, out=tmp_path / "run")
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    # 2 Mb/s are 500 packets of 500 B a second: half of 5 ms of them are less than 5.
    assert manifest["in_force"] == {"l": {"min_th": "5 packets", "max_th": "15 packets"}}
    assert manifest["spec"]["queue"]["q"]["min_th"] == "auto packets"
    assert ecnlab.run(network, 1).manifest["in_force"] == {}
