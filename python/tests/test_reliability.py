"""What docs/reliability.md promises: nothing stored is lost, misread, or larger than said."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import polars as pl
import pytest
from conftest import EXPERIMENT, SCENARIO, assert_same_bytes

import ecnlab
from ecnlab.folder import atomic, digests, size_limits
from ecnlab.folder.part_files import ids_in
from ecnlab.folder.sealed_json import read_json
from ecnlab.folder.verified import verify

THOROUGH = bool(os.environ.get("ECNLAB_THOROUGH"))
"""Whether to try every place and many bits, not a sample of them: `make thorough`."""

LARGE = """\
format = 1
duration = "1000 h"
packets = true

link.pipe = { from = "a", to = "b", rate = "1 Gbps", delay = "1 ms" }
flow.bulk = { from = "a", to = "b", traffic = "ftp" }
"""


def flip(path: Path, rng: random.Random) -> None:
    """Turn one bit of ``path`` round."""
    data = bytearray(path.read_bytes())
    bit = rng.randrange(8 * len(data))
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def stored(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def read_all(folder: Path) -> dict[str, pl.DataFrame]:
    """Everything that a reader can ask a result for."""
    result = ecnlab.load(folder)
    if isinstance(result, ecnlab.Run):
        assert isinstance(result.captures, tuple)
        return {name: result.table(name) for name in result.tables}
    assert result.specs and isinstance(result.captures, dict)
    tables = {name: result.table(name).collect() for name in result.tables}
    return {**tables, "runs": result.runs, "metrics": result.metrics}


# Size


def test_check_and_run_refuse_what_no_disk_holds(cli, tmp_path):
    (tmp_path / "x.toml").write_text(LARGE)
    for command in (["check", "x.toml"], ["run", "x.toml", "--out", "r"]):
        done = cli(*command)
        assert done.returncode in (1, 2)
        assert "x.toml:3:11: `packets` records packets: about" in done.stderr
        assert size_limits.LIMIT in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "r").exists()
    text = LARGE.replace("packets = true\n", "")
    (tmp_path / "x.toml").write_text(text)
    ecnlab.check(tmp_path / "x.toml")
    with pytest.raises(ecnlab.SpecError, match="`--events`"):
        ecnlab.run(tmp_path / "x.toml", events=True)
    (tmp_path / "x.toml").write_text(text.replace("link", 'sample = "0.4 us"\nlink', 1))
    with pytest.raises(ecnlab.SpecError, match=r"x.toml:4:10: `sample` records flow_series"):
        ecnlab.check(tmp_path / "x.toml")


def test_check_refuses_an_experiment_that_sweep_refuses(experiment, tmp_path):
    """Only tables that are kept count: those of metrics, and with `--keep` others."""
    (tmp_path / "pipe.toml").write_text(
        SCENARIO.replace('"4 s"', '"1000 h"').replace("sample", "packets = true\nsample")
    )
    ecnlab.check(experiment)
    experiment.write_text(EXPERIMENT + 'all = { table = "packets", aggregate = "count" }\n')
    for refused in (ecnlab.check, lambda file: ecnlab.sweep(file, tmp_path / "out")):
        with pytest.raises(ecnlab.SpecError, match=r"pipe.toml:\d+:\d+: `packets` records packets: about"):
            refused(experiment)
    assert not (tmp_path / "out").exists()


def test_the_limit_is_a_choice(scenario, tmp_path, monkeypatch):
    monkeypatch.setenv(size_limits.LIMIT, "1 kB")
    with pytest.raises(ecnlab.SpecError, match=r"at most 1 kB are written.*ECNLAB_MAX_TABLES"):
        ecnlab.run(scenario)
    monkeypatch.setenv(size_limits.LIMIT, "1 GB")
    ecnlab.run(scenario)
    monkeypatch.setenv(size_limits.LIMIT, "much")
    with pytest.raises(ecnlab.EcnlabError, match="write a size"):
        ecnlab.run(scenario)


def test_a_disk_too_small_is_told_before_the_run(scenario, tmp_path, monkeypatch):
    monkeypatch.setattr("ecnlab.folder.size_limits.free_at", lambda _folder: 1000)
    with pytest.raises(ecnlab.SpecError, match="has 1 kB free"):
        ecnlab.run(scenario, out=tmp_path / "r")


def test_expected_rows_are_near_those_that_come(scenario):
    run = ecnlab.run(scenario, events=True)
    told = {one.table: one.rows for one in size_limits.expected(ecnlab.scenario.read_scenario(scenario), events=True)}
    assert told["queue_series"] == run.queue_series.height
    assert run.flow_series.height <= told["flow_series"] <= 1.1 * run.flow_series.height
    assert run.packets.height / 2 < told["packets"] < 2 * run.packets.height


@pytest.mark.parametrize("example", ["classes", "fair"])
def test_expected_rows_of_classes_are_those_that_come(example):
    path = Path(__file__).parents[2] / "examples" / f"{example}.toml"
    few = {"duration": "2 s", "warmup": "1 s", "sample": "100 ms"}
    scenario = ecnlab.scenario.read_scenario(path).with_overrides(few)
    told = {one.table: one.rows for one in size_limits.expected(scenario)}
    assert told["class_series"] == ecnlab.run(path, overrides=few).table("class_series").height > 0


@pytest.mark.slow
def test_large_tables_are_written_while_the_run_goes_on(scenario, tmp_path, monkeypatch):
    few = {"duration": "60 s", "sample": "1 ms"}
    monkeypatch.setattr("ecnlab.folder.streamed_tables.BLOCK_ROWS", 1 << 17)
    stored = ecnlab.run(scenario, overrides=few, events=True, out=tmp_path / "r")
    held = ecnlab.run(scenario, overrides=few, events=True)
    assert stored.queue_series.height > 2 * (1 << 17)
    monkeypatch.setattr("ecnlab.engines.packets.Packets.tables", whole_tables)
    whole = ecnlab.run(scenario, overrides=few, events=True)
    for name in whole.tables:
        assert stored.table(name).equals(whole.table(name)), name
        assert held.table(name).equals(whole.table(name)), name
    again = held.save(tmp_path / "again")
    assert_same_bytes(tmp_path / "r", again)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def whole_tables(self, scenario, seed, /, *, events, captures=None, blocks=None):
    from ecnlab.engines.frames import frames

    return frames(scenario.run(seed, events=events, captures=captures))


def test_a_run_that_outgrows_the_limit_stops(scenario, monkeypatch):
    monkeypatch.setattr("ecnlab.folder.size_limits.expected", lambda *_args, **_options: [])
    monkeypatch.setattr("ecnlab.folder.streamed_tables.BLOCK_ROWS", 1 << 16)
    monkeypatch.setenv(size_limits.LIMIT, "100 kB")
    with pytest.raises(ecnlab.EcnlabError, match="have become larger than 100 kB"):
        ecnlab.run(scenario, overrides={"duration": "60 s", "sample": "1 ms"})


# Damage


def test_no_flipped_bit_of_a_run_is_read(scenario, tmp_path):
    scenario.write_text(scenario.read_text() + '\n[capture.here]\nlink = "pipe"\n')
    folder = tmp_path / "whole"
    ecnlab.run(scenario, out=folder, events=True)
    rng = random.Random(1)
    for path in stored(folder):
        for _ in range(12 if THOROUGH else 2):
            kept = path.read_bytes()
            flip(path, rng)
            with pytest.raises(ecnlab.FolderError, match=path.name):
                read_all(folder)
            assert verify(folder)[1]
            path.write_bytes(kept)
    read_all(folder)
    assert verify(folder) == (len(stored(folder)), [])


MENDED = {"links.parquet", "made.json", "manifest.json", "specs.json"}
"""Files of a sweep that stand for the others of their kind where it mends itself."""


def test_no_flipped_bit_of_a_sweep_is_read_and_the_sweep_mends_itself(experiment, tmp_path):
    folder = tmp_path / "whole"
    ecnlab.sweep(experiment, folder, replicates=1, capture=["pipe"])
    whole = read_all(folder)
    rng = random.Random(2)
    files = stored(folder)
    mended_at = files if THOROUGH else [path for path in files if path.name in MENDED] + rng.sample(files, 1)
    for path in files:
        kept = path.read_bytes()
        for _ in range(6 if THOROUGH else 2):
            path.write_bytes(kept)
            flip(path, rng)
            with pytest.raises(ecnlab.FolderError, match=path.name):
                read_all(folder)
            assert verify(folder)[1]
        if path not in mended_at:
            path.write_bytes(kept)
            continue
        ecnlab.sweep(experiment, folder, replicates=1, capture=["pipe"])
        mended = read_all(folder)
        assert all(mended[name].equals(table) for name, table in whole.items()), path
        assert verify(folder)[1] == []


def test_a_damaged_file_is_named_with_the_command_that_makes_it_again(scenario, cli, tmp_path):
    assert cli("run", scenario, "--seed", 3, "--capture", "pipe", "--out", "r").returncode == 0
    before = (tmp_path / "r" / "flows.parquet").read_bytes()
    for name in ("captures/pipe.pcapng", "manifest.json", *(["flows.parquet"] if THOROUGH else [])):
        flip(tmp_path / "r" / name, random.Random(4))
        done = cli("verify", "r")
        assert done.returncode == 1 and name in done.stderr
        if name == "manifest.json":
            command = ["ecnlab", "run", str(scenario), "--seed", "3", "--capture", "pipe", "--out", "r"]
            assert "names `ecnlab run" in done.stderr
        else:
            command = done.stderr.split("`")[1].split()
        if name.startswith("captures"):
            told = cli("trace", "r/captures/pipe.pcapng")
            assert told.returncode == 2 and "pipe.pcapng is damaged" in told.stderr
        assert cli(*command[1:]).returncode == 0
        assert cli("verify", "r").returncode == 0
    assert (tmp_path / "r" / "flows.parquet").read_bytes() == before


def test_a_folder_without_digests_is_refused_with_a_remedy(scenario, tmp_path):
    ecnlab.run(scenario, out=tmp_path / "r")
    path = tmp_path / "r" / "manifest.json"
    manifest = read_json(path)
    path.write_text(json.dumps(manifest | {"format": 1}))
    with pytest.raises(ecnlab.FolderError, match=r"folder format 1.*run again into another folder"):
        ecnlab.load(tmp_path / "r")


def test_a_verified_file_is_not_read_again_until_it_changes(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"one")
    old = path.stat().st_mtime - 60
    os.utime(path, (old, old))
    # A change a moment ago is not remembered, as another could follow within the same tick.
    first = digests.of_file(path)
    path.write_bytes(b"two")
    os.utime(path, (old, old))
    assert digests.of_file(path) != first


def test_part_files_that_are_damaged_are_done_again(experiment, tmp_path):
    sweep = ecnlab.sweep(experiment, tmp_path / "whole")
    folder = tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["ecnlab.runs.sweep"], "merge", stop)
        with pytest.raises(KeyboardInterrupt):
            ecnlab.sweep(experiment, folder)
    # Short runs share a part, as many as the time of those before allows.
    found = {path: len(ids_in(path.read_bytes())) for path in sorted((folder / "parts").glob("[!.]*.arrows"))}
    assert sum(found.values()) == 12
    damaged = list(found)[: len(found) // 2]
    for path in damaged:
        flip(path, random.Random(path.name))
    calls = []
    mended = ecnlab.sweep(experiment, folder, progress=lambda done, total: calls.append((done, total)))
    assert calls[0] == (12 - sum(found[path] for path in damaged), 12)
    assert_same_bytes(sweep.folder / "tables", mended.folder / "tables")


def stop(*_args):
    raise KeyboardInterrupt


# Faults


def in_a_process(tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


KILL_AT = """
    import os, sys
    import ecnlab, ecnlab.folder.atomic
    count, rename = 0, ecnlab.folder.atomic.rename
    def killing(old, new, *, durable=True):
        global count
        count += 1
        if count == {at}:
            if {after}:
                rename(old, new, durable=durable)
            os._exit(9)
        rename(old, new, durable=durable)
    ecnlab.folder.atomic.rename = killing
    {what}
    sys.exit(count)
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_a_sweep_killed_at_any_rename_ends_in_the_same_tables(experiment, tmp_path, after):
    whole = ecnlab.sweep(experiment, tmp_path / "whole", replicates=1, workers=1)
    what = "ecnlab.sweep('gain.toml', 'out', replicates=1, workers=1)"
    count = in_a_process(tmp_path, KILL_AT.format(at=0, after=after, what=what)).returncode
    assert count > 5
    shutil.rmtree(tmp_path / "out")
    places = range(1, count + 1)
    for at in places if THOROUGH else sorted({count, random.Random(after).choice(places)}):
        done = in_a_process(tmp_path, KILL_AT.format(at=at, after=after, what=what))
        assert done.returncode == 9, done.stderr
        mended = ecnlab.sweep(experiment, tmp_path / "out", replicates=1, workers=1)
        assert_same_bytes(whole.folder / "tables", mended.folder / "tables")
        assert verify(tmp_path / "out")[1] == []
        shutil.rmtree(tmp_path / "out")


