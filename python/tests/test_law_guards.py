"""User-defined laws that block, print, end their process or change: ecnlab ends when asked, and names the law."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ecnlab_command, first_fast, mostly_slow
from test_userlaws import QUEUE, WINDOW, scenario

import ecnlab
from ecnlab._core import Cancel, Cancelled, LawError, SpecError
from ecnlab.base.errors import EcnlabError
from ecnlab.scenario.files import check, read_scenario

HANGS = 600
"""Seconds that a law sleeps: more than any test takes."""

WAIT = 120
"""Seconds after which a command that was to end has not."""

EXPERIMENT = 'format = 1\nscenario = "x.toml"\nreplicates = 2\n'

ONE_RUN = EXPERIMENT.replace("2", "1")
"""A sweep of it starts one worker, where a second would show nothing else."""


def begun(text: str, folder: Path) -> str:
    """``text`` after a line that shows the test that the law has come there."""
    return f"open({str(folder / 'begun')!r}, 'w').close(); {text}"


def loading(folder: Path) -> str:
    """A law whose file takes long to execute."""
    return f"import time\n{begun(f'time.sleep({HANGS})', folder)}\n{WINDOW}"


def calling(folder: Path, line: str) -> str:
    """A law with ``line`` in a method."""
    return "import os, sys, threading, time\n" + WINDOW.replace("window.cwnd += acked", line)


def interrupted(folder: Path, command: list[str], how: signal.Signals) -> tuple[int, str]:
    """The exit code and standard error of ``command``, which gets the signal ``how`` when the law has begun."""
    process = subprocess.Popen(
        [*ecnlab_command(), *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + WAIT
        while not (folder / "begun").exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(how)
        _, said = process.communicate(timeout=WAIT)
    finally:
        process.kill()
    return process.returncode, said


SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}


@pytest.mark.parametrize("how", mostly_slow(SIGNALS, signal.SIGINT))
@pytest.mark.parametrize(
    "command", [["check", "x.toml"], ["run", "x.toml"], ["check", "e.toml"], ["sweep", "e.toml"], ["probe", "x.toml"]]
)
def test_an_interrupt_while_a_law_is_loaded_is_an_interrupt(tmp_path, command, how):
    scenario(tmp_path, window=loading(tmp_path))
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    code, said = interrupted(tmp_path, command, how)
    assert code == SIGNALS[how], said
    assert "law.py" not in said and "Traceback" not in said


LONG = {"blocks": f"time.sleep({HANGS})", "loops": "exec('while True: pass')", "slow": "time.sleep(0.01)"}


@pytest.mark.parametrize("how", mostly_slow(SIGNALS, signal.SIGINT))
@pytest.mark.parametrize(
    ("command", "line"),
    first_fast(
        2,
        [
            (["run", "x.toml"], "loops"),
            (["sweep", "e.toml"], "blocks"),
            (["run", "x.toml"], "slow"),
            (["run", "x.toml"], "blocks"),
            (["sweep", "e.toml"], "loops"),
            (["sweep", "e.toml"], "slow"),
        ],
    ),
)
def test_an_interrupt_ends_a_run_whose_law_takes_long(tmp_path, command, line, how):
    scenario(tmp_path, window=calling(tmp_path, begun(LONG[line], tmp_path)), seconds=1_000)
    (tmp_path / "e.toml").write_text(EXPERIMENT if line == "blocks" else ONE_RUN)
    code, said = interrupted(tmp_path, command, how)
    assert code == SIGNALS[how], said
    assert not list((tmp_path / "results").glob("x-*"))


def test_no_law_is_called_once_the_run_is_to_stop(tmp_path):
    cancel = Cancel()
    cancel.cancel()
    law = calling(tmp_path, begun("pass", tmp_path))
    with pytest.raises(Cancelled):
        read_scenario(scenario(tmp_path, window=law, seconds=1_000)).run(1, cancel=cancel)
    assert not (tmp_path / "begun").exists()


def test_an_interrupt_raised_while_a_law_is_loaded_reaches_the_caller(tmp_path):
    path = scenario(tmp_path, window=f"raise KeyboardInterrupt\n{WINDOW}")
    with pytest.raises(KeyboardInterrupt):
        read_scenario(path)
    scenario(tmp_path, window=WINDOW)
    read_scenario(path)


# Files that are not trusted.


def touching(folder: Path) -> str:
    """A law whose file shows that it was executed."""
    return f"{begun('pass', folder)}\n{WINDOW}"


@pytest.mark.parametrize("way", ["option", "environment"])
@pytest.mark.parametrize(
    "command",
    [
        ["check", "x.toml"],
        ["run", "x.toml"],
        ["check", "e.toml"],
        ["sweep", "e.toml"],
        ["agree", "e.toml"],
        ["probe", "x.toml"],
    ],
)
def test_a_law_that_is_forbidden_is_refused_and_not_executed(forked, tmp_path, command, way):
    scenario(tmp_path, window=touching(tmp_path))
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    option = ["--no-python"] if way == "option" else []
    env = {**os.environ, **({} if option else {"ECNLAB_LAWS": "off"})}
    done = forked.call([*command, *option], tmp_path, env)
    assert done.returncode == (1 if command[0] == "check" else 2)
    assert "x.toml:14:" in done.stderr and "`tcp.default.congestion.python`: `law.py` is not executed" in done.stderr
    assert "if you trust it" in done.stderr
    assert not (tmp_path / "begun").exists()


def test_a_word_that_the_switch_does_not_have_is_refused(tmp_path, monkeypatch):
    path = scenario(tmp_path, window=touching(tmp_path))
    monkeypatch.setenv("ECNLAB_LAWS", "no")
    with pytest.raises(SpecError, match=r"ECNLAB_LAWS is \"no\"") as refused:
        read_scenario(path)
    assert refused.value.diagnostics[0]["help"] == "write `on` or `off`"
    assert not (tmp_path / "begun").exists()


def test_a_scenario_without_laws_in_python_is_run_where_they_are_forbidden(tmp_path, monkeypatch):
    monkeypatch.setenv("ECNLAB_LAWS", "off")
    assert ecnlab.run(scenario(tmp_path)).flows.height == 1


# A law's own mistakes.


def test_a_law_edited_during_a_sweep_is_reported_as_changed(cli, tmp_path):
    law = tmp_path / "law.py"
    # The first run edits the law.
    edits = calling(tmp_path, f"open({str(law)!r}, 'a').write('# edited\\n')")
    scenario(tmp_path, window=edits, seconds=1)
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    done = cli("sweep", "e.toml", "--workers", "1")
    assert done.returncode == 2, done.stderr
    assert "law.py: the file has changed since the sweep or run began" in done.stderr and "defect" not in done.stderr


def test_a_law_edited_before_its_run_is_reported_as_changed(tmp_path):
    question = read_scenario(scenario(tmp_path, window=WINDOW))
    scenario(tmp_path, window=f"{WINDOW}# edited\n")
    with pytest.raises(EcnlabError, match=r"law\.py: the file has changed since"):
        ecnlab.run(question)


PARAMETERS = {
    "grow(self, window, acked)": ("grow(self, window)", 2, "def grow(self, window, acked)"),
    "on_congestion(self, window, event)": (
        "on_congestion(self, event, window)",
        5,
        "def on_congestion(self, window, event)",
    ),
}


@pytest.mark.parametrize("wanted", PARAMETERS)
def test_parameters_that_a_method_does_not_have_are_refused_by_check(tmp_path, wanted):
    written, line, remedy = PARAMETERS[wanted]
    path = scenario(tmp_path, window=WINDOW.replace(wanted, written))
    with pytest.raises(SpecError, match=r"` takes \(.*\), not \(") as refused:
        check(path)
    assert f"{tmp_path}/law.py:{line}, in Law: " in str(refused.value) and f"write `{remedy}`" in str(refused.value)


@pytest.mark.parametrize(
    "written",
    [
        "self, packet, *rest",
        "self, *all",
        "self, _packet, queue, _, random",
        "self, packet, queue, now, random, more=1",
    ],
)
def test_parameters_that_fit_are_accepted(tmp_path, written):
    check(scenario(tmp_path, queue=QUEUE.replace("self, packet, queue, now, random", written)))


def test_an_exception_of_a_law_has_its_own_exit_code_and_shows_the_lines_of_the_law_only(cli, tmp_path):
    law = "def helper():\n    return 1 / 0\n\n" + WINDOW.replace("window.cwnd += acked", "helper()")
    scenario(tmp_path, window=law)
    done = cli("run", "x.toml")
    assert done.returncode == 7
    assert "law.py:2, in helper: ZeroDivisionError: division by zero" in done.stderr
    shown = [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("File ")]
    assert shown == ['File "law.py", line 6, in grow', 'File "law.py", line 2, in helper']
    assert "defect" not in done.stderr and "ecnlab/" not in done.stderr
    (tmp_path / "e.toml").write_text(ONE_RUN)
    assert cli("sweep", "e.toml").returncode == 7


@pytest.mark.parametrize("place", ["module", "constructor", "method"])
@pytest.mark.parametrize("how", first_fast(1, ["os.write(1, b'noise')", "print('noise')"]))
def test_what_a_law_prints_is_no_result(cli, tmp_path, place, how):
    text = {
        "module": f"import os\n{how}\n{WINDOW}",
        "constructor": f"import os\n{WINDOW}    def __init__(self):\n        {how}\n",
        "method": calling(tmp_path, how),
    }[place]
    scenario(tmp_path, window=text)
    for command in (["check", "x.toml"], ["run", "x.toml"]):
        done = cli(*command, "--json")
        assert done.returncode == 0, done.stderr
        json.loads(done.stdout)
        assert "noise" in done.stderr or (command[0] == "check" and place == "method")


def own_process(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """``command`` in no fork: what a law ends is the process in which ecnlab was imported."""
    return subprocess.run([*ecnlab_command(), *command], cwd=folder, capture_output=True, text=True, timeout=WAIT)


ENDS = {
    "module": "import os\nos._exit(0)\n" + WINDOW,
    "constructor": "import os\n" + WINDOW + "    def __init__(self):\n        os._exit(0)\n",
}


@pytest.mark.parametrize("place", ENDS)
@pytest.mark.parametrize("command", ["check", "run", "sweep"])
def test_a_law_that_ends_its_process_while_it_is_loaded_is_named(tmp_path, place, command):
    scenario(tmp_path, window=ENDS[place])
    (tmp_path / "e.toml").write_text(ONE_RUN)
    done = own_process(tmp_path, command, "e.toml" if command == "sweep" else "x.toml")
    assert done.returncode == (1 if command == "check" else 2)
    assert "law.py:" in done.stderr and "os._exit(0)" in done.stderr


@pytest.mark.parametrize(
    ("command", "line"),
    first_fast(
        2,
        [
            (["run", "x.toml"], "os._exit(0)"),
            (["sweep", "e.toml"], "__import__('posix')._exit(0)"),
            (["run", "x.toml"], "__import__('posix')._exit(0)"),
            (["sweep", "e.toml"], "os._exit(0)"),
        ],
    ),
)
def test_a_law_that_ends_its_process_in_a_run_is_named(tmp_path, command, line):
    scenario(tmp_path, window=calling(tmp_path, line))
    (tmp_path / "e.toml").write_text(ONE_RUN)
    done = own_process(tmp_path, *command)
    assert done.returncode == 7
    assert "law.py" in done.stderr
    assert "exit code 0" in done.stderr or "os._exit(0) in a law" in done.stderr


def test_a_thread_that_a_law_has_begun_is_not_waited_for(cli, tmp_path):
    text = f"import threading, time\nthreading.Thread(target=time.sleep, args=({HANGS},)).start()\n{WINDOW}"
    scenario(tmp_path, window=text)
    for command, out in (("check", "x.toml: ok"), ("run", "stored in")):
        done = cli(command, "x.toml")
        assert done.returncode == 0 and out in done.stdout


def test_what_a_law_raises_is_a_law_error_with_its_traceback(tmp_path):
    with pytest.raises(LawError) as raised:
        ecnlab.run(scenario(tmp_path, window=WINDOW.replace("window.cwnd += acked", "1 / 0")))
    assert "1 / 0" in raised.value.traceback
