"""Files that a command does not expect: FIFOs, devices, links, files without end, a full disk. Each is an error, and costs nobody a file."""

from __future__ import annotations

import errno
import os
import re
import socket
import struct
import subprocess
import sys

import pytest
from called import called
from conftest import EXPERIMENT, SCENARIO

from ecnlab import EcnlabError, FolderError, SpecError, load, run
from ecnlab.folder.sealed_json import write_entries
from ecnlab.folder.verified import verify
from ecnlab.runs.sweep import sweep
from ecnlab.scenario.files import check, read_scenario, read_text

TRACE = 'rate = { csv = "rate.csv" }'
BOM = b"\xef\xbb\xbf"


def test_files_without_end_and_devices(tmp_path, monkeypatch):
    with pytest.raises(EcnlabError, match="is a device"):
        read_text("/dev/zero")
    with pytest.raises(OSError, match="Input/output"):
        read_text("/proc/self/mem")
    monkeypatch.setattr("ecnlab.scenario.files.LARGEST", 1000)
    (tmp_path / "x.toml").write_text("#" * 1001)
    with pytest.raises(EcnlabError, match="not an ecnlab TOML file"):
        read_text(tmp_path / "x.toml")
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.toml")
    with open(name, "w") as file:  # noqa: PTH123
        file.write(SCENARIO)
    with pytest.raises(EcnlabError, match="not UTF-8: rename it"):
        read_scenario(name)


def test_the_scenario_of_an_experiment_has_an_end(experiment):
    experiment.write_text(EXPERIMENT.replace("pipe.toml", "/dev/zero"))
    with pytest.raises(SpecError, match="cannot read `/dev/zero`: it is a device"):
        check(experiment)
    experiment.write_text(EXPERIMENT.replace("pipe.toml", "gone.toml"))
    with pytest.raises(SpecError, match=r":3:12: `scenario`: cannot read `.*gone.toml`: No such file"):
        check(experiment)


def test_results_do_not_overwrite_what_they_are_of(scenario, tmp_path, monkeypatch, capsys):
    run(scenario, out=tmp_path / "out", captures=None, overrides={"capture.pipe": {"link": "pipe"}})
    (capture,) = (tmp_path / "out" / "captures").iterdir()
    bytes_ = capture.read_bytes()
    (tmp_path / "link").symlink_to(capture)
    for arguments in ((capture, "--html", capture), (tmp_path / "link", "--html", capture)):
        code, _, err = called(capsys, monkeypatch, "trace", *arguments)
        assert (code, "would be overwritten" in err) == (2, True)
    assert capture.read_bytes() == bytes_


def test_a_run_again_keeps_what_others_put_beside_it(scenario, tmp_path):
    captured = {"capture.pipe": {"link": "pipe"}}
    out = tmp_path / "out"
    run(scenario, out=out, overrides=captured)
    (out / "notes.txt").write_text("mine")
    (out / "captures" / "mine.pcapng").write_text("mine")
    (out / "figures").mkdir()
    run(scenario, out=out, overrides=captured)
    assert (out / "figures").is_dir()
    # So does a run that comes after one that was killed while it took the old folder's place.
    (tmp_path / ".out.old" / "captures").mkdir(parents=True)
    (tmp_path / ".out.old" / "captures" / "late.pcapng").write_text("mine")
    run(scenario, out=out, overrides=captured)
    for name in ("notes.txt", "captures/mine.pcapng", "captures/late.pcapng"):
        assert (out / name).read_text() == "mine"
    # What was ecnlab's goes with the run that it was of.
    run(scenario, out=out)
    assert sorted(path.name for path in (out / "captures").iterdir()) == ["late.pcapng", "mine.pcapng"]
    assert verify(out)[1] == [] and len(list(tmp_path.glob(".out*"))) == 0


def test_a_sweep_keeps_what_others_put_among_its_parts(experiment, tmp_path):
    parts = tmp_path / "out" / "parts"
    sweep(experiment, out=tmp_path / "out", workers=1)
    parts.mkdir()
    (parts / "notes.txt").write_text("mine")
    sweep(experiment, out=tmp_path / "out", workers=1, replicates=5)
    assert [path.name for path in parts.iterdir()] == ["notes.txt"]
    assert verify(tmp_path / "out")[1] == []


