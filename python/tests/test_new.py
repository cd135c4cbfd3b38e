"""``ecnlab new``: its scenarios are valid for every queue discipline and every window law, and wrong options are refused."""

from __future__ import annotations

import os
import pty
import tomllib

import pytest
from conftest import mostly_slow

from ecnlab import _core
from ecnlab.base.errors import EcnlabError
from ecnlab.scenario import files
from ecnlab.scenario.sketched import sketch, text

QUEUES = list(_core.laws()["queue"])
SENDERS = list(_core.laws()["congestion"])


@pytest.fixture
def laws(cli, tmp_path):
    """A folder with the Python files of user-defined laws, which ``new`` wrote."""
    done = cli("new", "--queue", "user-defined", "--senders", "user-defined", "--out", "scenario.toml")
    assert done.returncode == 0, done.stderr
    assert {file.name for file in (tmp_path / "laws").iterdir()} == {"step.py", "reno.py"}
    return tmp_path


@pytest.mark.parametrize("rate", mostly_slow(["256 kbps", "40 Mbps", "10 Gbps"], "40 Mbps"))
@pytest.mark.parametrize("queue", QUEUES)
def test_every_queue_discipline_with_every_sender_is_valid(laws, rate, queue) -> None:
    for senders in (*SENDERS, ",".join(SENDERS)):
        path = laws / "scenario.toml"
        path.write_text(text(sketch(rate, "20 ms", queue, senders, "30 s")))
        scenario = files.read_scenario(path)
        assert list(scenario.resolved["flow"]) == sorted(senders.split(","))


@pytest.mark.parametrize("queue", QUEUES)
def test_every_line_has_a_comment(queue) -> None:
    lines = text(sketch("40Mbps", "20ms", queue, ",".join(SENDERS), "30s")).splitlines()
    keys = [line for line in lines if " = " in line.split("#")[0]]
    assert len(keys) > 20
    assert [line for line in keys if not line.partition(" # ")[2].strip()] == []


def test_the_file_has_what_the_options_say_and_is_accepted_by_check(cli, tmp_path) -> None:
    options = (
        "--rate",
        "40Mbps",
        "--rtt",
        "30ms",
        "--queue",
        "dualpi2",
        "--senders",
        "prague,cubic",
        "--duration",
        "9s",
    )
    done = cli("new", *options, "--out", "mine/first.toml")
    assert (done.returncode, done.stdout) == (0, "mine/first.toml\n")
    assert done.stderr == "next: ecnlab run mine/first.toml\n"
    found = tomllib.loads((tmp_path / "mine" / "first.toml").read_text())
    link = found["link"]["bottleneck"]
    assert (link["rate"], link["delay"], found["duration"]) == ("40 Mbps", "15 ms", "9 s")
    assert found["queue"]["bottleneck"]["discipline"] == "dualpi2"
    assert (found["tcp"]["prague"]["profile"], found["tcp"]["cubic"]["congestion"]) == ("l4s", "cubic")
    assert cli("check", "mine/first.toml").returncode == 0
    again = cli("new", "--out", "mine/first.toml")
    assert again.returncode == 2 and "exists with another content" in again.stderr


@pytest.mark.parametrize(
    ("option", "value", "remedy"),
    [
        ("rate", "40", 'write one such as "40 Mbps"'),
        ("rate", "0 Mbps", 'write one such as "40 Mbps"'),
        ("rtt", "20 Mbps", 'write one such as "20 ms"'),
        ("duration", "long", 'write one such as "30 s"'),
        ("rate", "40M", 'did you mean "40 Mbps"?'),
        ("rate", "40 MB/s", 'did you mean "40 Mbps"?'),
        ("duration", "30sec", 'did you mean "30 s"?'),
        ("queue", "fq-codel", "did you mean `fq_codel`?; valid names: droptail, red"),
        ("queue", "FQ_CODEL", "did you mean `fq_codel`?"),
        ("queue", "fqcodel", "did you mean `fq_codel`?"),
        ("senders", "Cubic", "did you mean `cubic`?"),
        ("queue", "nothing-like-it", "valid names: droptail, red"),
        ("senders", "prague,cubik", "valid names: reno"),
        ("senders", ",", "such as prague,cubic"),
        ("senders", "cubic,cubic", "name each window law once"),
    ],
)
def test_a_wrong_option_is_refused_with_its_remedy(option, value, remedy) -> None:
    good = {"rate": "1 Mbps", "rtt": "1 ms", "queue": "red", "senders": "reno", "duration": "1 s"}
    with pytest.raises(EcnlabError) as refused:
        sketch(**(good | {option: value}))
    assert str(refused.value).startswith(f"--{option}") and remedy in str(refused.value)


