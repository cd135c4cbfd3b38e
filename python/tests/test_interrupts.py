"""Ctrl-C and SIGTERM end a command wherever they come: where Python loses exceptions, and while a cluster starts or closes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import ecnlab_command, mostly_slow
from test_userlaws import WINDOW
from test_userlaws import scenario as law_scenario

SECONDS = 120
"""After which a command that has not ended fails its test."""

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}

# Executed in the process of the command, which loads the law to check it. Workers ignore SIGINT.
SENDING = """\
import gc, os, signal, weakref
from ecnlab.base.threads import Threads
from ecnlab.runs.cluster import ClusterPool

class Object:
    pass

def send(*_):
    os.kill(os.getpid(), signal.{how})
    for _ in range(1000):
        pass

class Deleted:
    __del__ = send

def deleted():
    Deleted()

def weak():
    here = Object()
    reference = weakref.ref(here, send)
    del here

def collected():
    gc.callbacks.append(send_once)
    gc.collect()

def send_once(*_):
    gc.callbacks.remove(send_once)
    send()

def discarded():
    try:
        send()
    except BaseException:
        pass

def sending(pool):
    wait = pool._next
    def waiting(self, *arguments):
        pool._next = wait
        {where}()
        return wait(self, *arguments)
    pool._next = waiting

if {client}:
    sending({pool})
"""

EXPERIMENT = 'format = 1\nscenario = "x.toml"\nreplicates = 3\n'

POOLS = {"run": "Threads", "sweep": "Threads", "cluster": "ClusterPool"}
COMMANDS = {
    "run": ["run", "x.toml", "--out", "out"],
    "sweep": ["sweep", "e.toml", "--out", "out"],
    "cluster": ["sweep", "e.toml", "--out", "out", "--cluster", "local", "--workers", "1"],
}
LOST = [
    ("run", "weak", signal.SIGINT),
    ("sweep", "weak", signal.SIGINT),
    ("sweep", "deleted", signal.SIGTERM),
    ("sweep", "collected", signal.SIGINT),
    ("sweep", "discarded", signal.SIGINT),
    ("cluster", "weak", signal.SIGINT),
    ("cluster", "deleted", signal.SIGINT),
    ("cluster", "collected", signal.SIGTERM),
]


@pytest.mark.parametrize("case", mostly_slow(LOST, LOST[0], LOST[2], LOST[5]), ids=str)
def test_an_interrupt_that_python_loses_ends_the_command(tmp_path, case):
    command, where, how = case
    client = f"os.getpid() == int(open({str(tmp_path / 'pid')!r}).read())"
    sending = SENDING.format(where=where, how=how.name, pool=POOLS[command], client=client)
    law_scenario(tmp_path, window=sending + WINDOW, seconds=1_000_000)  # hours
    (tmp_path / "e.toml").write_text(EXPERIMENT)
    code, said = ended(tmp_path, COMMANDS[command])
    assert code == CODES[how], said
    assert "Traceback" not in said and "ignored" not in said
    assert command == "run" or "finished runs are in out: the same command continues" in said
    assert said.rstrip().endswith("interrupted" if how is signal.SIGINT else "terminated")


def ended(folder: Path, arguments: list[str]) -> tuple[int, str]:
    """The exit code and standard error of a command; the file ``pid`` has its process."""
    begin = 'echo $$ > pid; exec "$@"'
    done = subprocess.run(
        ["/bin/sh", "-c", begin, "sh", *ecnlab_command(*arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    return done.returncode, done.stderr


MOMENTS = [0.7, 1.5, 3.0, 4.5]
"""Seconds after the start of the command: libraries, the scheduler, the workers, and the first runs come one after the other."""


@pytest.mark.parametrize("moment", mostly_slow(MOMENTS, 1.5))
@pytest.mark.parametrize("how", mostly_slow(CODES, signal.SIGINT))
def test_a_signal_while_a_cluster_starts_is_no_traceback(slow_experiment, tmp_path, moment, how):
    pipe = slow_experiment.with_name("pipe.toml")
    pipe.write_text(pipe.read_text().replace('"2000 s"', '"2000000 s"'))  # hours
    code, said = signalled(tmp_path, lambda _said: time.sleep(moment) is None, how)
    assert code == CODES[how], said
    assert "Traceback" not in said and "ignored" not in said


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0, 0.05, 0.2, 0.5, 1.0])
def test_a_signal_while_a_cluster_closes_is_no_traceback(experiment, tmp_path, delay):
    code, said = signalled(tmp_path, lambda said: "12 of 12 runs" in said and time.sleep(delay) is None, signal.SIGINT)
    assert code in (0, 130), said
    assert "Traceback" not in said and "ignored" not in said


def signalled(folder: Path, is_time, how: signal.Signals) -> tuple[int, str]:
    """The exit code and messages of a sweep on a cluster that gets a signal when ``is_time`` returns true for its messages.

    Its workers get SIGINT, too, as from a terminal.
    """
    command = ecnlab_command("sweep", "gain.toml", "--out", "out", "--cluster", "local", "--workers", "2")
    file = folder / "said"
    with file.open("w") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, start_new_session=True)
    try:
        until = time.monotonic() + SECONDS
        while not is_time(file.read_text()) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        if how is signal.SIGINT:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        return process.wait(SECONDS), file.read_text()
    finally:
        process.kill()
