"""The cache of runs: the same bytes as without it, and never a failed run or a wrong row because of it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import DEVNULL

import pytest
from conftest import Cli, assert_same_bytes, ecnlab_command, mostly_slow, unlocked
from polars.testing import assert_frame_equal

from ecnlab import Batch, batch, sweep
from ecnlab.api.sweep import Sweep
from ecnlab.base import provenance
from ecnlab.base.errors import EcnlabError
from ecnlab.folder import part_files
from ecnlab.folder.cache import MAX_ENTRY, NAME, Cache, CacheWarning, Settings, key, opened, settings
from ecnlab.folder.part_files import ids_in, store_rows
from ecnlab.runs import remembered

ONE, TWO = b"1" * 32, b"2" * 32


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache of its own, which is on; warnings of the cache fail the test."""
    monkeypatch.setenv("ECNLAB_CACHE", str(tmp_path / "cache"))
    warnings.simplefilter("error", CacheWarning)
    return tmp_path / "cache"


@pytest.fixture
def held(place: Path) -> Iterator[Cache]:
    """The same, open and empty."""
    with opened() as made:
        yield made


def cached(result: Sweep) -> int:
    """Number of runs of a sweep that are from the cache."""
    number = result.manifest["wall"]["cached"]
    assert isinstance(number, int)
    return number


def changed(folder: Path, statement: str) -> None:
    """Execute ``statement`` on the file of the cache in ``folder``."""
    connection = sqlite3.connect(folder / NAME)
    with connection:
        connection.execute(statement)
    connection.close()


def bytes_of_tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "tables").iterdir()}


def test_a_second_folder_has_the_same_bytes_without_a_run(experiment: Path, tmp_path: Path, place: Path) -> None:
    first, second = sweep(experiment, tmp_path / "a"), sweep(experiment, tmp_path / "b")
    without = sweep(experiment, tmp_path / "c", cache=False)
    assert [cached(one) for one in (first, second, without)] == [0, 12, 0]
    for other in (second, without):
        assert bytes_of_tables(first.folder) == bytes_of_tables(other.folder)
        assert (first.folder / "specs.json").read_bytes() == (other.folder / "specs.json").read_bytes()


def test_more_replicates_and_other_tables_take_what_there_is(experiment: Path, tmp_path: Path, place: Path) -> None:
    sweep(experiment, tmp_path / "a")
    assert cached(sweep(experiment, tmp_path / "b", replicates=4)) == 12
    assert cached(sweep(experiment, tmp_path / "c", keep=["flow_series"])) == 0
    assert cached(sweep(experiment, tmp_path / "d", capture=["pipe"])) == 0


