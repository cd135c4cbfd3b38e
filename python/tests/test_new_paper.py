"""`ecnlab paper new`, `docs/new-paper.md`, and papers of a `paper.toml`."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli, first_fast
from followed_pages import Page, Run

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.new import TEMPLATES, new_paper
from ecnlab.papers.registry import find

PAGE = Page("new-paper.md")


def verdicts(results: Path) -> dict[str, str]:
    """The verdicts of the numbers and the answer of the claim in a reproduction, by id."""
    about = json.loads((results / "results.json").read_text())
    return {row["id"]: row.get("verdict") or row["answer"] for row in (*about["numbers"], *about["claims"])}


def follow(step: Run, cli: Cli, folder: Path) -> None:
    """Run a command of the page, and compare what it prints."""
    program, *arguments = shlex.split(step.command)
    if program == "python":
        done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True)
    else:
        done = cli(*arguments)
    assert done.returncode == 0, f"{step.command}: {done.stderr}"
    if step.prints:
        step.compare(done.stdout)


@pytest.mark.slow
def test_the_page_leads_to_a_report_and_a_readme(cli: Cli, tmp_path: Path) -> None:
    for step in PAGE.steps:
        if isinstance(step, Run):
            follow(step, cli, tmp_path)
        else:
            step.apply(tmp_path)
    report = (tmp_path / "results/full/report.html").read_text()
    assert "Dropped packets over the buffer" in report and "ecnlab reproduce buffers --row P01.most" in report
    assert verdicts(tmp_path / "results/full") == {
        "P01.tenth": "differs",
        "P01.half": "agrees",
        "P01.whole": "agrees",
        "P01.most": "agrees",
        "P02": "yes",
    }
    readme = (tmp_path / "papers/buffers/README.md").read_text()
    assert readme.splitlines()[1] == "# buffers"
    assert "Of 4 printed numbers 3 agree." in readme and "{{" not in readme


def test_a_new_paper_runs_as_it_is_in_any_folder(cli: Cli, tmp_path: Path) -> None:
    wrote = cli("paper", "new", "first", "--out", "my work")
    assert wrote.returncode == 0 and wrote.stderr == "next: ecnlab reproduce 'my work/first'\n"
    assert wrote.stdout.splitlines() == sorted(f"my work/first/{file.name}" for file in TEMPLATES.iterdir())
    done = cli("reproduce", "my work/first", "--out", "out", "--workers", "1")
    assert done.returncode == 0, done.stderr
    found = verdicts(tmp_path / "out")
    assert found == {"P01.tenth": "inconclusive", "P01.half": "agrees", "P01.whole": "agrees", "P02": "yes"}
    report = (tmp_path / "out/report.html").read_text()
    assert "my work/first/buffers.toml" in report and "NAME" not in report
    assert cli("report", "out").returncode == 0


@pytest.mark.parametrize("name", ["First", "a b", "../a", "", "-a", "a-", "all", "rfc2884"])
def test_a_name_that_a_paper_cannot_have_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(EcnlabError, match=r"write lower-case letters|is reserved, as are rfc2884, .* all: choose"):
        new_paper(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_existing_folder_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "papers/first").mkdir(parents=True)
    refused = cli("paper", "new", "first")
    assert refused.returncode == 2
    assert refused.stderr == "papers/first exists: choose another name, or another folder with --out\n"
    assert not list((tmp_path / "papers/first").iterdir())


def test_a_paper_is_found_by_its_name_and_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = new_paper("first", tmp_path / "papers")
    monkeypatch.chdir(tmp_path)
    assert find("first")[1] == Path("papers/first")
    paper, found = find(folder)
    assert (paper.name, found, paper.grid.keys, paper.steps[0].full) == ("first", folder, ("buffer",), 5)
    assert paper.grid.place({"buffer": "0.5"}) == "buffer of 0.5 BDP"
    with pytest.raises(EcnlabError, match=r"no paper is called 'second'.* `ecnlab paper new` writes them"):
        find("second")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "paper",
            "quick = 3",
            "qick = 3",
            "paper.toml: experiment.buffers: unknown key 'qick'; there are quick, full, keep, place",
        ),
        ("paper", "quick = 3", "", "paper.toml: experiment.buffers: 'quick' is missing: add a whole number above 0"),
        (
            "paper",
            "quick = 3",
            "quick = true",
            "paper.toml: experiment.buffers: 'quick' is True: write a whole number above 0",
        ),
        ("paper", "quick = 3", "quick = 7", "paper.toml: experiment.buffers: 'quick' is above 'full'"),
        (
            "paper",
            "full = 5",
            "full = 5\nplace = { x = 'a' }",
            "paper.toml: experiment.buffers: paper.toml has no axis 'x', only buffer:",
        ),
        (
            "paper",
            "full = 5",
            "full = 5\nkeep = 'packets'",
            "paper.toml: experiment.buffers: 'keep' is 'packets': write a list",
        ),
        ("paper", "{} BDP", "BDP", "paper.toml: axis.buffer: 'words' is 'buffer of BDP': write a text with {}"),
        (
            "paper",
            "[axis.buffer]",
            "[axis.size]",
            "paper.toml: experiment.buffers: paper.toml has no axis 'buffer', only size:",
        ),
        (
            "paper",
            "format = 1",
            "format = 1\ntitle = ''",
            "paper.toml: unknown key 'title'; there are format, axis, experiment",
        ),
        ("paper", "[experiment.buffers]", "[experiment.x]", "paper.toml: experiment.x: there is no experiment "),
        ("paper", "format = 1", "format = 2", "paper.toml: format 2; this ecnlab reads format 1"),
        (
            "buffers",
            "[grid",
            "[arm.a]\nset = {}\n[grid",
            "paper.toml: experiment.buffers: paper.toml has no axis 'arm', only buffer:",
        ),
        ("metrics", '"buffers"', '"x"', "metrics.toml: metric.utilisation: 'x' is not an experiment of paper.toml"),
        ("metrics", '["buffers"]', "[]", "paper.toml: experiment.buffers: no metric has it in its `steps`"),
        (
            "published",
            'buffer = "1"',
            'size = "1"',
            "published.toml: P01.whole: paper.toml has no axis 'size', only buffer:",
        ),
        (
            "published",
            'axis = "buffer"',
            'axis = "size"',
            "published.toml: P02: paper.toml has no axis 'size', only buffer:",
        ),
    ],
)
def test_a_mistake_is_refused_with_its_place(file: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    folder = new_paper("first", tmp_path)
    path = folder / f"{file}.toml"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    with pytest.raises(EcnlabError) as refused:
        find(folder)
    assert f"{folder}/{message}" in str(refused.value)


@pytest.mark.parametrize(
    ("kept", "section"), first_fast(1, [("claim", "The claims"), ("number", "The printed numbers")])
)
def test_a_paper_may_have_only_numbers_or_only_claims(kept: str, section: str, cli: Cli, tmp_path: Path) -> None:
    folder = new_paper("first", tmp_path)
    head, *entries = re.split(r"^(?=\[\[)", (folder / "published.toml").read_text(), flags=re.MULTILINE)
    other = {"number": "claim", "claim": "number"}[kept]
    of_kind = [entry for entry in entries if entry.startswith(f"[[{kept}]]")]
    (folder / "published.toml").write_text(f"{head}{other} = []\n\n{''.join(of_kind)}")
    report = (folder / "report.toml").read_text()
    if kept == "claim":
        report = re.sub(r'answer = """.*?"""', 'answer = "It grows."', report, flags=re.DOTALL)
        (folder / "reasons.toml").write_text("format = 1\n")
    else:
        report = re.sub(r"\[\[finding\]\].*?\n\n", "", report, flags=re.DOTALL)
    (folder / "report.toml").write_text(report)
    done = cli("reproduce", "first", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert len(verdicts(tmp_path / "results/first")) == len(of_kind)
    page = (tmp_path / "results/first/report.html").read_text()
    assert [name for name in ("The printed numbers", "The claims") if f">{name}<" in page] == [section]
    assert cli("report", "results/first").returncode == 0


def test_names_and_levels_of_labels_are_those_of_the_grid(tmp_path: Path) -> None:
    path = new_paper("first", tmp_path) / "paper.toml"
    axis = '[axis.queue]\nnames = { pie = "PIE", codel = "CoDel" }\nlevels = { pie = 2, codel = 1.5 }\n\n[experiment.buffers]'
    step = 'full = 5\nkeep = ["sojourns"]\nplace = { queue = "pie" }'
    path.write_text(path.read_text().replace("[experiment.buffers]", axis).replace("full = 5", step))
    paper, _ = find(path.parent)
    assert paper.grid.keys == ("buffer", "queue")
    assert (paper.grid.named("pie"), paper.grid.score("codel")) == ("PIE", 1.5)
    assert (paper.steps[0].keep, paper.steps[0].place) == (("sojourns",), {"queue": "pie"})


def test_the_page_is_short_and_has_a_row_for_each_file() -> None:
    listed = {line.split("`")[1] for line in PAGE.text.splitlines() if line.startswith("| `")}
    assert listed == {file.name for file in TEMPLATES.iterdir()}
    assert len(PAGE.text.splitlines()) <= 120
