"""Attacks on the command line: each ends with a message and a code of its own, and costs nobody a file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest
from called import called
from conftest import EXPERIMENT, SCENARIO, ecnlab_command

from ecnlab import EcnlabError, FolderError, SpecError, load, run
from ecnlab.base.safe_text import json_safe, visible
from ecnlab.folder.ecn_fallback import fallbacks, shown
from ecnlab.report.page import shown as in_html
from ecnlab.runs.sweep import sweep
from ecnlab.scenario.files import check, read_experiment, read_scenario

ESCAPE = "\x1b[2J\x9b\u202e"


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


def test_sigterm_leaves_nothing_behind(tmp_path):
    text = SCENARIO.replace('"4 s"', '"2000000 s"').replace('sample = "100 ms"\n', "")
    (tmp_path / "pipe.toml").write_text(text)
    command = ecnlab_command("run", tmp_path / "pipe.toml", "--out", tmp_path / "out", "--capture", "pipe")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
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


@pytest.mark.parametrize("arguments", [("check", "/dev/stdin"), ("trace", "-"), ("trace", "fifo")])
def test_a_pipe_that_nobody_writes_hears_an_interrupt(tmp_path, arguments):
    os.mkfifo(tmp_path / "fifo")
    code = "import sys; from ecnlab.cli import main; print('ready', file=sys.stderr, flush=True); main(sys.argv[1:])"
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
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
    assert fallbacks(flows).startswith("ECN fell back on 3 of 7 connections in a, b:")
    assert fallbacks(flows.filter(group="c")) == ""
    assert fallbacks(flows.drop("ecn_fallbacks")) == ""


def test_a_handshake_that_the_end_of_the_run_cuts_off_makes_no_group_mixed(tmp_path):
    """Every transaction begins with a handshake of 20 ms."""
    (tmp_path / "short.toml").write_text(
        'format = 1\nduration = "1025 ms"\n[link.line]\nfrom = "a"\nto = "b"\nrate = "10 Mbps"\ndelay = "10 ms"\n'
        'queue = "red"\n[queue.red]\ndiscipline = "codel"\nlimit = "60 packets"\necn = true\n[tcp.default]\necn = "rfc3168"\n'
        '[flow.short]\nfrom = "a"\nto = "b"\n'
        'traffic = { kind = "crr", request = "100 B", response = "100 B" }\n'
    )
    flows = run(tmp_path / "short.toml").flows
    ((opened, established, capable),) = flows.select("connections", "connections_established", "ecn_connections").rows()
    assert opened == established + 1 == capable + 1 > 10
    assert shown(flows)["ecn"].to_list() == ["yes"]
    assert shown(flows.drop("connections_established"))["ecn"].to_list() == ["mixed"]
