"""Sweeps on a Dask cluster: a real scheduler and real workers on the loopback interface."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import EXPERIMENT, SCENARIO, assert_same_bytes, ecnlab_command, first_fast, mostly_slow
from dask_processes import Processes, bounded, shared, until
from small_paper import in_place_of_the_papers
from test_blocks import ABORT, block_size, stop

import ecnlab
from ecnlab import papers, scoring
from ecnlab.base.errors import LawError
from ecnlab.cli.score import score as score_command
from ecnlab.folder.names import MANIFEST
from ecnlab.runs.block import Ended, Queue
from ecnlab.runs.cluster import ClusterPool, connected
from ecnlab.scoring.sheet import Kind, Sheet

__all__ = ["bounded", "shared"]

pytest.importorskip("distributed", reason="Dask distributed is not installed (pip install 'distributed>=2026.8')")

KILLED = """
import os, signal
from ecnlab.runs import cluster_worker
if not hasattr(cluster_worker, "real"):  # Dask executes this text twice
    cluster_worker.real = cluster_worker._watched
def killed(one, scenario, task, wanted):
    ids = [run for run, seed in task["runs"]]
    if {when}:
        one._running().stdin.write("")  # the process of the run has begun
        os.kill(os.getpid(), signal.SIGKILL)
    return cluster_worker.real(one, scenario, task, wanted)
cluster_worker._watched = killed
"""
"""Preloaded by a worker that is killed in the middle of a run, ``when`` a condition holds."""

FAILING = """
from ecnlab.runs import cluster_worker
def failing(*_):
    raise RecursionError("far too deep")
cluster_worker._watched = failing
"""
"""Preloaded by a worker that fails in a way that nobody has foreseen."""

FAILING_RUN = """
from ecnlab.runs import workers
if "exec" not in workers._START:  # Dask executes this text twice
    workers._START = workers._START.replace("main()", f"exec({text!r}); main()")
