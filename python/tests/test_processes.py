"""Processes that the command starts: code that must not be executed, processes that are killed, readers that have gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import proc
import pytest
from conftest import EXPERIMENT, assert_same_bytes, first_fast, mostly_slow
from test_userlaws import QUEUE, WINDOW
from test_userlaws import scenario as law_scenario

SECONDS = 120
"""After which a command that has not ended fails its test."""

COMMAND = [sys.executable, "-P", "-m", "ecnlab"]
"""As the script `ecnlab`, which does not import from the working folder."""

CAPTURE = Path(__file__).parents[2] / "tests" / "data" / "captures" / "ecn.pcap.gz"


def done(folder: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command with ``arguments``, in ``folder``."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


# Files with the names of Python's own modules.


def shadow(folder: Path) -> Path:
    """Put a file for each module of Python's library into ``folder``; return the file to which those executed add their names."""
    executed = folder / "executed"
    for name in {*sys.stdlib_module_names, *OTHER_MODULES}:
        (folder / f"{name}.py").write_text(f"import _io\n_io.open({str(executed)!r}, 'a').write('{name} ')\n")
    return executed


OTHER_MODULES = [
    "click",
    "dask",
    "distributed",
    "ecnlab",
    "matplotlib",
    "numpy",
    "polars",
    "sitecustomize",
    "usercustomize",
]

COMMANDS = [
    ["run", "law.toml", "--out", "two"],
    ["sweep", "gain.toml", "--out", "many", "--replicates", "1"],
    ["sweep", "gain.toml", "--out", "many", "--replicates", "1", "--cluster", "local", "--workers", "1"],
    ["check", "pipe.toml", "gain.toml"],
    ["run", "pipe.toml", "--out", "one"],
    ["report", "stored", "--out", "page.html"],
    ["sweep", "gain.toml", "--out", "many", "--replicates", "1", "--no-python"],
    ["plan", "gain.toml", "--metric", "marked", "--half-width", "50%", "--pilot", "2"],
    ["score", "aqm", "codel", "--out", "card", "--scenario", "newreno"],
    ["trace", str(CAPTURE)],
]
"""First those that start processes of another kind: the command itself with a law, workers, a cluster."""


@pytest.mark.parametrize("arguments", first_fast(3, COMMANDS), ids=lambda arguments: " ".join(arguments[:2]))
def test_no_file_of_the_working_folder_is_imported(experiment, tmp_path, arguments):
    if "law.toml" in arguments:
        law_scenario(tmp_path, window=WINDOW).rename(tmp_path / "law.toml")
    if "stored" in arguments:
        assert done(tmp_path, "run", "pipe.toml", "--out", "stored").returncode == 0
    executed = shadow(tmp_path)
    ended = done(tmp_path, *arguments, ECNLAB_LAWS="on" if "law.toml" in arguments else "off")
    assert ended.returncode == 0, ended.stderr
    assert not executed.exists(), executed.read_text()


# Processes that are killed.