def test_parts_from_the_cache_are_stored_only_if_runs_are_left_or_memory_is_not(
    experiment: Path, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[str] = []

    def store(folder: Path, data: bytes, runs: Sequence[str]) -> None:
        stored.extend(runs)
        store_rows(folder, data, runs)

    monkeypatch.setattr(part_files, "store_rows", store)
    first = sweep(experiment, tmp_path / "first", replicates=4)
    sweep(experiment, tmp_path / "fewer", replicates=2)
    assert not stored
    sweep(experiment, tmp_path / "more", replicates=6)
    assert sorted(stored) == sorted(first.runs["id"].unique())
    stored.clear()
    monkeypatch.setattr(remembered, "HELD", 0)
    again = sweep(experiment, tmp_path / "again", replicates=4)
    assert sorted(stored) == sorted(first.runs["id"].unique())
    assert_same_bytes(again.folder / "tables", first.folder / "tables")


@pytest.mark.parametrize("table", ["entries SET digest = zeroblob(16)", "contents SET data = zeroblob(length(data))"])
def test_a_damaged_entry_is_not_used_and_its_run_is_done(
    experiment: Path, tmp_path: Path, place: Path, table: str
) -> None:
    first = sweep(experiment, tmp_path / "a")
    # Of one run: runs with equal results have entries with the key of the one that holds these.
    shared = "SELECT data FROM contents WHERE length(data) = 32"
    changed(place, f"UPDATE {table} WHERE id = (SELECT min(id) FROM entries WHERE size > 32 AND key NOT IN ({shared}))")
    second = sweep(experiment, tmp_path / "b")
    assert cached(second) == 11
    assert_same_bytes(first.folder / "tables", second.folder / "tables")
    assert cached(sweep(experiment, tmp_path / "c")) == 12


def test_a_flipped_bit_anywhere_in_the_file_gives_no_wrong_row(held: Cache, place: Path) -> None:
    contents = {bytes([number]) * 32: os.urandom(3000) for number in range(20)}
    held.put(contents.items())
    held.close()
    whole = (place / NAME).read_bytes()
    for at in range(0, len(whole), len(whole) // 150):
        for end in ("-wal", "-shm"):
            (place / (NAME + end)).unlink(missing_ok=True)
        (place / NAME).write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)
            with opened() as found:
                assert all(contents[one] == data for one, data in found.get(contents))
                found.put([(ONE, b"new")])


def test_entries_of_another_build_are_not_used(
    experiment: Path, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(experiment, tmp_path / "a")
    monkeypatch.setattr(provenance, "build", lambda: "0" * 16)
    assert cached(sweep(experiment, tmp_path / "b")) == 0


def test_runs_with_user_defined_laws_are_done_again(experiment: Path, tmp_path: Path, place: Path) -> None:
    (tmp_path / "law.py").write_text(
        "class Law:\n"
        "    def grow(self, window, acked):\n        window.cwnd += acked\n\n"
        "    def on_congestion(self, window, event):\n        window.cwnd = window.ssthresh = 2 * window.mss\n"
    )
    law = '"tcp.plain.congestion" = { python = "law.py:Law" }'
    experiment.write_text(experiment.read_text().replace('"queue.red.ecn" = false', law))
    assert [cached(sweep(experiment, tmp_path / name)) for name in "ab"] == [0, 6]


def test_a_batch_takes_metrics_from_the_cache(experiment: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = batch(experiment)
    without = batch(experiment, cache=False)
    with opened() as held:
        assert held.count()[0] == 12
    with monkeypatch.context() as never:
        never.setattr(Batch, "_note", None)  # no run ends
        again = batch(experiment)
    assert_frame_equal(first, again, check_exact=True)
    assert_frame_equal(first, without, check_exact=True)


def test_a_batch_does_the_runs_that_the_cache_lacks(scenario: Path, place: Path) -> None:
    metrics = {"goodput": {"table": "flows", "column": "goodput_bps", "aggregate": "sum"}}
    batch(scenario, seeds=[2, 5], metrics=metrics)
    with Batch(scenario, metrics) as some:
        assert some.submit(seeds=range(1, 7)) == range(6)
        assert some.open == 6
        found = sorted(some.results())
        assert not some.open
    assert [(run, seed) for run, seed, _ in found] == [(run, run + 1) for run in range(6)]
    expected = batch(scenario, seeds=range(1, 7), metrics=metrics, cache=False)["value"].to_list()
    assert [values["goodput"] for *_, values in found] == expected


def test_two_sweeps_at_once_share_a_cache(experiment: Path, tmp_path: Path, place: Path) -> None:
    both = [
        subprocess.Popen(
            ecnlab_command("sweep", experiment, "--out", tmp_path / name, "--workers", 1),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in "ab"
    ]
    assert [one.communicate()[1].count(b"the cache") for one in both] == [0, 0]
    assert [one.returncode for one in both] == [0, 0]
    third = sweep(experiment, tmp_path / "c")
    assert cached(third) == 12
    for name in "ab":
        assert_same_bytes(tmp_path / name / "tables", third.folder / "tables")


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_an_unusable_place_is_one_warning(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Root may write into any folder: the place is a file, or the cache's file is a folder."""
    place = tmp_path / "cache"
    monkeypatch.setenv("ECNLAB_CACHE", str(place))
    place.write_text("") if kind == "file" else (place / NAME).mkdir(parents=True)
    with pytest.warns(CacheWarning, match="the cache of runs is not used") as caught:
        assert cached(sweep(experiment, tmp_path / "a")) == 0
    assert len(caught) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into any folder")
def test_a_cache_that_cannot_be_written_is_one_warning(experiment: Path, tmp_path: Path, place: Path) -> None:
    sweep(experiment, tmp_path / "a")
    place.chmod(0o500)
    (place / NAME).chmod(0o400)
    warnings.simplefilter("always", CacheWarning)
    with pytest.warns(CacheWarning) as caught:
        sweep(experiment, tmp_path / "b")
    place.chmod(0o700)
    assert len(caught) == 1


def test_a_locked_cache_is_one_warning(place: Path, held: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecnlab.folder.cache.BUSY_SECONDS", 0.1)
    held.put([(ONE, b"first")])
    other = sqlite3.connect(place / NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with opened() as waiting:
        assert list(waiting.get([ONE])) == [(ONE, b"first")]
        with pytest.warns(CacheWarning, match="locked"):
            waiting.put([(TWO, b"second")])
        assert not waiting.on
        waiting.put([(TWO, b"second")])
        assert not list(waiting.get([ONE]))
    other.close()


def test_a_full_disk_is_one_warning(held: Cache) -> None:
    held._open.execute("PRAGMA max_page_count = 5")
    with pytest.warns(CacheWarning, match="full"):
        held.put([(ONE, os.urandom(100_000))])
    assert not held.on


def test_a_file_that_is_no_database_is_set_aside(place: Path) -> None:
    place.mkdir()
    (place / NAME).write_bytes(b"no database" * 1000)
    with opened() as begun:
        begun.put([(ONE, b"first")])
        assert list(begun.get([ONE, TWO])) == [(ONE, b"first")]
        assert (place / f"{NAME}.damaged").exists()
        begun.clear()
    assert not (place / f"{NAME}.damaged").exists()


def test_the_least_recently_used_are_removed_above_the_limit(place: Path) -> None:
    cache = Cache(Settings(place, 500_000))
    keys = [bytes([number]) * 32 for number in range(100)]
    for one in keys:
        cache.put([(one, os.urandom(20_000))])
        assert list(cache.get(keys[:1]))  # in use
    there = {one for one, _ in cache.get(keys)}
    cache.close()
    assert keys[0] in there
    assert there - {keys[0]} == set(keys[-len(there) + 1 :])
    assert 15 <= len(there) <= 24
    assert (place / NAME).stat().st_size < 600_000


def test_large_contents_are_not_stored(held: Cache) -> None:
    held.put([(ONE, bytes(MAX_ENTRY + 1)), (TWO, bytes(MAX_ENTRY))])
    assert held.count() == (1, MAX_ENTRY)
    held.clear()
    assert held.count() == (0, 0)


def test_an_entry_is_replaced(held: Cache) -> None:
    for content in (b"old", b"new"):
        held.put([(ONE, content)])
    assert list(held.get([ONE])) == [(ONE, b"new")]
    assert held.count() == (1, 3)


def test_a_key_has_all_its_parts() -> None:
    assert len({key("a", "b"), key("ab"), key("a", "c"), key("a")}) == 4


def test_the_environment_sets_place_and_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    usual = tmp_path / "ecnlab"
    for text, expected in (
        ("off", None),
        ("", Settings(usual, 2e9)),
        ("5 GB", Settings(usual, 5e9)),
        ("/there", Settings(Path("/there"), 2e9)),
    ):
        monkeypatch.setenv("ECNLAB_CACHE", text)
        assert settings() == expected
    monkeypatch.setenv("ECNLAB_CACHE", "there")
    with pytest.raises(EcnlabError, match="write off, a size"):
        settings()


def test_the_command_line(cli: Cli, experiment: Path, place: Path) -> None:
    sweep_into = ("sweep", experiment, "--replicates", 1, "--out")
    assert "cache" not in cli(*sweep_into, "a").stdout
    assert "runs from the cache: 4" in cli(*sweep_into, "b").stdout
    assert "cache" not in cli(*sweep_into, "c", "--no-cache").stdout
    found = json.loads(cli("cache", "--json").stdout)
    assert (found["path"], found["limit"]) == (str(place / NAME), 2 * 10**9)
    assert found["entries"] >= 4  # one a run, and one for each part with several
    assert f"entries  {found['entries']}, " in cli("cache").stdout
    assert "entries  0, 0 B" in cli("cache", "--clear").stdout


def test_the_command_line_warns_in_one_line(cli: Cli, experiment: Path, place: Path) -> None:
    place.write_text("")
    answer = cli("sweep", experiment, "--replicates", 1, "--out", "a")
    assert answer.returncode == 0
    assert answer.stderr.count(f"warning: {place / NAME}: the cache of runs is not used") == 1


def test_the_cache_that_is_off(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECNLAB_CACHE", "off")
    assert cli("cache").stdout == "the cache is off\n"
    assert json.loads(cli("cache", "--json").stdout) == {"path": None}


@pytest.mark.parametrize("moments", mostly_slow([(0.8,), tuple(0.1 * number for number in range(20))], (0.8,)))
def test_a_killed_sweep_leaves_no_wrong_row(
    experiment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moments: Sequence[float]
) -> None:
    """After `kill -9` the same sweep keeps the runs it had stored, and rows are those of a sweep without a cache."""
    without = sweep(experiment, tmp_path / "without", replicates=10, cache=False)
    for moment in moments:
        here = tmp_path / str(moment)
        monkeypatch.setenv("ECNLAB_CACHE", str(here / "cache"))
        command = ecnlab_command("sweep", experiment, "--out", here / "killed", "--replicates", 10, "--workers", 1)
        with subprocess.Popen(command, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True) as process:
            time.sleep(moment)
            os.killpg(process.pid, signal.SIGKILL)
        unlocked(here / "killed")
        parts = [path for path in (here / "killed" / "parts").glob("*.arrows") if path.name[0] != "."]
        stored = [run for path in parts for run in ids_in(path.read_bytes())]
        done: list[int] = []
        again = sweep(
            experiment, here / "killed", replicates=10, progress=lambda number, _all, done=done: done.append(number)
        )
        assert done[0] >= len(stored)
        other = sweep(experiment, here / "other", replicates=10)
        # Runs that were stored in the folder only are done for the other one.
        assert cached(other) >= 40 - len(stored)
        for one in (again, other):
            assert_same_bytes(one.folder / "tables", without.folder / "tables")
