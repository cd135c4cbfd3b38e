"""``ecnlab examples copy lab``: what students get, and what only the lecturer gets."""

from __future__ import annotations

import json


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
