"""``ecnlab reproduce PAPER --row ID``: the run behind a printed number, with its packets; and the fold of the report."""

from __future__ import annotations

import json
import re
import shlex

import polars as pl
import pytest
from small_paper import in_place_of_the_papers

import ecnlab
from ecnlab import papers
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import cli
from ecnlab.papers.registry import PAPERS, find
from ecnlab.papers.row import run_row


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


def test_a_folder_of_another_paper_is_refused(small, tmp_path) -> None:
    papers.reproduce("small", tmp_path / "out")
    about = json.loads((tmp_path / "out" / "results.json").read_text())
    assert about["paper"]["name"] == "Small 1"
    with pytest.raises(EcnlabError, match="no printed number or claim"):
        run_row("small", "S99.1", tmp_path / "out")


@pytest.mark.parametrize("paper", list(PAPERS))
def test_every_printed_number_that_runs_measure_has_its_runs(paper) -> None:
    """Of the experiments' files, without runs: at least the number's own place is among them."""
    from ecnlab.papers.behind import row_runs
    from ecnlab.papers.published import read_published
    from ecnlab.runs.sweep_runs import run_keys
    from ecnlab.scenario.files import read_experiment

    found, folder = find(paper)
    published = read_published(folder)
    keys = {
        step.name: run_keys(read_experiment(folder / f"{step.name}.toml").with_replicates(1)) for step in found.steps
    }
    rows = row_runs(found, published, keys)
    numbered = {entry.id for entry in (*published.numbers, *published.claims)}
    without = numbered - set(rows["id"])
    assert len(without) <= len(numbered) / 4, sorted(without)
    assert (rows["runs"] > 0).all()
