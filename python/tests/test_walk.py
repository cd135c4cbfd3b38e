"""The way of a printed number from ``published.toml`` to the README: the files of the repository that a reader opens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl
import pytest
import small_paper

import ecnlab
from ecnlab.papers import readme, reproduction

PAPERS = Path(ecnlab.__file__).parent / "papers"
PAGE = (Path(__file__).parents[2] / "docs/papers.md").read_text()

DATA = ("published.toml", "metrics.toml", "pipes.toml", "README.in.md", "quoted.json")
CODE = ("published.py", "measuring.py", "judge.py", "readme.py", "references.py", "quoted.py")
STEPS = "__init__.py"
"""The file of a paper's package that lists the steps with their seeds; the small paper has no package."""

PASSING = {
    "reproduction.py": "runs the sweeps, hands them to measuring.py and stores its tables",
    "analysis.py": "reads the stored tables again, and checks their shapes",
    "registry.py": "finds the folder of a paper",
}
"""Files that pass all tables of a paper on as they are."""


@contextmanager
def executed() -> Iterator[set[str]]:
    """The files of ``ecnlab/papers`` of which a function is called."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _arg: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.parent == PAPERS and frame.f_code.co_name != "<module>":
            found.add(path.name)

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


def test_a_printed_number_reaches_the_readme_through_twelve_files(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_paper.in_place_of_the_papers(tmp_path, scenario.read_text(), monkeypatch)
    (folder / readme.TEMPLATE).write_text('# small\n{{ number("S01.1").printed }}: {{ number("S01.1") }}\n')
    # The HTML page, and the runs behind each of its rows, are no part of the README.
    monkeypatch.setattr(reproduction, "paper_page", lambda *_: None)
    monkeypatch.setattr(reproduction, "render", lambda _: "")
    monkeypatch.setattr(reproduction, "row_runs", lambda *_: pl.DataFrame())
    with executed() as files:
        reproduction.reproduce("small", tmp_path / "out", full=True, workers=1)
        text = readme.make("small", tmp_path / "out").read_text()
    assert "2000000: " in text
    assert files == {*CODE, *PASSING}
    assert len({*DATA, *CODE, STEPS}) <= 12
    assert {path.name for path in folder.iterdir()} >= set(DATA)


def test_the_page_lists_the_files() -> None:
    table = PAGE[PAGE.index("## From a printed number to the README") :].partition("\n## ")[0]
    listed = [row.split("`")[1] for row in table.splitlines() if row.startswith("| `")]
    assert listed == ["published.toml", "metrics.toml", STEPS, "NAME.toml", *CODE, "README.in.md", "quoted.json"]
