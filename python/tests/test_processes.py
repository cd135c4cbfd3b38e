"""Processes that the command starts: code that must not be executed, processes that are killed, readers that have gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_userlaws import WINDOW
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
    ["check", "pipe.toml", "gain.toml"],
    ["run", "pipe.toml", "--out", "one"],
    ["run", "law.toml", "--out", "two"],
    ["report", "stored", "--out", "page.html"],
    ["sweep", "gain.toml", "--out", "many", "--replicates", "1"],
    ["sweep", "gain.toml", "--out", "many", "--replicates", "1", "--no-python"],
    ["sweep", "gain.toml", "--out", "many", "--replicates", "1", "--cluster", "local", "--workers", "1"],
    ["plan", "gain.toml", "--metric", "marked", "--half-width", "50%", "--pilot", "2"],
    ["score", "aqm", "codel", "--out", "card", "--scenario", "newreno"],
    ["trace", str(CAPTURE)],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:2]))
def test_no_file_of_the_working_folder_is_imported(experiment, tmp_path, arguments):
    if "law.toml" in arguments:
        law_scenario(tmp_path, window=WINDOW).rename(tmp_path / "law.toml")
    if "stored" in arguments:
        assert done(tmp_path, "run", "pipe.toml", "--out", "stored").returncode == 0
    executed = shadow(tmp_path)
    ended = done(tmp_path, *arguments, ECNLAB_LAWS="on" if "law.toml" in arguments else "off")
    assert ended.returncode == 0, ended.stderr
    assert not executed.exists(), executed.read_text()
