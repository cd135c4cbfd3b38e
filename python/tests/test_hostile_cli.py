"""Attacks on the command line: each ends with a message and a code of its own, and costs nobody a file."""

from __future__ import annotations

import errno
import json
import os
import signal
import struct
import subprocess
import sys
import time

import polars as pl
import pytest
from conftest import EXPERIMENT, SCENARIO, ecnlab_command

from ecnlab import EcnlabError, FolderError, SpecError, load, run
from ecnlab.base.safe_text import json_safe, visible
from ecnlab.cli import main
from ecnlab.folder.ecn_fallback import said, shown
from ecnlab.folder.sealed_json import write_entries
from ecnlab.folder.verified import verify
from ecnlab.report.page import shown as in_html
from ecnlab.runs.sweep import sweep
from ecnlab.scenario.files import check, read_experiment, read_scenario, read_text

ESCAPE = "\x1b[2J\x9b\u202e"


def called(capsys, monkeypatch, *arguments):
    """The command line in this process: its exit code, standard output and standard error."""
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the process is the test runner's
    monkeypatch.delenv("COLUMNS", raising=False)  # of the test runner's terminal
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return ended.value.code, out, err


def test_a_failure_that_nobody_foresaw_has_a_code_and_a_file(monkeypatch, capsys, scenario):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("ecnlab.cli.run.run_scenario", broken)
    code, out, err = called(capsys, monkeypatch, "run", scenario)
    assert (code, out) == (6, "")
    assert "please report it with the details in" in err
    with open(err.split()[-1]) as details:  # noqa: PTH123
        assert "ZeroDivisionError: secret" in details.read()
    code, out, _ = called(capsys, monkeypatch, "run", scenario, "--json")
    assert json.loads(out)["error"]["code"] == 6 == code


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 500 + "]" * 500, "nested too deep"),
        (".".join("a" * 3000) + " = 1", "x.toml"),
        ("\x00", "not TOML"),
    ],
)
def test_toml_without_end(tmp_path, monkeypatch, capsys, text, said):
    (tmp_path / "x.toml").write_text(text)
    for verb, wanted in (("check", 1), ("run", 2), ("sweep", 2)):
        code, out, err = called(capsys, monkeypatch, verb, tmp_path / "x.toml")
        assert (code, out) == (wanted, "")
        assert said in err


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
    with pytest.raises(SpecError, match="cannot read `/dev/zero`: it has more than 64 MiB"):
        check(experiment)
    experiment.write_text(EXPERIMENT.replace("pipe.toml", "gone.toml"))
    with pytest.raises(SpecError, match=r":3:12: `scenario`: cannot read `.*gone.toml`: No such file"):
        check(experiment)


@pytest.mark.parametrize(
    "manifest", ["{}", "[]", "[" * 9000, '{"kind": "run", "format": 1}', '{"kind": "run", "format": 9, "ecnlab": 1}']
)
def test_strange_manifests(tmp_path, manifest):
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(FolderError):
        load(tmp_path)


def test_every_key_of_a_manifest_may_be_missing_or_another(tmp_path, scenario, experiment):
    run(scenario, out=tmp_path / "one")
    sweep(experiment, tmp_path / "many", replicates=1)
    for folder in (tmp_path / "one", tmp_path / "many"):
        path = folder / "manifest.json"
        whole = json.loads(path.read_text())
        for key in whole:
            for other in ({}, {key: 7}, {key: {"../x": {}}}):
                path.write_text(json.dumps({k: v for k, v in whole.items() if k != key} | other))
                try:
                    repr(load(folder))
                except EcnlabError as error:
                    assert str(folder) in str(error)
        path.write_text(json.dumps(whole))


@pytest.mark.parametrize("option", ["--rows", "--connection"])
def test_numbers_of_twenty_digits(monkeypatch, capsys, option):
    code, _, err = called(capsys, monkeypatch, "trace", "x.pcap", option, "9" * 20)
    assert code == 2
    assert "is not in the range" in err


def test_check_goes_on_and_ends_with_the_worst_code(tmp_path, monkeypatch, capsys, scenario):
    (tmp_path / "bad.toml").write_text("format = 1")
    (tmp_path / "noise.toml").write_bytes(b"\xff")
    files = [tmp_path / "gone.toml", tmp_path / "noise.toml", tmp_path / "bad.toml", scenario]
    code, out, err = called(capsys, monkeypatch, "check", *files)
    assert code == 3
    assert f"{scenario}: ok" in out
    assert all(name in err for name in ("gone.toml", "noise.toml", "bad.toml"))
    code, out, _ = called(capsys, monkeypatch, "check", *files, "--json")
    wrong = {os.path.basename(found["path"]) for found in json.loads(out)["findings"]}  # noqa: PTH119
    assert wrong == {"gone.toml", "noise.toml", "bad.toml"}