"""
"""Preloaded by a worker whose processes execute ``text`` first."""

ANOTHER = """
from ecnlab.base import provenance
provenance.build = lambda: "fedcba9876543210"
"""
"""Preloaded by a worker whose binary is another one."""

NONE = "import sys; sys.modules['ecnlab'] = None"
"""Preloaded by a worker that has no ecnlab."""


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    with Processes(tmp_path_factory.mktemp("alone")) as processes:
        yield processes


@pytest.fixture
def alone(scheduler: Processes) -> Iterator[Processes]:
    """A scheduler without workers, for tests with workers of their own, which it has forgotten after each test."""
    yield scheduler
    with connected(scheduler.address) as cluster:
        until(lambda: cluster.workers == 0)


def test_tables_and_captures_are_those_of_a_local_sweep(experiment, shared, tmp_path):
    asked = {"replicates": 1, "keep": ["packets", "queue_series"], "capture": ["pipe"]}
    here = ecnlab.sweep(experiment, tmp_path / "here", **asked)
    calls: list[tuple[int, int]] = []
    there = ecnlab.sweep(
        experiment,
        tmp_path / "there",
        **asked,
        cluster=shared.address,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls == [(done, 4) for done in range(5)]
    assert there.table("packets").collect().height > 0
    assert_same_bytes(here.folder / "tables", there.folder / "tables")
    assert len(here.captures) == 4
    for run, files in here.captures.items():
        assert [file.read_bytes() for file in files] == [file.read_bytes() for file in there.captures[run]]


def test_a_task_is_a_block_of_runs(experiment, shared, tmp_path, monkeypatch):
    block_size(monkeypatch, 30)
    here = ecnlab.sweep(experiment, tmp_path / "here", replicates=15, cache=False)
    calls: list[int] = []
    asked = {"replicates": 15, "cache": False, "progress": lambda done, _: calls.append(done)}
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(importlib.import_module("ecnlab.runs.sweep"), "merge", stop)
        ecnlab.sweep(experiment, tmp_path / "there", cluster=shared.address, **asked)
    assert calls == list(range(61))
    assert len(list((tmp_path / "there" / "parts").glob("[!.]*.arrows"))) < 40
    there = ecnlab.sweep(experiment, tmp_path / "there", **asked)
    assert calls[61:] == [60]
    assert_same_bytes(here.folder / "tables", there.folder / "tables")


def test_few_blocks_are_sent_until_one_has_ended_and_then_many_runs(monkeypatch):
    client = SimpleNamespace(nthreads=lambda: {"one": 1, "two": 2})
    pool = ClusterPool(
        SimpleNamespace(scenarios=tuple), None, None, SimpleNamespace(most=None, local=False, client=client)
    )
    queue = Queue(iter(()), 0, lambda _run: False)
    assert pool._has_room([1] * 5, queue) and not pool._has_room([1] * 6, queue)
    with monkeypatch.context() as patch:
        patch.setattr("ecnlab.runs.cluster.LEARN_SECONDS", 0)  # runs are long
        assert pool._has_room([1] * 99, queue) and not pool._has_room([1] * 100, queue)
    queue.note([SimpleNamespace(id="a", hash="b")], Ended(seconds=1))
    assert pool._has_room([1] * 99, queue) and not pool._has_room([1] * 100, queue)
    assert pool._has_room([60] * 5, queue) and not pool._has_room([60] * 6, queue)


@pytest.mark.parametrize(
    ("how", "message"), first_fast(1, [("os.abort()", "SIGABRT"), ("raise RunError('books')", "books")])
)
def test_a_run_that_fails_in_a_block_loses_no_other(experiment, alone, tmp_path, monkeypatch, how, message):
    block_size(monkeypatch, 30)
    whole = ecnlab.sweep(experiment, tmp_path / "whole", replicates=10, cache=False)
    dead = whole.runs["id"][25]
    preload = f"text = {textwrap.dedent(ABORT.format(dead=dead, how=how))!r}\n{FAILING_RUN}"
    with alone.worker(message, preload), pytest.raises(ecnlab.RunError, match=f"run {dead} .*{message}") as error:
        ecnlab.sweep(experiment, tmp_path / "out", replicates=10, cache=False, cluster=alone.address)
    assert str(error.value).count("repeats only this run") == 1
    calls: list[int] = []
    mended = ecnlab.sweep(
        experiment, tmp_path / "out", replicates=10, cache=False, progress=lambda done, _: calls.append(done)
    )
    assert calls == [39, 40]
    assert_same_bytes(whole.folder / "tables", mended.folder / "tables")


def test_finished_runs_are_not_repeated_whichever_way_they_were_made(experiment, shared, tmp_path):
    calls: list[tuple[int, int]] = []
    asked = {"out": tmp_path / "out", "progress": lambda done, total: calls.append((done, total))}
    ecnlab.sweep(experiment, replicates=1, **asked)
    with connected(shared.address) as cluster:
        ecnlab.sweep(experiment, replicates=2, cluster=cluster, **asked)
        until(lambda: not any(cluster.client.has_what().values()))  # neither scheduler nor workers hold results
        assert cluster.client.processing().keys() == cluster.client.nthreads().keys()
    ecnlab.sweep(experiment, replicates=2, **asked)
    assert calls == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4), (4, 8), (5, 8), (6, 8), (7, 8), (8, 8), (8, 8)]
    ecnlab.sweep(experiment, tmp_path / "whole", replicates=2)
    assert_same_bytes(tmp_path / "out" / "tables", tmp_path / "whole" / "tables")


LAW = """
from ecnlab.userlaws import WindowLaw
class Law(WindowLaw):
    def grow(self, window, acked):
        window.cwnd += window.mss {mistake}
    def on_congestion(self, window, event):
        window.ssthresh = 2 * window.mss
        window.cwnd = window.mss
