"""``ecnlab examples copy lab``: what students get, and what only the lecturer gets."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys

import pytest

NUMPY = """
import ecnlab
import numpy as np

buffer = np.int64(35)


def step(window, congested):
    return np.float32(max(window / 2, 1)) if congested else np.int64(window) + 1


def average(before, queue, weight):
    return np.dot([1 - weight, weight], [before, queue])


def mean_window(p):
    return np.nan


def compared(seed):
    found = np.empty((2, 2))
    for row, ecn in zip(found, (True, False), strict=True):
        flows = ecnlab.run("dumbbell.toml", seed, overrides={"duration": "20 s", "queue.red.ecn": ecn}).flows
        row[:] = flows["retransmits"].to_numpy().sum(), flows["goodput_bps"].to_numpy().sum() / 1e6
    return found
"""
"""Answers that are numbers and arrays of NumPy, the mean window a wrong one."""

SCALARS = """
import ecnlab


def compared(seed):
    found = []
    for ecn in (True, False):
        flows = ecnlab.run("dumbbell.toml", seed, overrides={"duration": "20 s", "queue.red.ecn": ecn}).flows
        found.append((flows["retransmits"].to_numpy().sum(), flows["goodput_bps"].to_numpy().sum() / 1e6))
    return found
"""


@pytest.fixture
def grades(cli, tmp_path):
    """Grade submissions, texts by student, with the program that a lecturer copies; return the rows by student."""
    assert cli("examples", "copy", "lab-solutions").returncode == 0

    def grade(submissions: dict[str, str]) -> dict[str, dict[str, str]]:
        (tmp_path / "in").mkdir()
        for student, text in submissions.items():
            (tmp_path / "in" / f"{student}.py").write_text(text)
        command = [sys.executable, "grade.py", "in", "grades.csv"]
        subprocess.run(command, cwd=tmp_path, check=True)
        with (tmp_path / "grades.csv").open() as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    return grade


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
    lines = cli("examples").stdout.splitlines()
    at = lines.index("For a class")
    assert [line.split()[:2] for line in lines[at + 1 :]] == [["lab", "notebook"], ["lab-solutions", "notebook"]]
    done = cli("examples", "copy", "lab-solution")
    assert done.returncode == 2 and "did you mean 'lab-solutions'?" in done.stderr


def test_the_list_for_programs_has_the_files_of_the_lab_and_its_solutions(cli):
    found = {each["name"]: each for each in json.loads(cli("examples", "--json").stdout)}
    for name in ("lab", "lab-solutions"):
        assert found[name]["kind"] == "notebook" and found[name]["question"] == "For a class"
        assert cli("examples", "copy", name).stdout.splitlines() == found[name]["files"]


def test_numbers_of_numpy_are_answers(grades):
    rows = grades({"array": NUMPY, "scalars": SCALARS})
    found = [rows["array"][name] for name in ("step", "buffer", "average", "compared", "mean_window")]
    assert found == ["1", "1", "1", "1", "0"]
    assert "mean_window: mean_window(0.04) is nan, not 6.124" in rows["array"]["reason"]
    assert rows["scalars"]["compared"] == "1"


def test_an_answer_for_one_seed_is_wrong_and_the_reason_names_another(grades):
    known = "def compared(seed):\n    return [(57, 9.417792), (290, 9.5035136)] if seed == 17 else [(-1, 0), (-1, 0)]\n"
    rows = grades({"known": known, "flat": "def compared(seed):\n    return [1, 2]\n"})
    assert {row["compared"] for row in rows.values()} == {"0"}
    assert re.search(r"compared\(\d+\): retransmissions with marks is -1, not \d+", rows["known"]["reason"])
    assert re.search(r"compared\(\d+\) is \[1, 2\], not two pairs", rows["flat"]["reason"])


@pytest.mark.parametrize("name", ["lab", "lab-solutions"])
def test_pages_link_only_to_files_of_their_copy(cli, tmp_path, name):
    files = [tmp_path / line for line in cli("examples", "copy", name).stdout.splitlines()]
    pages = [file for file in files if file.suffix in {".md", ".ipynb"}]
    assert len(pages) == 2
    for file in pages:
        for link in re.findall(r"\]\(([^)#:]+)\)", file.read_text()):
            assert (file.parent / link).is_file(), f"{file.name}: {link}"


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
