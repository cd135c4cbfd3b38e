"""Without Dask distributed all but ``--cluster`` works, and that names the package."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = "import sys; sys.modules['distributed'] = sys.modules['dask'] = None; from ecnlab.cli import main; "


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    code = f"{WITHOUT}main({[str(argument) for argument in arguments]!r})"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_without_distributed_the_error_names_the_package(experiment, tmp_path):
    done = command("sweep", experiment, "--cluster", "local", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "pip install 'distributed>=2026.8'" in done.stderr


@pytest.mark.slow
def test_without_distributed_a_local_sweep_works(experiment, tmp_path):
    assert command("sweep", experiment, "--replicates", 1, "--out", tmp_path / "out").returncode == 0
