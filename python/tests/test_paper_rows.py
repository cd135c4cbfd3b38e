"""``ecnlab reproduce PAPER --row ID``: the run behind a printed number, with its packets; and the fold of the report."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from conftest import mostly_slow
from small_paper import SMALL, in_place_of_the_papers

import ecnlab
from ecnlab import papers
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import cli
from ecnlab.papers.behind import Finder, row_runs
from ecnlab.papers.paper import Step
from ecnlab.papers.published import read_published
from ecnlab.papers.registry import PAPERS, find
from ecnlab.papers.row import run_row
from ecnlab.runs.sweep_runs import run_keys
from ecnlab.scenario.files import read_experiment


@pytest.fixture
def small(scenario, monkeypatch):
    """One small paper in place of the real ones."""
    return in_place_of_the_papers(scenario.parent, scenario.read_text(), monkeypatch)


def commanded(*words):
    from click.testing import CliRunner

    return CliRunner().invoke(cli, ["reproduce", *map(str, words)])


def test_a_row_has_the_packets_of_a_run_of_its_reproduction(small, tmp_path) -> None:
    out = tmp_path / "out"
    page = papers.reproduce("small", out).read_text()
    found = commanded("small", "--row", "S01.1", "--out", out)
    assert found.exit_code == 0, found.output
    runs = ecnlab.load(out / "sweeps" / "pipes")
    run = runs.runs.filter(maxp="0.1", replicate=0).row(0, named=True)
    facts = dict(line.split(maxsplit=1) for line in found.output.splitlines()[:-2] if "  " in line)
    assert (facts["seed"], facts["point"]) == (str(run["seed"]), "maxp = 0.1")
    assert f"run id  {run['id']}" in re.sub(" {2,}", "  ", found.output) and "printed" in facts
    assert re.search(r"[23] seeds: ", facts["measured"])
    # The same run: the goodput of its tables is that of the sweep's.
    again = ecnlab.load(out / "rows" / "S01.1")
    stored = runs.table("flows").filter(id=run["id"]).collect()
    assert again.flows["goodput_bps"].to_list() == stored["goodput_bps"].to_list()
    command = re.search(r"packets: (.+)", found.output)[1]
    capture = ecnlab.trace(shlex.split(command)[-1])
    assert capture.directions["packets"].sum() > 100
    # The fold names the same runs and this command.
    assert page.count("<summary>its runs</summary>") == 2
    assert "ecnlab reproduce small --row S01.1" in page and "papers/small/pipes.toml" in page
    behind = pl.read_parquet(out / "analysis" / "row_runs.parquet").filter(id="S01.1").row(0, named=True)
    assert set(behind["ids"].split(", ")) <= set(runs.runs.filter(maxp="0.1")["id"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("small", "--row", "S01.2"), "; the nearest are S01.1, S01.much; all are in"),
        (("small", "--row", "s99"), "; the nearest are S01."),
        (("rfc2884", "--row", "R34.9999"), "; the nearest are R34.4, R34.3, R34.2, R34.1, R34."),
        (("dualpi2eval", "--row", "M01.5-none.markz"), "; the nearest are M01.5-none.marks, "),
        (("small", "--row", "S01"), "has several numbers and claims: choose one of S01.1, S01.much"),
        (("all", "--row", "S01.1"), "name the paper in place of `all`"),
        (("small", "--row", "S01.1", "--full"), "leave `--full` out"),
    ],
)
def test_a_row_that_cannot_be_run_is_refused(request, words, message) -> None:
    if words[0] not in PAPERS:
        request.getfixturevalue("small")
    found = commanded(*words)
    assert found.exit_code != 0
    assert message in str(found.exception) + found.output


def test_a_row_of_the_checklist_that_no_run_measures_is_refused_with_its_note(small) -> None:
    row = '[[row]]\nid = "S02"\nwhat = "w"\nsection = "2"\nstate = "not-run"\nby = []\nnote = "a closed form"\n'
    (small / "checklist.toml").write_text((small / "checklist.toml").read_text() + row)
    found = commanded("small", "--row", "S02")
    assert found.exit_code != 0
    assert "has no number or claim that a run measures: a closed form" in str(found.exception) + found.output


def test_the_commands_of_a_report_work_without_the_reproduction(small, tmp_path) -> None:
    page = papers.reproduce("small", tmp_path / "out").read_text()
    commands = re.findall(r"<code>(ecnlab reproduce .*?)</code>", page)
    assert len(commands) == 2
    for command in commands:
        found = commanded(*shlex.split(command)[2:])
        assert found.exit_code == 0, found.output
        assert re.search(r"^measured +not yet", found.output, re.MULTILINE)
        captures = Path("results/small/rows") / shlex.split(command)[-1] / "captures"
        assert {path.stem for path in captures.iterdir()} == {"left", "pipe", "right"}


def test_a_row_has_the_seed_of_the_stored_reproduction(small, tmp_path) -> None:
    file = small / "pipes.toml"
    text = file.read_text()
    file.write_text(text.replace("seed = 1", "seed = 7"))
    papers.reproduce("small", tmp_path / "out")
    file.write_text(text)
    found = commanded("small", "--row", "S01.1", "--out", tmp_path / "out")
    run = ecnlab.load(tmp_path / "out" / "sweeps" / "pipes").runs.filter(maxp="0.1", replicate=0).row(0, named=True)
    first = next(one for one in read_experiment(file).runs if one.point == {"maxp": "0.1"})
    assert f"{run['seed']}\n" in found.output and run["id"] in found.output
    assert str(first.seed) not in found.output and first.id not in found.output


def test_a_comparison_has_the_runs_of_both_sides_that_of_the_number_first(small) -> None:
    (small / "metrics.toml").write_text(
        'format = 1\n[beside]\nleast = { key = "maxp", to = "0.02" }\n[quantity]\n'
        'total = { table = "flows", over = "sum(goodput_bps)" }\n'
        '[metric.goodput]\nname = "g"\ndefinition = "d"\nkind = "difference"\nsteps = ["pipes"]\n'
        'measure = { of = "total", beside = "least" }\n'
    )
    published = read_published(small)
    runs = run_keys(read_experiment(small / "pipes.toml").with_replicates(1))
    (behind,) = Finder(SMALL, published, lambda _step: runs).behind(published.number("S01.1"))
    assert behind.runs["maxp"].to_list() == ["0.1", "0.02"]


def test_a_label_that_the_paper_gives_an_experiment_selects_its_runs(small) -> None:
    text = (small / "published.toml").read_text()
    (small / "published.toml").write_text(text.replace('{ maxp = "0.1" }', '{ variant = "other" }'))
    published = read_published(small)
    runs = run_keys(read_experiment(small / "pipes.toml").with_replicates(1))
    paper = replace(SMALL, steps=(Step("pipes", 1, 1), Step("beside", 1, 1, place={"variant": "other"})))
    (behind,) = Finder(paper, published, lambda _step: runs).behind(published.number("S01.1"))
    assert (behind.step, behind.runs.height) == ("beside", 2)


def test_a_folder_of_another_paper_is_refused(small, tmp_path) -> None:
    papers.reproduce("small", tmp_path / "out")
    about = json.loads((tmp_path / "out" / "results.json").read_text())
    assert about["paper"]["name"] == "Small 1"
    with pytest.raises(EcnlabError, match="no printed number or claim"):
        run_row("small", "S99.1", tmp_path / "out")


@pytest.mark.parametrize("paper", mostly_slow(PAPERS, "kadhum-hassan"))
def test_every_printed_number_that_runs_measure_has_its_runs(paper) -> None:
    """Of the experiments' files, without runs: at least the number's own place is among them."""
    found, folder = find(paper)
    published = read_published(folder)
    keys = {
        step.name: run_keys(read_experiment(folder / f"{step.name}.toml").with_replicates(1)) for step in found.steps
    }
    rows = row_runs(found, published, keys)
    numbered = {entry.id for entry in (*published.numbers, *published.claims)}
    assert numbered - set(rows["id"]) == set()
    assert (rows["runs"] > 0).all()