"""


def with_law(folder: Path, mistake: str = "") -> Path:
    """An experiment in a subfolder of ``folder`` whose law is beside that subfolder."""
    (folder / "inside").mkdir()
    (folder / "laws").mkdir()
    (folder / "laws" / "own.py").write_text(LAW.format(mistake=mistake))
    law = '[tcp.ecn]\ncongestion = { python = "../laws/own.py:Law" }\n'
    (folder / "inside" / "pipe.toml").write_text(SCENARIO.replace("[tcp.ecn]\n", law))
    (folder / "inside" / "gain.toml").write_text(EXPERIMENT)
    return folder / "inside" / "gain.toml"


def test_a_law_in_python_goes_with_its_runs(shared, tmp_path):
    experiment = with_law(tmp_path)
    here = ecnlab.sweep(experiment, tmp_path / "here", replicates=1)
    there = ecnlab.sweep(experiment, tmp_path / "there", replicates=1, cluster=shared.address)
    assert_same_bytes(here.folder / "tables", there.folder / "tables")


def test_a_trace_goes_with_its_runs(shared, tmp_path):
    (tmp_path / "fade.csv").write_text("time_s,rate_mbps\n0,2\n1,1\n")
    rate = next(line for line in SCENARIO.splitlines() if line.startswith("rate"))
    (tmp_path / "pipe.toml").write_text(SCENARIO.replace(rate, 'rate = { csv = "fade.csv", every = "2 s" }', 1))
    (tmp_path / "gain.toml").write_text(EXPERIMENT)
    here = ecnlab.sweep(tmp_path / "gain.toml", tmp_path / "here", replicates=1)
    there = ecnlab.sweep(tmp_path / "gain.toml", tmp_path / "there", replicates=1, cluster=shared.address)
    assert_same_bytes(here.folder / "tables", there.folder / "tables")


def test_an_error_of_a_law_is_that_of_a_local_sweep(shared, tmp_path):
    experiment = with_law(tmp_path, mistake="/ (window.cwnd < 5 * window.mss)")
    said = []
    for cluster in (None, shared.address):
        with pytest.raises(LawError, match=r"own.py:5, in Law.grow: ZeroDivisionError") as error:
            ecnlab.sweep(experiment, tmp_path / "out", replicates=1, cluster=cluster)
        said.append(sorted(str(error.value).splitlines()))
    assert said[0] == said[1]


def test_a_worker_may_refuse_laws(alone, tmp_path):
    experiment = with_law(tmp_path)
    careful = alone.worker("careful", "import os; os.environ['ECNLAB_LAWS'] = 'off'")
    with careful, pytest.raises(ecnlab.EcnlabError, match=r"worker tcp://.*ECNLAB_LAWS"):
        ecnlab.sweep(experiment, tmp_path / "out", replicates=1, cluster=alone.address)


def test_a_law_that_changes_during_the_sweep_is_refused(shared, tmp_path):
    experiment = ecnlab.scenario.read_experiment(with_law(tmp_path))
    (tmp_path / "laws" / "own.py").write_text(LAW.format(mistake="* 2"))
    with pytest.raises(ecnlab.EcnlabError, match=r"own\.py: the file has changed"):
        ecnlab.sweep(experiment, tmp_path / "out", cluster=shared.address)


def test_an_interrupted_sweep_leaves_its_workers_free(slow_experiment, experiment, shared, tmp_path):
    pipe = slow_experiment.with_name("pipe.toml")
    pipe.write_text(pipe.read_text().replace('"2000 s"', '"2000000 s"'))  # hours

    with connected(shared.address) as cluster:

        def interrupted(_self):
            until(lambda: sum(map(len, cluster.client.processing().values())) >= 2)
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(ClusterPool, "_next", interrupted)  # as Ctrl-C while runs are in progress
            ecnlab.sweep(slow_experiment, tmp_path / "slow", cluster=cluster)
        pipe.write_text(SCENARIO)
        ecnlab.sweep(experiment, tmp_path / "short", replicates=1, cluster=cluster)


@pytest.mark.parametrize(
    ("preload", "found"),
    [
        (ANOTHER, f"ecnlab {ecnlab.__version__} with binary fedcba9876543210"),
        pytest.param(NONE, "no ecnlab that can be imported", marks=pytest.mark.slow),
    ],
    ids=["another binary", "no ecnlab"],
)
def test_a_worker_with_another_binary_is_refused(experiment, alone, shared, tmp_path, preload, found):
    from ecnlab.base.provenance import build

    with alone.worker(found.replace(" ", "-"), preload), pytest.raises(ecnlab.EcnlabError) as error:
        ecnlab.sweep(experiment, tmp_path / "out", replicates=1, cluster=alone.address)
    said = str(error.value)
    assert "the worker tcp://127.0.0.1:" in said and f" has {found}" in said
    assert f"ecnlab {ecnlab.__version__} with binary {build()}" in said and "Install the same wheel" in said
    assert not list((tmp_path / "out" / "parts").glob("*.arrows"))
    sweep = ecnlab.sweep(experiment, tmp_path / "out", replicates=1, cluster=shared.address)
    assert sweep.runs.height == 4


def test_a_run_whose_worker_is_killed_is_done_by_another(experiment, tmp_path):
    whole = ecnlab.sweep(experiment, tmp_path / "whole", replicates=1)
    with Processes(tmp_path) as processes, connected(processes.address) as cluster:
        dying = processes.start_worker("dying", KILLED.format(when="True"))
        until(lambda: cluster.workers == 1, dying)

        def begun(done: int, _total: int) -> None:
            if done == 0:
                processes.start_worker("other")

        sweep = ecnlab.sweep(experiment, tmp_path / "out", replicates=1, cluster=cluster, progress=begun)
        assert dying.wait() == -9
    assert_same_bytes(whole.folder / "tables", sweep.folder / "tables")


def test_results_that_are_lost_with_their_worker_are_made_again(experiment, tmp_path, monkeypatch):
    whole = ecnlab.sweep(experiment, tmp_path / "whole", replicates=1)
    with Processes(tmp_path) as processes, connected(processes.address) as cluster:
        first, real = processes.start_worker("first"), ClusterPool._ended

        def ended(pool, block, future):
            if first.poll() is None:
                first.kill()
                until(lambda: future.status == "lost")
                processes.start_worker("second")
            return real(pool, block, future)

        monkeypatch.setattr(ClusterPool, "_ended", ended)
        sweep = ecnlab.sweep(experiment, tmp_path / "out", replicates=1, cluster=cluster)
    assert_same_bytes(whole.folder / "tables", sweep.folder / "tables")


def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep blocks from waiting at a worker: one that dies takes them with it."""
    monkeypatch.setattr(ClusterPool, "_has_room", lambda _pool, sizes, _queue: not sizes)


