"""What `ecnlab completion` prints does complete: asked of Click, and of each shell that is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
SHELLS = ("bash", "zsh", "fish")


def ecnlab(*arguments: str, **variables: str) -> str:
    command = [str(BIN / "ecnlab"), *arguments]
    return subprocess.run(command, env=ENVIRONMENT | variables, capture_output=True, text=True, check=True).stdout


def needs(shell: str) -> str:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"no {shell} on this machine")
    return path


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_that_its_shell_reads(shell: str) -> None:
    path = needs(shell)
    script = ecnlab("completion", shell)
    subprocess.run([path, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_asks_by_the_variable_to_which_the_command_listens(shell: str) -> None:
    assert f"_ECNLAB_COMPLETE={shell}_complete" in ecnlab("completion", shell)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("ecnlab ru", {"plain,run"}),
        ("ecnlab completion ", {"plain,bash", "plain,zsh", "plain,fish"}),
        ("ecnlab run --eng", {"plain,--engine"}),
        ("ecnlab run --engine m", {"plain,model"}),
        ("ecnlab run x", {"file,x"}),  # the shell completes names of files itself
    ],
)
def test_commands_options_values_and_files_are_completed(typed: str, found: set[str]) -> None:
    words = typed.split(" ")
    variables = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1), "_ECNLAB_COMPLETE": "bash_complete"}
    assert set(ecnlab(**variables).splitlines()) == found


def test_bash_completes_with_the_script() -> None:
    asked = """
    eval "$(ecnlab completion bash)"
    COMP_WORDS=(ecnlab ver) COMP_CWORD=1
    _ecnlab_completion ecnlab
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    answer = subprocess.run([needs("bash"), "-c", asked], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["verify"]


def test_another_shell_is_refused_with_those_there_are() -> None:
    command = [str(BIN / "ecnlab"), "completion", "tcsh"]
    answer = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert "'bash', 'zsh', 'fish'" in answer.stderr
