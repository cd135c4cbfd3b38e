"""The tasks of five newcomers in docs/first-tasks.md: each begins in an empty folder and gives what it promises."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from conftest import Cli, mostly_slow

PAGE = (Path(__file__).parents[2] / "docs/first-tasks.md").read_text()
TASKS = dict(re.findall(r"^## (\w+): .*?\n```sh\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))

PROMISED: dict[str, tuple[str, tuple[str, ...]]] = {
    "Researcher": (r"fq_codel +sojourn_p99_prague", ("latency.svg", "results/aqms/report.html")),
    "Lecturer": (r"bottleneck", ("windows.svg", "queue.pdf")),
    "Implementer": (r"accepted", ("connection.html",)),
    "Engineer": (r"prague .*Mb/s.*dev ifb4eth0.* dualpi2 ", ("results/link/report.html",)),
    "Reader": (r"same|identical|equal", ()),
}
"""What the output has, and the files that are left."""


def test_there_is_a_task_for_each_newcomer_in_at_most_four_commands() -> None:
    assert list(TASKS) == list(PROMISED)
    assert all(len(task.splitlines()) <= 4 for task in TASKS.values())


@pytest.mark.parametrize("newcomer", mostly_slow(PROMISED, "Implementer", "Engineer", "Reader"))
def test_the_task_gives_what_it_promises(newcomer: str, cli: Cli, tmp_path: Path) -> None:
    wanted, files = PROMISED[newcomer]
    output = ""
    for line in TASKS[newcomer].splitlines():
        program, *words = shlex.split(line)
        done = cli(*words)
        assert (program, done.returncode) == ("ecnlab", 0), f"{line}: {done.stderr}"
        output += done.stdout
    assert re.search(wanted, output, re.DOTALL), output
    for name in files:
        assert (tmp_path / name).stat().st_size > 1000, name