@pytest.mark.slow
def test_a_run_that_kills_its_workers_is_named_and_the_others_are_done(experiment, tmp_path, monkeypatch):
    one_at_a_time(monkeypatch)
    whole = ecnlab.sweep(experiment, tmp_path / "whole", replicates=1)
    dead = whole.runs["id"][2]
    once = {"DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0", "DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0"}
    with Processes(tmp_path, once) as processes:
        for name in ("one", "two"):
            processes.start_worker(name, KILLED.format(when=f"{dead!r} in ids"))
        calls: list[int] = []
        with pytest.raises(ecnlab.RunError, match=f"run {dead} .* its worker died, the last time tcp://127") as error:
            ecnlab.sweep(
                experiment,
                tmp_path / "out",
                replicates=1,
                cluster=processes.address,
                progress=lambda done, _total: calls.append(done),
            )
    assert "arm blind" in str(error.value) or "arm red" in str(error.value)
    assert f"--only {dead}" in str(error.value)
    assert calls == [0, 1, 2, 3, 4]
    assert len(list((tmp_path / "out" / "parts").glob("[!.]*.arrows"))) == 3
    mended = ecnlab.sweep(experiment, tmp_path / "out", replicates=1)
    assert_same_bytes(whole.folder / "tables", mended.folder / "tables")


def test_a_run_that_kills_the_workers_of_its_block_loses_no_other(experiment, tmp_path, monkeypatch):
    block_size(monkeypatch, 30)
    one_at_a_time(monkeypatch)
    whole = ecnlab.sweep(experiment, tmp_path / "whole", replicates=10, cache=False)
    dead = whole.runs["id"][25]
    once = {"DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0", "DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0"}
    with Processes(tmp_path, once) as processes:
        preload = KILLED.format(when=f"{dead!r} in ids")
        workers = [processes.start_worker(name, preload) for name in ("one", "two", "three")]
        calls: list[int] = []

        def progress(done: int, _total: int) -> None:
            calls.append(done)

        with pytest.raises(ecnlab.RunError, match=f"run {dead} .* its worker died") as error:
            ecnlab.sweep(
                experiment, tmp_path / "out", replicates=10, cache=False, cluster=processes.address, progress=progress
            )
        assert sorted(str(one.poll()) for one in workers) == ["-9", "-9", "None"]  # of the block, and of the run alone
    assert str(error.value).count("repeats only this run") == 1
    assert calls == list(range(41))
    mended = ecnlab.sweep(experiment, tmp_path / "out", replicates=10)
    assert_same_bytes(whole.folder / "tables", mended.folder / "tables")


@pytest.mark.slow
def test_an_unforeseen_failure_of_a_worker_is_an_error_of_its_run(experiment, tmp_path):
    with Processes(tmp_path) as processes:
        processes.start_worker("failing", FAILING)
        with pytest.raises(ecnlab.RunError, match="its worker failed with RecursionError: far too deep"):
            ecnlab.sweep(experiment, tmp_path / "out", replicates=1, cluster=processes.address)


