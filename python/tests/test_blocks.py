"""Blocks of runs: done by one process, and stored as one part, with the bytes of single runs."""

from __future__ import annotations

import importlib
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import EXPERIMENT, SCENARIO, assert_same_bytes, mostly_slow

import ecnlab
from ecnlab.folder import part_files
from ecnlab.runs import block, workers
from ecnlab.runs.block import Ended, Queue

REPLICATES = 16


def block_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let blocks have ``size`` runs, except the last ones."""
    monkeypatch.setattr(block, "MAX_RUNS", size)
    monkeypatch.setattr(block, "SECONDS", 1e3)


def sweep(experiment: Path, out: Path, **options: object) -> ecnlab.api.sweep.Sweep:
    return ecnlab.sweep(experiment, out, replicates=REPLICATES, **{"cache": False, "workers": 1, **options})


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of a sweep of `experiment` without blocks."""
    folder = tmp_path_factory.mktemp("single")
    (folder / "pipe.toml").write_text(SCENARIO)
    (folder / "gain.toml").write_text(EXPERIMENT)
    with pytest.MonkeyPatch.context() as patch:
        block_size(patch, 1)
        return sweep(folder / "gain.toml", folder / "out").folder / "tables"


def stop(*_args: object) -> None:
    raise KeyboardInterrupt


def stopped(experiment: Path, out: Path, monkeypatch: pytest.MonkeyPatch, **options: object) -> list[Path]:
    """The parts of a sweep that was stopped before the merge."""
    with monkeypatch.context() as patch:
        patch.setattr(importlib.import_module("ecnlab.runs.sweep"), "merge", stop)
        with pytest.raises(KeyboardInterrupt):
            sweep(experiment, out, **options)
    return sorted((out / "parts").glob("[!.]*.arrows"))


def test_any_size_of_blocks_gives_the_same_bytes(experiment, single, tmp_path, monkeypatch):
    for size, number in ((3, 1), (60, 1), (60, 2)):
        block_size(monkeypatch, size)
        found = sweep(experiment, tmp_path / f"{size}-{number}", workers=number)
        assert_same_bytes(single, found.folder / "tables")


def test_a_damaged_part_loses_only_its_runs(experiment, single, tmp_path, monkeypatch):
    block_size(monkeypatch, 60)
    found = stopped(experiment, tmp_path / "out", monkeypatch)
    several = [path for path in found if not part_files.is_single(path.name)]
    assert several and len(found) < 4 * REPLICATES / 4
    lost = int(several[0].name.partition(".")[0].partition("-")[2])
    data = bytearray(several[0].read_bytes())
    data[random.Random(1).randrange(len(data))] ^= 1
    several[0].write_bytes(data)
    calls: list[int] = []
    mended = sweep(experiment, tmp_path / "out", progress=lambda done, _: calls.append(done))
    assert calls[0] == 4 * REPLICATES - lost
    assert_same_bytes(single, mended.folder / "tables")


ABORT = """
    import os, ecnlab.runs.block as block
    from ecnlab._core import RunError
    real = block._do_one
    def do_one(answerer, scenario, task, run, *rest):
        if run == {dead!r}:
            {how}
        real(answerer, scenario, task, run, *rest)
    block._do_one = do_one
"""


