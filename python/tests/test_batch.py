"""Many runs in one process: the same values as a sweep's, points, searches, interruptions, errors."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
import tomllib
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from conftest import SCENARIO

import ecnlab
from ecnlab.cli import cli
from ecnlab.scenario.files import read_experiment

ROOT = Path(__file__).parents[2]
LAW = ROOT / "examples/laws/reno.py"

GOODPUT = {"goodput": {"table": "flows", "column": "goodput_bps", "aggregate": "sum"}}

EXPERIMENT = """\
format = 1
scenario = "pipe.toml"
replicates = 3

[grid.rate]
path = "link.pipe.rate"
values = ["1 Mbps", "3 Mbps"]

[arm.a]
set = {}
[arm.b]
set = { duration = "6 s" }

[metrics]
mean = { table = "flows", column = "rtt_mean_s" }
sum = { table = "flows", column = "segments_sent", aggregate = "sum" }
min = { table = "flows", column = "rtt_min_s", aggregate = "min" }
max = { table = "queues", column = "arrived", aggregate = "max", where = { group = ["all", "marked"] } }
median = { table = "links", column = "sojourn_mean_s", aggregate = "median" }
p50 = { table = "links", column = "queue_mean_bytes", aggregate = "p50" }
p90 = { table = "queue_series", column = "average_packets", aggregate = "p90" }
p99 = { table = "packets", column = "wire_len", aggregate = "p99", where = { event = "deliver", protocol = "tcp" } }
count = { table = "flows", column = "finish_s", aggregate = "count" }
rows = { table = "packets", aggregate = "count", where = { event = "drop_box" } }
whole = { table = "flows_run", column = "bytes_delivered", where = { ecn = false, flow = [0, 1] } }
jain = { table = "flows", column = "goodput_bps", aggregate = "jain" }
none = { table = "flows", column = "rtt_max_s", where = { flow = 7 } }
ratio = { ratio = ["mean", "min"], minus_one = true }
zero = { ratio = ["mean", "rows"] }
less = { difference = ["max", "sum"] }
"""


@pytest.fixture
def experiment(tmp_path):
    (tmp_path / "pipe.toml").write_text(SCENARIO)
    path = tmp_path / "pipes.toml"
    path.write_text(EXPERIMENT)
    return path


def test_every_aggregate_is_that_of_a_sweep_to_the_last_bit(experiment, tmp_path):
    swept = ecnlab.sweep(experiment, tmp_path / "out", workers=2).metrics
    assert ecnlab.batch(experiment).equals(swept, null_equal=True)
    assert ecnlab.batch(experiment, threads=1).equals(swept, null_equal=True)
    undefined = set(swept.filter(pl.col("value").is_null())["metric"])
    assert undefined == {"none", "zero"}, "and the others have values"


def experiments():
    """The experiments of papers and examples that define metrics."""
    for path in sorted([*ROOT.glob("papers/*/*.toml"), *ROOT.glob("examples/**/*.toml")]):
        if {"scenario", "metrics"} <= tomllib.loads(path.read_text()).keys():
            yield pytest.param(path, id=str(path.relative_to(ROOT)))


@pytest.mark.slow
@pytest.mark.parametrize("path", list(experiments()))
def test_the_metrics_of_papers_and_examples_are_those_of_a_sweep_to_the_last_bit(path, tmp_path):
    one = read_experiment(path).with_replicates(1)
    swept = ecnlab.sweep(one, tmp_path / "out", workers=2, cache=False).metrics
    assert ecnlab.batch(one, cache=False).equals(swept, null_equal=True)


def test_the_command_writes_the_same_table(experiment, tmp_path):
    found = ecnlab.batch(experiment)
    printed = CliRunner().invoke(cli, ["batch", str(experiment)])
    assert printed.exit_code == 0 and printed.stdout == found.write_csv()
    out = tmp_path / "table.parquet"
    assert CliRunner().invoke(cli, ["batch", str(experiment), "--out", str(out)]).exit_code == 0
    assert pl.read_parquet(out).equals(found, null_equal=True)


def test_every_point_runs_with_every_seed_in_the_order_given(tmp_path):
    path = tmp_path / "pipe.toml"
    path.write_text(SCENARIO)
    points = pl.DataFrame({"link.pipe.rate": ["3 Mbps", "1 Mbps"]})
    found = ecnlab.batch(path, points, seeds=[9, 2], metrics=GOODPUT)
    assert found.select("link.pipe.rate", "seed").rows() == [("3 Mbps", 9), ("3 Mbps", 2), ("1 Mbps", 9), ("1 Mbps", 2)]
    alone = ecnlab.run(path, 2, overrides={"link.pipe.rate": "1 Mbps"}).flows["goodput_bps"].sum()
    assert found["value"][3] == alone
    assert ecnlab.batch(path, points.to_dicts(), seeds=[9, 2], metrics=GOODPUT).equals(found)


def test_a_search_submits_while_results_come(tmp_path):
    path = tmp_path / "pipe.toml"
    path.write_text(SCENARIO)
    seen = []
    with ecnlab.Batch(path, GOODPUT) as batch:
        assert batch.submit(seeds=[1, 2]) == range(2)
        for run, seed, values in batch.results():
            seen.append((run, seed, values["goodput"]))
            if run == 0:
                assert batch.submit([{"duration": "6 s"}], seeds=[5]) == range(2, 3)
        assert batch.open == 0
    assert sorted(run for run, _, _ in seen) == [0, 1, 2]
    assert {seed for _, seed, _ in seen} == {1, 2, 5}


def test_a_run_that_fails_loses_no_other(tmp_path):
    class Ended:
        """A pool whose runs have all ended when the first is taken."""

        open = 3

        def take(self):
            self.open = 0
            return [(0, "books"), (1, [1.0]), (2, [2.0])]

        def cancel(self):
            pass

    path = tmp_path / "pipe.toml"
    path.write_text(SCENARIO)
    with ecnlab.Batch(path, GOODPUT) as batch:
        batch._pool, batch._seeds = Ended(), [1, 2, 3]
        with pytest.raises(ecnlab.RunError, match=r"run 0 \(seed 1\): books"):
            list(batch.results())
        assert batch.open == 2
        assert [(run, values["goodput"]) for run, _, values in batch.results()] == [(1, 1.0), (2, 2.0)]


@pytest.fixture
def interruptible():
    """Python's handler of SIGINT: other tests of this process may have replaced it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_all_runs(tmp_path, interruptible):
    path = tmp_path / "pipe.toml"
    path.write_text(SCENARIO)
    before = set(threading.enumerate())
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        ecnlab.batch(path, [{"duration": "100000 s", "warmup": "1 s"}], seeds=range(8), metrics=GOODPUT)
    deadline = time.monotonic() + 60
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before


