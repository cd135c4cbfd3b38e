"""Batches and inferences on a Dask cluster: values of this machine, the cache, errors, interrupts, damaged answers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from conftest import SCENARIO
from dask_processes import Processes, bounded, shared, until
from test_batch import EXPERIMENT, GOODPUT
from test_infer import EXPERIMENT as INFERRED
from test_infer import QUESTION
from test_own_columns import NETWORK

import ecnlab
from ecnlab.base.errors import RunError
from ecnlab.cli import cli
from ecnlab.runs import cluster_answer
from ecnlab.runs.block import SECONDS as BLOCK_SECONDS
from ecnlab.runs.block import Ended, Queue
from ecnlab.runs.cluster import connected
from ecnlab.runs.cluster_metrics import MetricsPool

__all__ = ["bounded", "shared"]

pytest.importorskip("distributed", reason="Dask distributed is not installed (pip install 'distributed>=2026.8')")

PRELOADED = """
from ecnlab.runs import cluster_worker
if not hasattr(cluster_worker, "real"):  # Dask executes this text twice
    cluster_worker.real = cluster_worker._measured
def measured(scenario, scratch, requested, wanted):
    ended, found = cluster_worker.real(scenario, scratch, requested, wanted)
    for run, seed in requested["runs"]:
        {change}
    return ended, found