def test_a_link_is_followed_and_not_replaced(scenario, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for _ in range(2):
        run(scenario, out=tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "manifest.json").exists()


@pytest.mark.parametrize("verb", ["run", "sweep"])
def test_a_link_to_itself_is_told(scenario, experiment, tmp_path, monkeypatch, capsys, verb):
    (tmp_path / "loop").symlink_to("loop")
    file = scenario if verb == "run" else experiment
    code, _, err = called(capsys, monkeypatch, verb, file, "--out", tmp_path / "loop")
    assert (code, "loop" in err, "a defect" in err) == (3, True, False)


def test_a_table_that_is_gone_is_not_called_damaged(scenario, experiment, tmp_path, monkeypatch, capsys):
    run(scenario, out=tmp_path / "one")
    sweep(experiment, tmp_path / "many", replicates=1)
    for folder, tables in ((tmp_path / "one", tmp_path / "one"), (tmp_path / "many", tmp_path / "many" / "tables")):
        table = tables / "flows.parquet"
        whole = table.read_bytes()
        table.write_bytes(whole[: len(whole) // 2])
        code, _, err = called(capsys, monkeypatch, "show", folder, "--table", "flows")
        assert (code, "damaged" in err, "missing" in err) == (2, True, False)
        table.unlink()
        code, _, err = called(capsys, monkeypatch, "show", folder, "--table", "flows")
        assert (code, "damaged" in err, "flows.parquet is missing" in err) == (2, False, True)


def test_a_file_in_place_of_a_result_names_the_command(scenario, experiment, capsys, monkeypatch):
    for file, verb in ((scenario, "run"), (experiment, "sweep")):
        with pytest.raises(
            FolderError, match=rf"not the folder of a result: `ecnlab {verb} .*`, in Python `ecnlab\.{verb}\("
        ):
            load(file)
        code, _, err = called(capsys, monkeypatch, "show", file)
        assert (code, f"ecnlab {verb}" in err) == (2, True)
    (scenario.parent / "notes.txt").write_text("mine")
    with pytest.raises(FolderError, match="is no folder: name the folder"):
        load(scenario.parent / "notes.txt")


def test_a_byte_order_mark_is_no_part_of_a_file(scenario, experiment, cli, tmp_path):
    traced = SCENARIO.replace('rate = "2 Mbps"', TRACE)
    (tmp_path / "rate.csv").write_bytes(BOM + b"time_s,rate_mbps\r\n0,2\r\n1,1\r\n")
    (tmp_path / "down.trace").write_bytes(BOM + b"1\n2\n5\n")
    scenario.write_bytes(BOM + traced.encode())
    (tmp_path / "mahimahi.toml").write_text(traced.replace(TRACE, 'rate = { mahimahi = "down.trace" }'))
    experiment.write_bytes(BOM + EXPERIMENT.encode())
    ended = cli("check", scenario, "mahimahi.toml", experiment)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = read_scenario(scenario)
    (tmp_path / "rate.csv").write_bytes(b"time_s,rate_mbps\n0,2\n1,1\n")
    scenario.write_text(traced)
    plain = read_scenario(scenario)
    assert found.resolved["link"]["pipe"]["rate"].keys() == plain.resolved["link"]["pipe"]["rate"].keys()
    (tmp_path / "layout.toml").write_bytes(BOM + b"[summary]\nstages = []\n")
    run(scenario, out=tmp_path / "out")
    assert cli("report", "out", "--layout", "layout.toml").returncode == 0


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_devices_are_no_files_of_a_report(scenario, cli, tmp_path, device):
    run(scenario, out=tmp_path / "out")
    for option in ("--layout", "--stages"):
        ended = cli("report", "out", option, device)
        assert ended.returncode == 2 and device in ended.stderr, ended.stderr
    for option in ("-o", "--against"):
        ended = cli("report", "out", option, device)
        assert ended.returncode == 2 and device in ended.stderr, ended.stderr


@pytest.mark.parametrize("name", ["flows.parquet", "captures/pipe.pcapng"])
def test_a_device_in_place_of_a_stored_file_is_damage(scenario, cli, tmp_path, name):
    run(scenario, out=tmp_path / "out", overrides={"capture.pipe": {"link": "pipe"}})
    (tmp_path / "out" / name).unlink()
    (tmp_path / "out" / name).symlink_to("/dev/zero")
    ended = cli("verify", "out")
    assert ended.returncode == 1 and f"{name} is damaged (it is a folder, a device or a pipe)" in ended.stderr
    if name == "flows.parquet":
        assert cli("show", "out").returncode == 2


def test_a_full_disk_names_the_file_of_every_command(scenario, tmp_path, monkeypatch, capsys):
    run(scenario, out=tmp_path / "out", overrides={"capture.pipe": {"link": "pipe"}})
    capture = next((tmp_path / "out" / "captures").iterdir())

    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    monkeypatch.chdir(tmp_path)
    for arguments, file in (
        (("report", "out"), "out/report.html"),
        (("report", "out", "-o", "x.html"), "x.html"),
        (("report", "out", "--against", "out", "-o", "x.html"), "x.html"),
        (("report", capture, "-o", "x.html"), "x.html"),
        (("plot", "out", "queue", "-o", "x.csv"), "x.csv"),
        (("trace", capture, "--html", "x.html"), "x.html"),
        (("trace", capture, "--parquet", "tables"), "tables/connections.parquet"),
        (("vectors", "export", "rto-backoff", "--out", "v"), "v/rto-backoff.jsonl"),
        (("new", "--out", "x.toml"), "x.toml"),
        (("examples", "copy", "dumbbell", "--out", "e"), "e/dumbbell.toml"),
    ):
        code, _, err = called(capsys, monkeypatch, *arguments)
        assert (code, err.splitlines()[-1]) == (3, f"{file}: No space left on device"), arguments
        assert not (tmp_path / file).exists()
    experiment = tmp_path / "gain.toml"
    experiment.write_text(EXPERIMENT)
    code, _, err = called(capsys, monkeypatch, "sweep", experiment, "--out", "s")
    assert (code, "s/manifest.json: No space left on device" in err) == (3, True)


def test_a_full_disk_names_a_file_written_entry_by_entry(tmp_path, monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(OSError, match="full") as raised:
        write_entries(tmp_path / "specs.json", [("a", 1)])
    assert raised.value.filename == str(tmp_path / "specs.json") and list(tmp_path.iterdir()) == []


FIFOS = {
    "a scenario": ("run", "FIFO"),
    "an experiment": ("sweep", "FIFO"),
    "the scenario of an experiment": ("sweep", "gain.toml"),
    "a law": ("run", "law.toml"),
    "a trace of a link": ("run", "trace.toml"),
    "a trace of Mahimahi": ("run", "mahimahi.toml"),
    "a law to score": ("score", "aqm", "FIFO.py:Law"),
    "a card": ("score", "compare", "FIFO", "FIFO"),
    "a vector": ("vectors", "check", "FIFO"),
    "a manifest": ("show", "result"),
    "a layout": ("report", "result", "--layout", "FIFO"),
    "stages": ("report", "result", "--stages", "FIFO"),
    "a second capture": ("trace", "empty.pcap", "--against", "FIFO"),
    "a capture that is read twice": ("trace", "FIFO", "--against", "empty.pcap"),
}


def special_files(folder, make):
    """Write the files of `FIFOS` into ``folder``; ``make`` makes the special ones."""
    law = re.sub(
        r'discipline = "red"[^\[]*', 'discipline = { python = "FIFO.py:Law" }\nlimit = "9 packets"\n', SCENARIO
    )
    (folder / "law.toml").write_text(law)
    (folder / "gain.toml").write_text(EXPERIMENT.replace("pipe.toml", "FIFO"))
    for name, key in (("trace", "csv"), ("mahimahi", "mahimahi")):
        text = SCENARIO.replace('rate = "2 Mbps"', f'rate = {{ {key} = "FIFO" }}')
        assert text != SCENARIO
        (folder / f"{name}.toml").write_text(text)
    (folder / "empty.pcap").write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for path in (folder / "FIFO", folder / "FIFO.py", folder / "result" / "manifest.json"):
        path.parent.mkdir(exist_ok=True)
        make(path)


@pytest.mark.parametrize("kind", FIFOS)
def test_a_fifo_is_refused_and_not_waited_for(kind, tmp_path, monkeypatch, capsys):
    special_files(tmp_path, os.mkfifo)
    monkeypatch.chdir(tmp_path)
    code, out, err = called(capsys, monkeypatch, *FIFOS[kind])
    assert code == 2
    assert "is a FIFO" in out + err


def test_a_socket_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)  # the name of a socket is at most 107 bytes long
    with socket.socket(socket.AF_UNIX) as own:
        own.bind("own")
        code, _, err = called(capsys, monkeypatch, "check", "own")
    assert code == 2 and "own: is a socket, not a TOML file: copy its content to a file" in err


@pytest.mark.parametrize(
    "command", ["trace <(cat empty.pcap)", "check <(cat pipe.toml)", "check /dev/stdin < pipe.toml"]
)
def test_a_pipe_that_is_open_is_read_once(command, tmp_path):
    special_files(tmp_path, os.mkfifo)
    (tmp_path / "pipe.toml").write_text(SCENARIO)
    words = f"{sys.executable} -m ecnlab {command}"
    done = subprocess.run(["bash", "-c", words], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