@pytest.mark.slow
def test_a_sweep_continues_when_the_scheduler_is_there_again(experiment, tmp_path):
    whole = ecnlab.sweep(experiment, tmp_path / "whole")
    calls: list[int] = []

    with Processes(tmp_path) as processes:
        address = processes.address

        def gone(done: int, _total: int) -> None:
            calls.append(done)
            if done == 3:
                processes.scheduler.kill()
                processes.scheduler.wait()

        processes.start_worker("first")
        with pytest.raises(ecnlab.EcnlabError, match=f"scheduler at {address} was lost.*the same command continues"):
            ecnlab.sweep(experiment, tmp_path / "out", cluster=address, progress=gone)
        assert calls[-1] < 12
        processes.start_scheduler(int(address.rpartition(":")[2]))
        assert processes.address == address
        processes.start_worker("second")
        again: list[int] = []
        ecnlab.sweep(experiment, tmp_path / "out", cluster=address, progress=lambda done, _total: again.append(done))
    assert again == list(range(calls[-1], 13))
    assert_same_bytes(whole.folder / "tables", tmp_path / "out" / "tables")


@pytest.mark.slow
def test_the_command_line_starts_a_cluster_of_its_own(experiment, cli, tmp_path):
    ecnlab.sweep(experiment, tmp_path / "here", replicates=1)
    done = cli("sweep", experiment, "--replicates", 1, "--cluster", "local", "--workers", 1, "--out", "there")
    assert done.returncode == 0, done.stderr
    assert "cluster: local, 1 worker\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert_same_bytes(tmp_path / "here" / "tables", tmp_path / "there" / "tables")


@pytest.mark.slow
def test_an_interrupt_ends_a_cluster_of_its_own(slow_experiment, tmp_path):
    pipe = slow_experiment.with_name("pipe.toml")
    pipe.write_text(pipe.read_text().replace('"2000 s"', '"2000000 s"'))  # hours
    command = ecnlab_command("sweep", slow_experiment, "--cluster", "local", "--workers", 1, "--out", tmp_path / "out")
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(command, stderr=said, start_new_session=True)
    try:
        until(lambda: "0 of 12 runs" in (tmp_path / "said").read_text(), process)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers receive it, too
        assert process.wait(timeout=30) == 130
    finally:
        process.kill()
    text = (tmp_path / "said").read_text()
    assert "the same command continues" in text and "Traceback" not in text


def test_a_paper_is_reproduced_on_a_cluster(shared, tmp_path, monkeypatch):
    in_place_of_the_papers(tmp_path, SCENARIO, monkeypatch)
    here, there = (tmp_path / name for name in ("here", "there"))
    papers.reproduce("small", here)
    monkeypatch.setattr("ecnlab.runs.sweep.LocalPool", None)  # no run on this machine
    papers.reproduce("small", there, cluster=shared.address)
    assert_same_bytes(here / "sweeps" / "pipes" / "tables", there / "sweeps" / "pipes" / "tables")


def test_reproduce_passes_the_cluster_on(cli, shared, tmp_path):
    done = cli("reproduce", "no-paper", "--cluster", shared.address)
    assert "cluster: tcp://127.0.0.1:" in done.stderr and "no-paper" in done.stderr


def short_card(kind: Kind, monkeypatch: pytest.MonkeyPatch, number: int = 1) -> Sheet:
    """In place of the sheet of ``kind``: its first ``number`` scenarios, with one case, three seeds and short runs."""
    whole = scoring.built_in(kind)
    runs = [
        replace(one, duration={"quick": "2 s"}, warmup="1 s", cases=one.cases[:1])
        for one in [one for one in whole.scenarios if not one.needs][:number]
    ]
    sheet = replace(whole, scenarios=runs, replicates={"quick": 3})
    monkeypatch.setattr("ecnlab.scoring.built_in", lambda _kind: sheet)
    return sheet


def score_here(*arguments: object) -> None:
    """Do ``ecnlab score`` in this process, which has other sheets."""
    score_command.main([str(argument) for argument in arguments], standalone_mode=False)


QUEUE_LAW = """
from ecnlab.userlaws import QueueLaw
class Law(QueueLaw):
    def on_enqueue(self, packet, queue, now, random):
        return "drop" if queue.packets > 9 else "pass"
"""


