"""Compilers of the kernel end with the build."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from proc import has_ended

from ecnlab.linux import build

MAKE = """#!/bin/sh
case "$*" in *allnoconfig*) exit 0;; esac
echo "  CC      init/main.o"
sleep 300 &
echo $! > {pid}
wait
"""


def await_end(compiler: int) -> None:
    for _ in range(200):
        if has_ended(compiler):
            return
        time.sleep(0.05)
    os.kill(compiler, signal.SIGKILL)
    pytest.fail("the compiler still runs")


def test_compilers_end_with_the_build_when_it_is_killed(tmp_path):
    (tmp_path / "Makefile").write_text("all:\n\tsleep 300 & echo $$! > part; mv part pid; wait\n")
    making = "import sys; from pathlib import Path; from ecnlab.linux import build; tree = Path(sys.argv[1]); build._make(tree, [], tree)"
    with subprocess.Popen([sys.executable, "-c", making, str(tmp_path)]) as builder:
        while not (tmp_path / "pid").exists():
            assert builder.poll() is None
            time.sleep(0.05)
        builder.kill()
    await_end(int((tmp_path / "pid").read_text()))


def test_compilers_end_with_the_build_when_progress_cannot_be_written(tmp_path, monkeypatch):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "make").write_text(MAKE.format(pid=tmp_path / "pid"))
    (tools / "make").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setattr(build, "_edited", lambda tree, links: links.mkdir())
    monkeypatch.setattr(build, "_check_config", lambda config: None)
    monkeypatch.setattr(build.source, "version", lambda tree: "7")
    monkeypatch.setattr(build, "STEP_S", 0.05)

    def say(text: str) -> None:
        if "files of about" in text and (tmp_path / "pid").exists():
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError) as held:  # the traceback keeps the loop's frame
        build._build_kernel(tmp_path / "tree", tmp_path / "linux-7", 1, say)
    await_end(int((tmp_path / "pid").read_text()))
    assert held.value is not None