@pytest.mark.parametrize(
    "arguments", [("run", "gone.toml"), ("show", "gone"), ("run",), ("sweep", "x", "--workers", "0")]
)
def test_json_is_always_json(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    code, out, err = called(capsys, monkeypatch, *arguments, "--json")
    assert json.loads(out)["error"]["code"] == code > 0
    assert err


def test_run_and_sweep_name_each_other(scenario, experiment):
    with pytest.raises(SpecError, match="is an experiment, not a scenario: `ecnlab sweep "):
        read_scenario(experiment)
    with pytest.raises(SpecError, match="is a scenario, not an experiment: `ecnlab run "):
        read_experiment(scenario)


def test_a_typo_in_capture_names_the_nearest_place_once(monkeypatch, capsys, scenario, experiment, tmp_path):
    for verb, file in (("run", scenario), ("sweep", experiment)):
        code, _, err = called(capsys, monkeypatch, verb, file, "--capture", "pip", "--out", tmp_path / "out")
        assert code == 2
        assert err.count("did you mean `pipe`?") == 1


def test_another_run_says_what_differs(scenario, tmp_path, monkeypatch):
    run(scenario, out=tmp_path / "out")
    with pytest.raises(FolderError, match=r"seed: 1 stored, 2 requested; choose another folder"):
        run(scenario, 2, out=tmp_path / "out")
    with monkeypatch.context() as newer, pytest.raises(FolderError, match="requested; made by ecnlab"):
        newer.setattr("ecnlab.folder.manifest.__version__", "99")
        run(scenario, 2, out=tmp_path / "out")
    scenario.write_text(SCENARIO.replace("max_p = 0.1", "max_p = 0.2"))
    with pytest.raises(FolderError, match=r"queue.red.max_p: 0.1 against 0.2"):
        run(scenario, out=tmp_path / "out")


def test_a_grid_is_extended_in_place(experiment, tmp_path):
    sweep(experiment, tmp_path / "out", replicates=1)
    before = load(tmp_path / "out").metrics
    experiment.write_text(
        EXPERIMENT.replace("[0.02, 0.1]", "[0.02, 0.05, 0.1]").replace('["low", "high"]', '["low", "mid", "high"]')
    )
    done = []
    more = sweep(experiment, tmp_path / "out", replicates=1, progress=lambda n, total: done.append((n, total)))
    assert done[0] == (4, 6)
    assert more.metrics.filter(pl.col("max_p") != "mid").equals(before)
    experiment.write_text(EXPERIMENT.replace("seed = 1", "seed = 9"))
    with pytest.raises(FolderError, match="seed: 1 against 9"):
        sweep(experiment, tmp_path / "out", replicates=1)


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


def test_sigterm_leaves_nothing_behind(tmp_path):
    scenario = tmp_path / "pipe.toml"
    os.mkfifo(scenario)
    command = ecnlab_command("run", scenario, "--out", tmp_path / "out", "--capture", "pipe")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        scenario.write_text(SCENARIO.replace('"4 s"', '"2000000 s"').replace('sample = "100 ms"\n', ""))
        deadline = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) == 1 and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, err.strip()) == (143, "terminated")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe.toml"]


IMPORTED = """\
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # the test runner's parent may ignore it
sys.meta_path.insert(0, Interrupt())
sys.argv = ["ecnlab", "laws"]
from ecnlab.cli import main
"""


def test_an_interrupt_while_python_imports_is_no_traceback():
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_an_interrupt_while_a_library_is_loaded_for_a_command_is_told(tmp_path):
    (tmp_path / "run.toml").write_text(SCENARIO)
    begun = IMPORTED.replace('"click"', '"polars"').replace('"laws"', f'"run", {str(tmp_path / "run.toml")!r}')
    command = [sys.executable, "-c", f"{begun}main()"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "interrupted")


@pytest.mark.parametrize(
    "arguments",
    [("check", "fifo"), ("check", "gain.toml"), ("trace", "fifo"), ("trace", "empty.pcap", "--against", "fifo")],
)
def test_a_fifo_that_nobody_writes_hears_an_interrupt(tmp_path, arguments):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "gain.toml").write_text(EXPERIMENT.replace("pipe.toml", "fifo"))
    (tmp_path / "empty.pcap").write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    code = "import sys; from ecnlab.cli import main; print('ready', file=sys.stderr, flush=True); main(sys.argv[1:])"
    command = [sys.executable, "-c", code, *(str(tmp_path / x) if (tmp_path / x).exists() else x for x in arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert process.stderr.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=60)
        finally:
            process.kill()
        assert (process.returncode, process.stderr.read().strip()) == (130, "interrupted")


def test_closed_standard_output():
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *ecnlab_command("laws")]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.strip()) == (3, "standard output is closed: there is nowhere to write results")


