"""``ecnlab examples copy lab``: what students get, and what only the lecturer gets."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def test_students_get_the_lab_without_its_solutions(cli, tmp_path):
    done = cli("examples", "copy", "lab", "--out", "class")
    assert done.returncode == 0 and done.stderr == "next: jupyter lab class/lab.ipynb\n"
    names = {path.name for path in (tmp_path / "class").iterdir()}
    assert names == {"lab.ipynb", "lab.md", "dumbbell.toml"}
    cells = json.loads((tmp_path / "class" / "lab.ipynb").read_text())["cells"]
    assert sum("return ..." in "".join(cell["source"]) for cell in cells) == 5


def test_the_lecturer_gets_solutions_and_the_grader(cli, tmp_path):
    assert cli("examples", "copy", "lab-solutions", "--out", "lecturer").returncode == 0
    names = {path.name for path in (tmp_path / "lecturer").iterdir()}
    assert names == {"lab-solutions.ipynb", "lab-solutions.md", "grade.py", "dumbbell.toml"}


def test_the_list_and_a_misspelt_name_have_the_lab(cli):
    assert "  lab-solutions " in cli("examples").stdout
    done = cli("examples", "copy", "lab-solution")
    assert done.returncode == 2 and "did you mean 'lab-solutions'?" in done.stderr


@pytest.fixture
def grade(cli, tmp_path):
    """Run the copied grader from the folder above it."""
    assert cli("examples", "copy", "lab-solutions", "--out", "lecturer").returncode == 0

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "lecturer/grade.py", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_the_copied_grader_finds_its_scenario(grade, tmp_path):
    (tmp_path / "in").mkdir()
    answers = "import numpy as np\ndef mean_window(p):\n    return np.float32(1.2247 / p**0.5)\ndef step(window, congested):\n    return np.int64(max(1, window // 2 if congested else window + 1))\n"
    answers += "settings = {'queue.red.min_th': 2, 'queue.red.max_th': 6, 'queue.red.max_p': 0.1}\n"
    (tmp_path / "in" / "ann.py").write_text(answers)
    done = grade("in", "grades.csv")
    assert (done.returncode, done.stderr) == (0, "")
    reason = (tmp_path / "grades.csv").read_text()
    assert "FileNotFoundError" not in reason and "average: no answer" in reason and "compared: no answer" in reason
    assert "step(10" not in reason and "mean_window" not in reason.splitlines()[1], "an integer of NumPy is a number"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none", "grades.csv"), "No such file or directory: 'none'"),
        (("lecturer", "none/grades.csv"), "No such file or directory: 'none/grades.csv'"),
        (("lecturer", "grades.csv", "--students", "none"), "No such file or directory: 'none'"),
        (("lecturer", "grades.csv", "--scenario", "x.toml"), "there is no x.toml: `ecnlab examples copy dumbbell`"),
    ],
)
def test_files_that_the_grader_cannot_read_are_named(grade, words, message):
    done = grade(*words)
    assert done.returncode == 2 and "Traceback" not in done.stderr and message in done.stderr
