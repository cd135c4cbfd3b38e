"""The notebooks of the documentation: each runs, shows what its text states, and equals its page; grading of the lab."""

from __future__ import annotations

import ast
import csv
import json
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from conftest import Cli, mostly_slow

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import make_notebooks  # noqa: E402
from notebook_format import Cell, cells, notebook  # noqa: E402

FOLDER = ROOT / "docs/notebooks"
PAGES = sorted(FOLDER.glob("*.md"))
FAST = [page for page in PAGES if page.stem in ("queues", "law", "lab")]
"""Notebooks that `make test` runs."""
LIMIT_S = 8.0
"""CPU time of one notebook; all nine together use less than 25 s."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mpl, "rcParams", mpl.rcParams.copy())
    mpl.use("Agg")
    return tmp_path


def used_s() -> float:
    """CPU time of this process and its children that have ended."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


@pytest.mark.parametrize("page", mostly_slow(PAGES, *FAST), ids=lambda page: page.stem)
@pytest.mark.usefixtures("folder")
def test_the_notebook_runs_and_its_statements_hold(page: Path, cli: Cli) -> None:
    def command(words: list[str]) -> str:
        done = cli(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    began, pictures = used_s(), 0
    execution = make_notebooks.Execution(page.stem, command)
    for cell in cells(page.read_text()):
        if cell.kind != "markdown":
            pictures += len(execution.run(cell)[1])
            plt.close("all")
    assert pictures >= 1
    assert used_s() - began < LIMIT_S


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_is_valid_and_has_no_outputs(page: Path) -> None:
    found = json.loads(notebook(page.read_text()))
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    for cell in found["cells"]:
        assert cell["cell_type"] == "markdown" or (cell["outputs"] == [] and cell["execution_count"] is None)
    assert len({cell["id"] for cell in found["cells"]}) == len(found["cells"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_has_a_question_a_check_and_short_cells(page: Path) -> None:
    text = page.read_text()
    assert re.search(r"^# .+\n\n\*For .*Question", text)
    assert page.stem == "lab" or re.search(r"^ *assert ", text, re.MULTILINE)
    for cell in cells(text):
        if cell.kind == "python":
            ast.parse(cell.text)
            assert len(cell.text.splitlines()) <= 26, cell.text


def test_a_statement_that_does_not_hold_is_seen(folder: Path) -> None:
    execution = make_notebooks.Execution("x")
    with pytest.raises(AssertionError):
        execution.run(Cell("python", "assert 1 > 2"))
    assert execution.run(Cell("python", "x = 2\nx + 1"))[0] == "3\n"


def test_the_page_of_the_site_has_outputs_and_pictures(folder: Path) -> None:
    code = "import matplotlib.pyplot as plt\n\nfigure, axes = plt.subplots()\nprint('so')\n"
    page = make_notebooks.executed(f"# A\n\ntext\n\n```python\n{code}```\n\nend\n", "a", folder)
    assert "```text\nso\n```" in page and "](a-1.png)" in page and page.rstrip().endswith("end")
    assert (folder / "a-1.png").stat().st_size > 1000


def test_the_rows_of_the_agreement_are_those_of_the_page() -> None:
    table = (ROOT / "docs/closed-loops.md").read_text().partition("**Reno, 10 ms**")[2].partition("**Reno, 100 ms**")[0]
    stored = {
        line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ") for line in table.splitlines() if "|" in line
    }
    columns = {name: number for number, name in enumerate(stored["queue"])}
    rows = re.findall(
        r'"(.+), (.+)": Interval\(([\d.]+), ([\d.]+), ([\d.]+), n=6', (FOLDER / "agreement.md").read_text()
    )
    assert len(rows) == 3
    for queue, metric, *numbers in rows:
        assert stored[queue][columns[metric]].startswith("{} ({}-{})".format(*numbers))


@pytest.fixture
def graded(folder: Path) -> dict[str, dict[str, str]]:
    """Rows of the CSV file by student, of made-up submissions."""
    shutil.copy(ROOT / "examples/dumbbell.toml", folder)
    handed_in = folder / "in"
    handed_in.mkdir()
    right = (FOLDER / "lab-solutions.ipynb").read_text()
    (handed_in / "right.ipynb").write_text(right)
    (handed_in / "wrong.ipynb").write_text(
        right.replace("window + 1", "window + 2").replace("buffer = 35", "buffer = 8")
    )
    (handed_in / "empty.ipynb").write_text((FOLDER / "lab.ipynb").read_text())
    (handed_in / "broken.ipynb").write_text(right[:500])
    (handed_in / "list.ipynb").write_text("[]")
    (handed_in / "syntax.py").write_text("def step(window, congested:\n")
    (handed_in / "sleeps.py").write_text("import time\n\ntime.sleep(99)\n")
    (handed_in / "dies.py").write_text("import os\nos._exit(3)\n")
    (handed_in / "quits.py").write_text("def average(before, queue, weight):\n    return 1 / 0\n\nraise SystemExit\n")
    (handed_in / "notes.txt").write_text("no submission")
    (folder / "names.txt").write_text("right\n\nabsent\n")
    command = [sys.executable, FOLDER / "grade.py", "in", "out.csv", "--students", "names.txt", "--seconds", "12"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return {row["student"]: row for row in csv.DictReader((folder / "out.csv").open())}


@pytest.mark.slow
def test_a_class_is_graded_and_bad_submissions_get_a_row_with_the_reason(graded: dict[str, dict[str, str]]) -> None:
    reasons = {student: (row["points"], row["reason"]) for student, row in graded.items()}
    assert reasons.pop("right") == ("7", "")
    assert reasons.pop("wrong")[0] == "5"
    assert graded["wrong"]["step"] == graded["wrong"]["buffer"] == "0"
    assert "step(10, False) is 12, not 11" in graded["wrong"]["reason"]
    assert "with 8 packets the link is busy for 8" in graded["wrong"]["reason"]
    assert {points for points, _ in reasons.values()} == {"0"}
    assert {student: reason for student, (_, reason) in reasons.items() if student != "empty"} == {
        "absent": "submission: none",
        "broken": "submission: the file is not a notebook: JSONDecodeError",
        "dies": "submission: its process ended with code 3 without a result",
        "list": "submission: the file is not a notebook: TypeError",
        "sleeps": "submission: not finished after 12 s",
        "quits": "cell 1: SystemExit: ; step: no answer; mean_window: no answer; buffer: no answer; "
        "average: ZeroDivisionError: division by zero; probability: no answer; settings: no answer; compared: no answer",
        "syntax": "cell 1: SyntaxError: '(' was never closed (cell 1, line 1); step: no answer; mean_window: no answer; "
        "buffer: no answer; average: no answer; probability: no answer; settings: no answer; compared: no answer",
    }
    assert "step: step(10, False) is Ellipsis, not 11" in reasons["empty"][1]
    assert "settings: " in reasons["empty"][1]