def started(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def workers_of(command: subprocess.Popen[str]) -> list[int]:
    """The workers that ``command`` has started and that have not ended, whichever of its threads has started them."""
    return [pid for pid in proc.children(command.pid) if b"ecnlab.runs.workers" in proc.command(pid)]


def killed(command: subprocess.Popen[str], number: int) -> tuple[int, str]:
    """Kill the first ``number`` workers of ``command`` as they start; its exit code and standard error."""
    found = set[int]()
    try:
        while len(found) < number and command.poll() is None:
            for pid in workers_of(command):
                if pid not in found and len(found) < number:
                    os.kill(pid, signal.SIGKILL)
                    found.add(pid)
            time.sleep(0.001)
        _, said = command.communicate(timeout=SECONDS)
    finally:
        command.kill()
    assert len(found) == number, said
    return command.returncode, said


@pytest.mark.parametrize("number", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_worker_that_is_killed_before_its_run_is_replaced(experiment, cli, tmp_path, number):
    whole = cli("sweep", "gain.toml", "--out", "whole", "--replicates", 1)
    command = started(tmp_path, "sweep", "gain.toml", "--out", "out", "--replicates", 1, "--workers", 2)
    code, said = killed(command, number)
    assert code == whole.returncode == 0, said
    assert said == whole.stderr
    assert_same_bytes(tmp_path / "whole" / "tables", tmp_path / "out" / "tables")


def test_workers_that_are_always_killed_are_reported_with_their_runs(experiment, cli, tmp_path):
    experiment.write_text(EXPERIMENT.replace("[0.02, 0.1]", "[0.02]").replace('["low", "high"]', '["low"]'))
    code, said = killed(
        started(tmp_path, "sweep", "gain.toml", "--out", "out", "--replicates", 1, "--workers", 1), 2 * 3
    )
    assert code == 4, said
    assert said.count("its process died, ended by SIGKILL; `ecnlab sweep gain.toml --only ") == 2
    assert cli("sweep", "gain.toml", "--out", "out", "--replicates", 1).returncode == 0


KILLED_ONCE = """\
try:
            os.close(os.open({path!r}, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            window.cwnd += acked"""
"""In a window law: the first process that calls it is killed."""


def test_a_worker_that_is_killed_in_its_run_loses_only_this_run(cli, tmp_path):
    law = WINDOW.replace("window.cwnd += acked", KILLED_ONCE.format(path=str(tmp_path / "killed")))
    law_scenario(tmp_path, window=f"import os, signal\n{law}")
    (tmp_path / "e.toml").write_text('format = 1\nscenario = "x.toml"\nreplicates = 4\n')
    ended = cli("sweep", "e.toml", "--out", "out")
    assert ended.returncode == 4, ended.stderr
    assert (
        ended.stderr.count("its process died, ended by SIGKILL")
        == ended.stderr.count("`ecnlab sweep e.toml --only ")
        == 1
    )
    assert len(list((tmp_path / "out" / "parts").glob("[!.]*.arrows"))) == 3


# Output that no one reads.


@pytest.mark.parametrize(
    "arguments",
    first_fast(
        3,
        [["schema"], ["run", "pipe.toml"], ["show", "none", "--json"], ["--help"], ["laws"], ["check", "pipe.toml"]],
    ),
)
def test_output_that_no_one_reads_ends_the_command_with_no_word(scenario, tmp_path, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [*COMMAND, *arguments], cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=SECONDS
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr.replace("none does not exist\n", "")) == (-signal.SIGPIPE, "")


def test_messages_that_no_one_reads_end_the_command(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([*COMMAND, "show", "none"], cwd=tmp_path, stderr=writing, timeout=SECONDS)
    os.close(writing)
    assert ended.returncode == -signal.SIGPIPE


def test_messages_that_cannot_be_written_change_no_exit_code(tmp_path):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([*COMMAND, "show", "none"], cwd=tmp_path, stderr=full, timeout=SECONDS)
    assert ended.returncode == 2


# Exceptions of laws that Python gives a meaning of its own.

ENDS = ["KeyboardInterrupt", "SystemExit(0)", "GeneratorExit", "MemoryError", "BaseException('no')", "RecursionError"]


@pytest.mark.parametrize("raised", mostly_slow(ENDS, "KeyboardInterrupt", "SystemExit(0)", "RecursionError"))
@pytest.mark.parametrize("command", first_fast(1, [["run", "x.toml"], ["sweep", "e.toml"]]), ids=["run", "sweep"])
def test_any_exception_of_a_law_names_its_line(cli, tmp_path, command, raised):
    line = "return self.grow(window, acked)" if raised == "RecursionError" else f"raise {raised}"
    law_scenario(tmp_path, window=WINDOW.replace("window.cwnd += acked", line))
    (tmp_path / "e.toml").write_text('format = 1\nscenario = "x.toml"\nreplicates = 1\n')
    ended = cli(*command)
    assert ended.returncode == 7, ended.stderr
    assert "law.py:3, in Law.grow: " + raised.partition("(")[0] in ended.stderr
    assert "ecnlab/engines" not in ended.stderr


@pytest.mark.parametrize(
    ("place", "line"),
    first_fast(
        2,
        [
            ("file", "os._exit(0)"),
            ("method", "sys.setrecursionlimit(60)"),
            ("file", "sys.setrecursionlimit(60)"),
            ("method", "os._exit(0)"),
        ],
    ),
)
def test_what_a_law_may_not_call_is_an_error_with_its_line(tmp_path, place, line):
    law = "import os, sys\n" + WINDOW.replace("window.cwnd += acked", line if place == "method" else "pass")
    law_scenario(tmp_path, window=law + (f"{line}\n" if place == "file" else ""))
    ended = done(tmp_path, "run", "x.toml")
    assert ended.returncode == (7 if place == "method" else 2), ended.stderr
    number = 4 if place == "method" else law.count("\n") + 1
    assert f"law.py:{number}" in ended.stderr and f"{line} in a law" in ended.stderr


@pytest.mark.parametrize("law", [WINDOW, QUEUE], ids=["window", "queue"])
def test_methods_that_would_have_to_be_awaited_are_refused(cli, tmp_path, law):
    law_scenario(tmp_path, **{"window" if law is WINDOW else "queue": law.replace("    def ", "    async def ", 1)})
    ended = cli("check", "x.toml")
    name = "grow" if law is WINDOW else "on_enqueue"
    assert ended.returncode == 1, ended.stderr
    assert f".py:2, in Law: `{name}` is an `async def`" in ended.stderr and f"write `def {name}`" in ended.stderr


# Less memory than the libraries need.


@pytest.mark.parametrize("megabytes", mostly_slow([400, 800], 400))
@pytest.mark.parametrize(
    "arguments", first_fast(1, [["sweep", "gain.toml"], ["run", "pipe.toml"], ["show", "stored"], ["report", "stored"]])
)
def test_too_little_address_space_is_one_sentence(experiment, cli, tmp_path, arguments, megabytes):
    assert cli("run", "pipe.toml", "--out", "stored").returncode == 0
    limit = f'ulimit -v {megabytes * 1000}; exec "$@"'
    ended = subprocess.run(
        ["/bin/sh", "-c", limit, "sh", *COMMAND, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert ended.returncode == 2, ended.stderr
    last = ended.stderr.splitlines()[-1]
    assert f"the memory of this process is limited to {megabytes * 1.024:.0f} MB" in last and "ulimit -v" in last
    assert "Traceback" not in ended.stderr and "interrupted" not in ended.stderr


# Devices in the place of files.


def test_a_device_is_no_log_and_standard_input_may_be(cli, tmp_path):
    ended = cli("vectors", "check", "/dev/zero")
    assert (ended.returncode, "/dev/zero: is a device, not the log of a vector" in ended.stderr) == (2, True)
    ended = subprocess.run(
        [*COMMAND, "vectors", "check", "-"], cwd=tmp_path, input="{", capture_output=True, text=True, timeout=SECONDS
    )
    assert (ended.returncode, ended.stderr.startswith("-:1: not JSON")) == (2, True)


def test_a_device_is_no_output(cli):
    ended = cli("new", "--out", "/dev/full")
    assert (ended.returncode, ended.stderr) == (
        2,
        "/dev/full is a device or a pipe, not a file: choose another file\n",
    )