@pytest.mark.parametrize("kind", mostly_slow(["aqm", "cc", "l4s"], "cc"))
def test_a_card_of_a_law_in_python_is_that_of_this_machine(kind, shared, tmp_path, monkeypatch, capsys):
    short_card(kind, monkeypatch)
    law = tmp_path / "own.py"
    law.write_text(QUEUE_LAW if kind == "aqm" else LAW.format(mistake=""))
    folders = [tmp_path / "here", tmp_path / "there"]
    for folder, options in zip(folders, ([], ["--cluster", shared.address]), strict=True):
        folder.mkdir()
        monkeypatch.chdir(folder)
        if options:
            monkeypatch.setattr("ecnlab.runs.sweep.LocalPool", None)  # no run on this machine
        score_here(kind, f"{law}:Law", "--out", "card", *options)
    names = [path.relative_to(folders[0]) for path in folders[0].rglob("*") if path.is_file()]
    assert {path.name for path in names} >= {"card.json", "card.html", "badge.svg", "links.parquet"}
    for name in names:
        if name.name == MANIFEST:
            continue  # it has times
        assert folders[0].joinpath(name).read_bytes() == folders[1].joinpath(name).read_bytes(), name
    assert capsys.readouterr().err.count(f"cluster: {shared.address}, ") == 1


@pytest.mark.slow
def test_an_interrupted_card_continues_on_the_cluster(shared, tmp_path, monkeypatch):
    sheet = short_card("aqm", monkeypatch, 2)
    subjects = scoring.subjects(sheet, scoring.subject("codel"))
    first, second = (one.name for one in sheet.scenarios)
    calls: list[tuple[str, int]] = []

    def progress(last: int):
        def of_scenario(name: str):
            def done(number: int, _total: int) -> None:
                calls.append((name, number))
                if (name, number) == (second, last):
                    raise KeyboardInterrupt

            return done

        return of_scenario

    monkeypatch.setattr("ecnlab.runs.sweep.LocalPool", None)  # no run on this machine
    with connected(shared.address) as cluster:
        with pytest.raises(KeyboardInterrupt):
            scoring.score(subjects, tmp_path / "card", sheet, progress=progress(4), cluster=cluster)
        assert calls == [*((first, number) for number in range(7)), *((second, number) for number in range(5))]
        calls.clear()
        card = scoring.score(subjects, tmp_path / "card", sheet, progress=progress(-1), cluster=cluster)
        assert calls == [(first, 6), (second, 4), (second, 5), (second, 6)]
        assert card == scoring.score(subjects, tmp_path / "whole", sheet, progress=progress(-1), cluster=cluster)


@pytest.mark.slow
def test_cards_of_all_laws_share_one_connection(shared, tmp_path, monkeypatch, capsys):
    short_card("aqm", monkeypatch)
    monkeypatch.setattr("ecnlab.scoring.names", lambda _kind: ["codel", "pie"])
    monkeypatch.setattr("ecnlab.runs.sweep.LocalPool", None)  # no run on this machine
    monkeypatch.setattr("ecnlab.runs.sweep.connected", None)  # no connection of a sweep
    score_here("all", "aqm", "--cluster", shared.address, "--out", tmp_path / "all")
    said = capsys.readouterr()
    assert said.err.count("cluster: tcp://127.0.0.1:") == 1 and said.err.count("6 of 6 runs") == 2
    assert [line.partition(" ")[0] for line in said.out.splitlines()] == ["CoDel", "PIE"]
    assert (tmp_path / "all" / "index.html").is_file()


def test_a_card_on_the_kernel_is_refused_before_a_connection(cli, tmp_path, monkeypatch):
    sheet = short_card("aqm", monkeypatch)
    subjects = scoring.subjects(sheet, scoring.subject("codel"))
    with pytest.raises(ecnlab.EcnlabError, match="the engine `linux` runs on this machine only"):
        scoring.score(
            subjects, tmp_path / "card", sheet, engine="linux", progress=lambda _: pytest.fail, cluster=object()
        )
    done = cli("score", "aqm", "codel", "--engine", "linux", "--cluster", "tcp://127.0.0.1:1")
    assert done.returncode == 2 and list(tmp_path.iterdir()) == []
    assert done.stderr == "the engine `linux` runs on this machine only: leave `cluster` (`--cluster`) out\n"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at tcp://127.0.0.1:1 .*dask scheduler"),
        ("10.0.0.1:8786", "is not the address of a Dask scheduler"),
    ],
)
def test_an_address_without_a_scheduler_is_refused(experiment, tmp_path, monkeypatch, address, said):
    monkeypatch.setattr("ecnlab.runs.cluster.CONNECT_SECONDS", 1)
    with pytest.raises(ecnlab.EcnlabError, match=said):
        ecnlab.sweep(experiment, tmp_path / "out", cluster=address)


def test_another_engine_is_refused(experiment, tmp_path):
    with pytest.raises(ecnlab.EcnlabError, match="the engine `linux` runs on this machine only"):
        ecnlab.sweep(experiment, tmp_path / "out", engine="linux", cluster="local")
    assert not (tmp_path / "out").exists()