@pytest.mark.parametrize(("how", "message"), [("os.abort()", "SIGABRT"), ("raise RunError('books')", "books")])
def test_a_run_that_fails_in_a_block_loses_no_other(experiment, single, tmp_path, monkeypatch, how, message):
    block_size(monkeypatch, 60)
    dead = ecnlab.load(single.parent).runs["id"][REPLICATES // 2]
    dying = textwrap.dedent(ABORT.format(dead=dead, how=how))
    with monkeypatch.context() as patch:
        patch.setattr(workers, "_idle", [])
        patch.setattr(workers, "_START", workers._START.replace("main()", f"exec({dying!r}); main()"))
        with pytest.raises(ecnlab.RunError, match=f"run {dead} .*seed .*{message}") as error:
            sweep(experiment, tmp_path / "out")
    assert str(error.value).count("repeats only this run") == 1
    calls: list[int] = []
    monkeypatch.setattr(workers, "_idle", [])
    mended = sweep(experiment, tmp_path / "out", progress=lambda done, _: calls.append(done))
    assert calls[0] == 4 * REPLICATES - 1
    assert_same_bytes(single, mended.folder / "tables")


KILLED = """
    import os, signal, sys, ecnlab
    from ecnlab.runs import block
    block.SECONDS = 1e3
    def progress(done, total):
        if done >= {at}:
            os.kill(os.getpid(), signal.SIGKILL)
    ecnlab.sweep(*sys.argv[1:], replicates={replicates}, cache=False, workers=1, progress=progress)
"""


@pytest.mark.parametrize("at", mostly_slow([2, 20, 40], 20))
def test_a_sweep_that_is_killed_continues(experiment, single, tmp_path, at):
    program = textwrap.dedent(KILLED.format(at=at, replicates=REPLICATES))
    command = [sys.executable, "-c", program, str(experiment), str(tmp_path / "out")]
    assert subprocess.run(command, check=False, timeout=120).returncode == -signal.SIGKILL
    calls: list[int] = []
    mended = sweep(experiment, tmp_path / "out", progress=lambda done, _: calls.append(done))
    assert calls[0] >= at
    assert_same_bytes(single, mended.folder / "tables")


def test_the_cache_has_any_runs_of_a_block(experiment, tmp_path, monkeypatch):
    monkeypatch.setenv("ECNLAB_CACHE", str(tmp_path / "cache"))
    block_size(monkeypatch, 60)
    sweep(experiment, tmp_path / "first", cache=True)
    for number in (REPLICATES // 2, REPLICATES, REPLICATES + 4):
        found = ecnlab.sweep(experiment, tmp_path / f"again-{number}", replicates=number)
        assert found.manifest["wall"]["cached"] == 4 * min(number, REPLICATES)
        without = ecnlab.sweep(experiment, tmp_path / f"without-{number}", replicates=number, cache=False)
        assert_same_bytes(without.folder / "tables", found.folder / "tables")


def test_blocks_grow_with_short_runs_and_leave_runs_for_other_workers(experiment):
    question = ecnlab.scenario.read_experiment(experiment).with_replicates(100)
    runs = [question.run(index) for index in range(100)]
    queue = Queue(iter(runs), 100, lambda _run: False)
    first = queue.take(2)
    assert len(first) == 1  # of unknown time
    queue.note(first, Ended(seconds=block.SECONDS / 10))
    second = queue.take(2)
    assert len(second) == 10
    queue.note(second, Ended(failed={second[3].id: ecnlab.RunError("")}, undone={run.id for run in second[4:]}))
    assert queue.take(2)[:6] == second[4:]
    sizes = [len(taken) for taken in iter(lambda: queue.take(2), [])]
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] == 1 and sum(sizes) == 100 - 1 - 4 - 10
    queue.end()
    assert Queue(iter(runs), 100, lambda _run: True).take(1) == runs[:1]


def test_a_block_of_long_runs_gives_those_back_that_it_has_not_begun(experiment, single, tmp_path, monkeypatch):
    block_size(monkeypatch, 60)
    monkeypatch.setattr(block, "LATE", 0)
    found = sweep(experiment, tmp_path / "out")
    assert_same_bytes(single, found.folder / "tables")
    question = ecnlab.scenario.read_experiment(experiment).with_replicates(100)
    queue = Queue(map(question.run, range(100)), 100, lambda _run: False)
    queue.note(queue.take(1), Ended(seconds=block.SECONDS / 10))
    taken = queue.take(1)
    ended = queue.note(taken, Ended(undone={run.id for run in taken[1:]}, seconds=block.SECONDS))
    assert ended == [(taken[0], None)]
    assert queue.take(1) == [taken[1]]  # the time of the run that was done


def test_runs_of_a_block_of_which_none_is_done_are_taken_alone(experiment):
    question = ecnlab.scenario.read_experiment(experiment).with_replicates(100)
    queue = Queue(map(question.run, range(100)), 100, lambda _run: False)
    queue.note(queue.take(1), Ended(seconds=block.SECONDS / 10))
    lost = queue.take(1)
    assert queue.note(lost, Ended(undone={run.id for run in lost})) == []
    assert [queue.take(1) for _ in lost] == [[run] for run in lost]
    assert len(queue.take(1)) > 1