def test_a_run_killed_at_any_rename_is_old_or_new(scenario, tmp_path):
    ecnlab.run(scenario, out=tmp_path / "whole")
    what = "ecnlab.run('pipe.toml', out='out')"
    for there in (False, True):
        for at in (1, 2, 3) if THOROUGH else (1 + there,):
            if there:
                ecnlab.run(scenario, out=tmp_path / "out")
            in_a_process(tmp_path, KILL_AT.format(at=at, after=False, what=what))
            if there:
                assert_same_bytes(tmp_path / "whole", ecnlab.load(tmp_path / "out") and tmp_path / "out")
            ecnlab.run(scenario, out=tmp_path / "out")
            assert_same_bytes(tmp_path / "whole", tmp_path / "out")
            shutil.rmtree(tmp_path / "out")


def test_what_a_name_stands_for_is_on_the_disk_before_the_name(scenario, experiment, tmp_path, monkeypatch):
    """A loss of power keeps what was synced, and may keep any name: no name may be given to what was not synced."""
    synced: set[int] = set()
    torn: list[str] = []
    folders: list[str] = []
    fsync, rename = os.fsync, atomic.rename

    def remembering(descriptor):
        synced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    def watching(old, new, *, durable=True):
        if durable and not str(new).endswith(".old"):
            files = [old, *old.rglob("*")] if old.is_dir() else [old]
            torn.extend(str(path) for path in files if path.stat().st_ino not in synced)
            folders.append(new.parent.stat().st_ino)
        rename(old, new, durable=durable)

    monkeypatch.setattr(os, "fsync", remembering)
    monkeypatch.setattr(atomic, "rename", watching)
    ecnlab.run(scenario, out=tmp_path / "run")
    ecnlab.sweep(experiment, tmp_path / "sweep", replicates=1)
    assert torn == []
    assert folders and set(folders) <= synced