@pytest.mark.parametrize(
    ("points", "metrics", "kind", "message"),
    [
        ([{"link.pipe.speed": 1}], GOODPUT, ecnlab.SpecError, "did you mean `"),
        ([{}], {"x": {"table": "flows", "column": "goodput"}}, ecnlab.MetricError, "did you mean `goodput_bps`"),
        ([{}], {"x": {"table": "flows"}}, ecnlab.SpecError, "lacks `column`"),
        ([{}], {"x": {"ratio": ["x", "x"]}}, ecnlab.SpecError, "would contain itself"),
        (
            [{}],
            {"x": {"table": "links", "column": "lost", "where": {"link": "pip"}}},
            ecnlab.MetricError,
            "did you mean `pipe`",
        ),
        ([{}], {"x": {"table": "queue_series", "column": "link"}}, ecnlab.MetricError, "holds names"),
        ([{}], None, ecnlab.EcnlabError, "needs `metrics`"),
    ],
    ids=["key", "column", "structure", "circle", "value", "names", "no metrics"],
)
def test_what_cannot_be_answered_is_refused(tmp_path, points, metrics, kind, message):
    path = tmp_path / "pipe.toml"
    path.write_text(SCENARIO)
    with pytest.raises(kind, match=message):
        ecnlab.batch(path, points, metrics=metrics)


def test_user_defined_laws_are_refused(tmp_path):
    shutil.copy(LAW, tmp_path)
    path = tmp_path / "pipe.toml"
    path.write_text(SCENARIO.replace("[tcp.plain]", '[tcp.plain]\ncongestion = { python = "reno.py:Reno" }', 1))
    with pytest.raises(ecnlab.EcnlabError, match="user-defined laws, which run in processes of their own"):
        ecnlab.batch(path, metrics=GOODPUT)