def test_what_a_terminal_would_obey_is_written_out(scenario, monkeypatch, capsys, tmp_path):
    assert visible(f"a{ESCAPE}\tb\n") == "a\\x1b[2J\\x9b\\u202e\tb\n"
    assert json.loads(json_safe(json.dumps(ESCAPE, ensure_ascii=False))) == ESCAPE
    assert in_html(ESCAPE) == visible(ESCAPE)
    scenario.write_text(SCENARIO.replace("two flows", "two \\u001b[31m\\u202e flows"))
    for arguments in (("run", scenario, "--out", tmp_path / "o"), ("show", tmp_path / "o", "--json")):
        code, out, err = called(capsys, monkeypatch, *arguments)
        assert code == 0
        assert not {"\x1b", "\u202e"} & set(out + err)
    for arguments in (("show", "a", ESCAPE), ("run", f"--{ESCAPE}"), (ESCAPE,), ("show", "a", "--rows", ESCAPE)):
        code, out, err = called(capsys, monkeypatch, *arguments)
        assert (code, out) == (2, "")
        assert "Usage: ecnlab" in err and "Error: " in err
        assert not set(ESCAPE[:1] + ESCAPE[-2:]) & set(err)
        assert "\\x1b[2J" in err
    scenario.write_text(f"x = '{ESCAPE}'\n", encoding="utf-8")
    _, out, err = called(capsys, monkeypatch, "check", scenario)
    assert not set(ESCAPE[:1] + ESCAPE[-2:]) & set(out + err)


@pytest.mark.parametrize("name", ["x" * 65, "a\\u001bb", " a", "a[0]", "a~b", ""])
def test_names_have_a_rule(scenario, experiment, name):
    scenario.write_text(
        SCENARIO.replace(
            "[queue.red]", f'[queue."{name}"]\ndiscipline = "droptail"\nlimit = "9 packets"\n\n[queue.red]'
        )
    )
    with pytest.raises(SpecError, match="a name in `queue`"):
        check(scenario)
    # A node that only links name.
    scenario.write_text(SCENARIO.replace('"server"', f'"{name}"'))
    with pytest.raises(SpecError, match=r"`link\.left\.from`"):
        check(scenario)
    scenario.write_text(SCENARIO)
    experiment.write_text(EXPERIMENT.replace("[grid.max_p]", f'[grid."{name}"]'))
    if "[" in name or "~" in name:
        check(experiment)
    else:
        with pytest.raises(SpecError, match="a name in `grid`"):
            check(experiment)


def test_flows_that_fell_back_are_told(scenario, monkeypatch, capsys, tmp_path):
    """The first packet of the access link is the SYN of one of the flows; its loss makes that flow a plain one."""
    text = SCENARIO.replace('start = { uniform = ["0 s", "100 ms"] }', 'start = "0 s"', 1)
    text = text.replace("[tcp.ecn]\n", "[tcp.ecn]\necn_syn_fallback = true\n").replace(
        'delay = "1 ms"', 'delay = "1 ms"\ndrop = [1]', 1
    )
    scenario.write_text(text)
    flows = run(scenario).flows.filter(group="marked")
    assert flows.select("ecn", "connections", "ecn_connections", "ecn_fallbacks").row(0) == (False, 1, 0, 1)
    code, out, _ = called(capsys, monkeypatch, "run", scenario, "--out", tmp_path / "o")
    assert code == 0
    assert "fell back" in out
    assert "ECN fell back on 1 of 1 connections in marked: a SYN that asked for it was not answered in time" in out


def test_mixed_groups_never_read_true():
    flows = pl.DataFrame(
        {
            "group": ["a", "a", "b", "c"],
            "ecn": [True, True, False, False],
            "connections": [4, 1, 2, 1],
            "ecn_connections": [3, 1, 0, 0],
            "ecn_fallbacks": [1, 0, 2, 0],
        }
    )
    assert shown(flows)["ecn"].to_list() == ["mixed", "yes", "fell back", "no"]
    assert said(flows).startswith("ECN fell back on 3 of 7 connections in a, b:")
    assert said(flows.filter(group="c")) == ""
    assert said(flows.drop("ecn_fallbacks")) == ""


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


TRACE = 'rate = { csv = "rate.csv" }'
BOM = b"\xef\xbb\xbf"


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
