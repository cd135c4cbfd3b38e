"""Laws in Python that block, print, end their process or change: ecnlab ends when asked, and names the law."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ecnlab_command
from test_python_laws import WINDOW, scenario

import ecnlab
from ecnlab._core import Cancel, Cancelled, SpecError
from ecnlab.scenario import read_scenario

HANGS = 600
"""Seconds that a law sleeps: more than any test takes."""

WAIT = 120
"""Seconds after which a command that was to end has not."""

EXPERIMENT = 'format = 1\nscenario = "x.toml"\nreplicates = 2\n'


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


@pytest.mark.parametrize("how", SIGNALS)
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


@pytest.mark.parametrize("how", SIGNALS)
@pytest.mark.parametrize("line", LONG)
@pytest.mark.parametrize("command", [["run", "x.toml"], ["sweep", "e.toml"]])
def test_an_interrupt_ends_a_run_whose_law_takes_long(tmp_path, command, line, how):
    scenario(tmp_path, window=calling(tmp_path, begun(LONG[line], tmp_path)), seconds=1_000)
    (tmp_path / "e.toml").write_text(EXPERIMENT)
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
def test_a_law_that_is_forbidden_is_refused_and_not_executed(tmp_path, command, way):
    scenario(tmp_path, window=touching(tmp_path))
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    option = ["--no-python"] if way == "option" else []
    env = {**os.environ, **({} if option else {"ECNLAB_LAWS": "off"})}
    done = subprocess.run([*ecnlab_command(), *command, *option], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == (1 if command[0] == "check" else 2)
    assert "x.toml:18:" in done.stderr and "`tcp.default.congestion.python`: `law.py` is not executed" in done.stderr
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