cluster_worker._measured = measured
"""
"""Preloaded by a worker that executes ``change`` for each run."""

FAILS = "if seed == 3 and found['values'].pop(run): ended.failed[run] = cluster_worker.RunError('books')"
DIES = "import os; os.kill(os.getpid(), 9)"
OTHER = "found['values']['99'] = found['values'].pop(run)"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe.toml"
    path.write_text(SCENARIO)
    return path


def test_a_batch_has_the_values_of_this_machine_in_the_same_order(pipe, shared):
    experiment = pipe.with_name("pipes.toml")
    experiment.write_text(EXPERIMENT)
    calls: list[int] = []
    found = ecnlab.batch(experiment, cluster=shared.address, progress=lambda done, _: calls.append(done))
    assert found.equals(ecnlab.batch(experiment), null_equal=True)
    assert calls == list(range(13))
    assert {"none", "zero"} == set(found.filter(pl.col("value").is_null())["metric"])
    points, seeds = [{"link.pipe.rate": "3 Mbps"}, {}], [9, 2]
    asked = {"points": points, "seeds": seeds, "metrics": GOODPUT}
    assert ecnlab.batch(pipe, **asked, cluster=shared.address).equals(ecnlab.batch(pipe, **asked))


def test_an_inference_on_a_cluster_of_its_own_has_the_same_bytes(tmp_path, monkeypatch):
    for name, text in (
        ("scenario", NETWORK),
        ("experiment", INFERRED),
        ("question", QUESTION.partition("[target.gain]")[0]),
    ):
        (tmp_path / f"{name}.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    sent: list[int] = []
    real = MetricsPool.submit
    monkeypatch.setattr(
        MetricsPool, "submit", lambda pool, first, *rest: (sent.append(first), real(pool, first, *rest))
    )
    asked = ["infer", "question.toml", "--settings", "40", "--waves", "2", "--workers", "2", "--out"]
    here = CliRunner().invoke(cli, [*asked, "here"])
    assert here.exit_code == 0 and not sent, here.output
    there = CliRunner().invoke(cli, [*asked, "there", "--cluster", "local"])
    assert there.exit_code == 0 and len(sent) == 40, there.output
    assert "cluster: local, 2 workers\n" in there.stderr
    assert there.stdout == here.stdout.replace("here", "there")
    names = sorted(path.name for path in Path("here").iterdir())
    assert names == ["answer.json", "infer.html", "settings.parquet", "wave-1.parquet", "wave-2.parquet"]
    for name in names:
        assert Path("here", name).read_bytes() == Path("there", name).read_bytes(), name


def test_runs_submitted_while_results_come_are_done(pipe, shared):
    seen: list[int] = []
    with connected(shared.address) as cluster, ecnlab.Batch(pipe, GOODPUT, cluster=cluster) as batch:
        batch.submit(seeds=[1, 2])
        for run, _, _ in batch.results():
            seen.append(run)
            if run == 0:
                batch.submit([{"duration": "6 s"}], seeds=[5])
        assert sorted(seen) == [0, 1, 2] and batch.open == 0
        assert batch.submit(seeds=[7]) == range(3, 4)
        assert [run for run, _, _ in batch.results()] == [3]


def test_the_cache_of_the_client_is_used_and_filled(pipe, shared, tmp_path, monkeypatch):
    monkeypatch.setenv("ECNLAB_CACHE", str(tmp_path / "cache"))
    some = ecnlab.batch(pipe, seeds=[2, 5], metrics=GOODPUT)
    sent: list[str] = []
    real = MetricsPool._request

    def request(pool, block):
        sent.extend(run.id for run in block)
        return real(pool, block)

    monkeypatch.setattr(MetricsPool, "_request", request)
    found = ecnlab.batch(pipe, seeds=range(1, 7), metrics=GOODPUT, cluster=shared.address)
    assert sorted(sent) == ["0", "2", "3", "5"]
    assert found["value"][1] == some["value"][0] and found["value"][4] == some["value"][1]
    monkeypatch.setattr(MetricsPool, "_request", None)  # no run is sent
    assert ecnlab.batch(pipe, seeds=range(1, 7), metrics=GOODPUT, cluster=shared.address).equals(found)


def test_a_run_that_fails_is_named_and_the_others_can_be_taken(pipe, tmp_path):
    with Processes(tmp_path) as processes, connected(processes.address) as cluster:
        processes.start_worker("failing", PRELOADED.format(change=FAILS))
        with ecnlab.Batch(pipe, GOODPUT, cluster=cluster) as batch:
            batch.submit(seeds=range(1, 7))
            taken: list[int] = []
            with pytest.raises(RunError, match=r"run 2 \(seed 3\): books \(worker tcp://127.0.0.1"):
                taken.extend(run for run, _, _ in batch.results())
            taken += [run for run, _, _ in batch.results()]
        assert sorted(taken) == [0, 1, 3, 4, 5]


def test_runs_whose_worker_dies_are_done_by_another(pipe, tmp_path):
    with Processes(tmp_path) as processes, connected(processes.address) as cluster:
        dying = processes.start_worker("dying", PRELOADED.format(change=DIES))
        until(lambda: cluster.workers == 1, dying)

        def begun(done: int, _total: int) -> None:
            if done == 0:
                processes.start_worker("other")

        asked = {"seeds": range(1, 5), "metrics": GOODPUT}
        found = ecnlab.batch(pipe, **asked, cluster=cluster, progress=begun)
        assert dying.wait() == -9
    assert found.equals(ecnlab.batch(pipe, **asked))


def test_a_worker_that_answers_for_another_run_is_refused(pipe, tmp_path):
    with Processes(tmp_path) as processes:
        processes.start_worker("hostile", PRELOADED.format(change=OTHER))
        with pytest.raises(RunError, match=r"run 0 \(seed 1\): its worker returned values of '99'"):
            ecnlab.batch(pipe, metrics=GOODPUT, cluster=processes.address)


def test_an_interrupt_leaves_the_workers_free(pipe, shared):
    long = [{"duration": "2000000 s", "sample": "1000 s"}]
    with connected(shared.address) as cluster:

        def interrupted(_self):
            until(lambda: sum(map(len, cluster.client.processing().values())) >= 2)
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(MetricsPool, "_next", interrupted)  # as Ctrl-C while runs are in progress
            ecnlab.batch(pipe, long, seeds=range(4), metrics=GOODPUT, cluster=cluster)
        assert ecnlab.batch(pipe, metrics=GOODPUT, cluster=cluster).height == 1


class Run:
    """A run of a queue."""

    def __init__(self, name: str) -> None:
        self.id, self.seed, self.scenario, self.hash = name, 1, None, "same"


def test_a_queue_continues_with_runs_that_are_added():
    queue = Queue[Run](iter(()), 0, lambda _run: False)
    assert queue.take(1) == []
    runs = [Run(str(number)) for number in range(8)]
    queue.add(runs[:2])
    first = queue.take(1)
    assert first == runs[:1]
    queue.note(first, Ended(seconds=BLOCK_SECONDS / 100))
    queue.add(runs[2:])
    assert queue.take(1) == runs[1:4], "half of those that are left"


FAILED = {"0": cluster_answer.Failure("RunError", "books")}


@pytest.mark.parametrize(
    ("values", "errors", "message"),
    [
        ({"0": [1.0, None], "2": [1.0, 2.0]}, {}, "values of '2'"),
        ({"0": [1.0, None]}, FAILED, "values of '0'"),
        ({"0": [1.0]}, {}, "another number of metrics"),
        ({"0": [1.0, None]}, {"7": FAILED["0"]}, "an error of '7'"),
        ({}, {}, "no result"),
    ],
    ids=["another run", "both", "too few", "another error", "nothing"],
)
def test_values_that_were_not_requested_are_refused(values, errors, message):
    answer = cluster_answer.Answer("tcp://w", values=values, errors=errors)
    with pytest.raises(RunError, match=message):
        cluster_answer.values(answer, {"0", "1"}, 2)


def test_a_search_has_the_maps_of_this_machine(tmp_path, shared):
    search = Path(__file__).parents[2] / "examples" / "search" / "dualpi2-step.toml"
    maps = []
    for where in (["--cluster", shared.address], []):
        folder = tmp_path / f"{len(where)}"
        done = CliRunner().invoke(
            cli, ["search", "space", str(search), "--evaluations", "64", "--out", str(folder), *where]
        )
        assert done.exit_code == 0, done.output
        maps.append((folder / "search.json").read_bytes())
    assert maps[0] == maps[1]