@pytest.mark.parametrize("rate", ["20 Mb/s", "20Mbit/s", "20mbit", "20 Mbps", "20000 kbit"])
def test_rates_are_accepted_as_files_and_tc_write_them(cli, tmp_path, rate) -> None:
    assert cli("new", "--rate", rate, "--out", "x.toml").returncode == 0
    written = tomllib.loads((tmp_path / "x.toml").read_text())["link"]["bottleneck"]["rate"]
    assert written in ("20 Mbps", "20000 kbps")


def test_cake_has_its_own_keys(cli, tmp_path) -> None:
    assert cli("new", "--queue", "cake", "--out", "x.toml").returncode == 0
    queue = tomllib.loads((tmp_path / "x.toml").read_text())["queue"]["bottleneck"]
    assert set(queue) == {"discipline", "diffserv", "isolation", "rtt", "overhead"}


def test_a_sweep_of_queues_has_no_warning_and_runs(cli, tmp_path) -> None:
    swept = ("--sweep", "queues=cake,pie,dualpi2,red", "--seeds", "2", "--senders", "cubic,prague", "--duration", "1s")
    done = cli("new", *swept, "--out", "x.toml")
    assert (done.stdout, done.stderr) == ("x.toml\nx-sweep.toml\n", "next: ecnlab sweep x-sweep.toml\n")
    checked = cli("check", "x.toml", "x-sweep.toml")
    assert (checked.returncode, checked.stderr) == (0, "")
    found = tomllib.loads((tmp_path / "x-sweep.toml").read_text())
    assert (list(found["arm"]), found["replicates"]) == (["cake", "pie", "dualpi2", "red"], 2)
    assert {"goodput_cubic", "goodput_prague", "fairness", "sojourn_p99", "marks", "drops"} <= set(found["metrics"])
    assert cli("sweep", "x-sweep.toml", "--replicates", "1", "--workers", "1").returncode == 0


@pytest.mark.parametrize(
    ("sweep", "remedy"),
    [
        ("queues=fq-codel,pie", "did you mean `fq_codel`?"),
        ("queues=pie", "such as queues=fq_codel,cake"),
        ("queues=pie,pie", "such as queues=fq_codel,cake"),
        ("rates=1,2", "such as queues=fq_codel,cake"),
        ("queues=user-defined,pie", "name built-in disciplines"),
    ],
)
def test_a_wrong_sweep_is_refused_with_its_remedy(cli, tmp_path, sweep, remedy) -> None:
    done = cli("new", "--sweep", sweep, "--out", "x.toml")
    assert done.returncode == 2 and done.stderr.startswith("--sweep") and remedy in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_on_a_terminal_it_asks(tmp_path, monkeypatch) -> None:
    from ecnlab.cli import main

    monkeypatch.chdir(tmp_path)
    leader, follower = pty.openpty()
    os.write(leader, b"1 Mbps\n\nred\nreno\n5 s\n")
    with os.fdopen(follower) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        with pytest.raises(SystemExit) as ended:
            main(["new"])
    assert ended.value.code == 0
    found = tomllib.loads((tmp_path / "scenario.toml").read_text())
    assert (found["link"]["bottleneck"]["rate"], found["duration"]) == ("1 Mbps", "5 s")
    assert (found["link"]["bottleneck"]["delay"], found["queue"]["bottleneck"]["discipline"]) == ("10 ms", "red")


EXTREME = (
    ("--duration", "1000000 h"),
    ("--duration", "2400 h"),
    ("--duration", "1 ps"),
    ("--duration", "50 ms"),
    ("--rate", "0.001 bps"),
    ("--rate", "1 bps"),
    ("--rate", "99999999999 Gbps"),
    ("--rate", "9" * 400 + " Gbps"),
    ("--rtt", "1 ps"),
    ("--rtt", "7 h"),
    ("--rtt", "1000 h"),
    ("--queue", "nothing"),
    ("--senders", "reno,reno"),
    ("--senders", ""),
)


@pytest.mark.parametrize(("option", "value"), EXTREME, ids=lambda value: value[:20])
def test_a_file_that_new_writes_is_accepted_by_check(cli, tmp_path, option, value) -> None:
    done = cli("new", option, value, "--out", "x.toml")
    if done.returncode == 0:
        checked = cli("check", "x.toml")
        assert checked.returncode == 0, checked.stderr
    else:
        assert done.returncode == 2 and done.stderr.startswith(option), done.stderr
        assert list(tmp_path.iterdir()) == []


def test_a_buffer_beyond_the_memory_names_the_options(cli, tmp_path) -> None:
    done = cli("new", "--rate", "10000 Gbps", "--rtt", "48 h", "--queue", "user-defined", "--out", "x.toml")
    if done.returncode:
        assert done.stderr.startswith("--r") and list(tmp_path.iterdir()) == []
    else:
        assert cli("check", "x.toml").returncode == 0