@pytest.mark.parametrize("number", [errno.ENOSPC, *([errno.EROFS, errno.EIO] if THOROUGH else [])])
def test_a_disk_that_refuses_is_named(scenario, experiment, tmp_path, monkeypatch, number):
    def refusing(*_args, **_options):
        raise OSError(number, os.strerror(number), "there")

    ecnlab.sweep(experiment, tmp_path / "sweep", replicates=1)
    before = read_all(tmp_path / "sweep")
    monkeypatch.setattr(atomic, "rename", refusing)
    with pytest.raises(OSError, match=os.strerror(number)):
        ecnlab.run(scenario, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(OSError, match=os.strerror(number)):
        ecnlab.sweep(experiment, tmp_path / "sweep", replicates=1)
    monkeypatch.undo()
    after = ecnlab.sweep(experiment, tmp_path / "sweep", replicates=1)
    assert all(read_all(after.folder)[name].equals(table) for name, table in before.items())
    assert [path for path in tmp_path.rglob(".*") if path.name != ".lock"] == []


def test_a_full_disk_in_a_worker_ends_the_sweep_with_its_name(experiment, tmp_path):
    """A short write: the limit on the size of files, which a worker inherits, stands for a full disk."""
    what = """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        import ecnlab
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        try:
            ecnlab.sweep('gain.toml', 'out', replicates=1)
        except OSError as error:
            print(error)
    """
    done = in_a_process(tmp_path, what)
    assert "File too large" in done.stdout, done
    whole = ecnlab.sweep(experiment, tmp_path / "whole", replicates=1)
    assert_same_bytes(
        whole.folder / "tables", ecnlab.sweep(experiment, tmp_path / "out", replicates=1).folder / "tables"
    )


def test_the_clock_may_step(scenario, experiment, tmp_path, monkeypatch):
    import time

    ecnlab.run(scenario, out=tmp_path / "before")
    for step in (-(10**9), 10**9):
        monkeypatch.setattr(time, "time_ns", lambda step=step: 1_600_000_000_000_000_000 + step * 10**9)
        ecnlab.run(scenario, out=tmp_path / "after")
        os.utime(tmp_path / "after" / "flows.parquet", (0, 0))
        assert_same_bytes(tmp_path / "before", tmp_path / "after")
        flip(tmp_path / "after" / "flows.parquet", random.Random(5))
        with pytest.raises(ecnlab.FolderError, match=r"flows.parquet is damaged"):
            _ = ecnlab.load(tmp_path / "after").flows


# Workers

ABORT = """
    import os, ecnlab.runs.block as block
    real = block._do_one
    def do_one(answerer, scenario, task, run, *rest):
        if run == {dead!r}:
            os.{how}
        real(answerer, scenario, task, run, *rest)
    block._do_one = do_one
"""


HOW = [("abort()", "by SIGABRT"), ("_exit(3)", "code 3"), ("kill(os.getpid(), 9)", "SIGKILL")]


@pytest.mark.parametrize(("how", "said"), HOW if THOROUGH else HOW[:1])
def test_a_run_that_dies_kills_no_other(experiment, tmp_path, monkeypatch, how, said):
    from ecnlab.runs import workers

    whole = ecnlab.sweep(experiment, tmp_path / "whole", replicates=2)
    dead = whole.runs["id"][3]
    dying = textwrap.dedent(ABORT.format(dead=dead, how=how))
    monkeypatch.setattr(workers, "_idle", [])
    monkeypatch.setattr(workers, "_START", workers._START.replace("main()", f"exec({dying!r}); main()"))
    calls = []
    with pytest.raises(ecnlab.RunError, match=f"run {dead} .*{said}.*ecnlab sweep .*gain.toml --only {dead}") as error:
        ecnlab.sweep(
            experiment, tmp_path / "out", replicates=2, progress=lambda done, total: calls.append((done, total))
        )
    assert "arm blind" in str(error.value) or "arm red" in str(error.value)
    assert calls[-1] == (8, 8)
    assert len(list((tmp_path / "out" / "parts").glob("[!.]*.arrows"))) == 7
    monkeypatch.undo()
    monkeypatch.setattr(workers, "_idle", [])
    calls.clear()
    mended = ecnlab.sweep(
        experiment, tmp_path / "out", replicates=2, progress=lambda done, total: calls.append((done, total))
    )
    assert calls[0] == (7, 8)
    assert_same_bytes(whole.folder / "tables", mended.folder / "tables")


def test_one_run_of_a_sweep_alone(experiment, cli, tmp_path):
    sweep = ecnlab.sweep(experiment, tmp_path / "whole", replicates=1)
    id_ = sweep.runs["id"][2]
    assert cli("sweep", experiment, "--only", id_, "--out", "one").returncode == 0
    alone = ecnlab.load(tmp_path / "one")
    assert sweep.table("flows").filter(id=id_).collect().select(alone.flows.columns).equals(alone.flows)
    assert "has no run 'x'" in cli("sweep", experiment, "--only", "x").stderr


@pytest.mark.slow
def test_a_table_of_packets_is_kept_in_a_sweep_however_large(experiment, tmp_path, monkeypatch):
    text = SCENARIO.replace('"4 s"', '"80 s"' if THOROUGH else '"60 s"')
    (tmp_path / "pipe.toml").write_text(text)
    sweep = ecnlab.sweep(experiment, tmp_path / "out", replicates=1, keep=["packets"])
    run = sweep.runs.row(1, named=True)
    alone = ecnlab.run(
        tmp_path / "pipe.toml",
        run["seed"],
        events=True,
        overrides={"queue.red.ecn": run["arm"] == "red", "queue.red.max_p": 0.02},
    )
    assert alone.packets.height > 65_536
    kept = sweep.table("packets").filter(id=run["id"]).collect().select(alone.packets.columns)
    assert kept.equals(alone.packets)


PEAK = """
    import resource, sys, ecnlab
    ecnlab.sweep('many.toml', {out!r}, replicates={replicates}, workers=1)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_a_sweep_of_many_runs_needs_no_more_memory_than_one_of_few(experiment, tmp_path):
    """Of many points, too; the runs are the shortest there are. docs/reliability.md has more of them."""
    (tmp_path / "pipe.toml").write_text(
        SCENARIO.replace('"4 s"', '"2 ms"')
        .replace('"1 s"', '"1 ms"')
        .replace('"0 s", "100 ms"', '"0 s", "1 ms"')
        .replace('"100 ms"', '"1 ms"')
    )
    (tmp_path / "many.toml").write_text(
        EXPERIMENT.replace("[0.02, 0.1]", str([i / 100 for i in range(1, 11)])).replace('labels = ["low", "high"]', "")
    )
    sizes = (3, 15) if THOROUGH else (3, 9)
    few, many = (int(in_a_process(tmp_path, PEAK.format(out=str(n), replicates=n)).stdout) for n in sizes)
    assert many < 1.2 * few, (few, many)


def test_a_scenario_out_of_a_pipe_is_read_once(tmp_path):
    command = [sys.executable, "-m", "ecnlab", "run", "/dev/stdin", "--out", "r"]
    done = subprocess.run(command, cwd=tmp_path, input=SCENARIO.encode(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0 and verify(tmp_path / "r")[1] == []
