"""`ecnlab report` of results that are neither a run nor a sweep: comparisons, agreements, reproductions, captures; --watch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import ecnlab
from ecnlab.agreement import means
from ecnlab.cli import report as command
from ecnlab.folder.verified import verify
from ecnlab.report import Page, render
from ecnlab.stages.comparison_page import comparison_page

SCENARIO = """
format = 1
duration = "4 s"
warmup = "1 s"
sample = "100 ms"

link.pipe = { from = "a", to = "b", rate = "2 Mbps", delay = "10 ms", queue = "red" }
queue.red = { discipline = "red", limit = "40 packets", min_th = "5 packets", max_th = "15 packets", max_p = 0.1, ecn = true }
tcp.ecn = { ecn = "rfc3168" }
flow.bulk = { count = 2, from = "a", to = "b", traffic = "ftp", tcp = "ecn", start = "0 s" }
capture.wire = { link = "pipe" }
"""

EXPERIMENT = """
format = 1
title = "Two loads"
scenario = "pipe.toml"
replicates = 3
seed = 1

grid.max_p = { path = "queue.red.max_p", values = [0.1, 0.5] }
metrics.goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("kinds")
    (where / "pipe.toml").write_text(SCENARIO)
    (where / "loads.toml").write_text(EXPERIMENT)
    ecnlab.run(where / "pipe.toml", out=where / "run")
    ecnlab.run(where / "pipe.toml", seed=2, out=where / "other")
    ecnlab.sweep(where / "loads.toml", where / "sweep", workers=1)
    return where


def test_two_runs_are_compared_side_by_side(folder: Path) -> None:
    page, found = comparison_page(folder / "run", folder / "other")
    assert page.answer == found.answer and "one replicate of each, no interval" in page.answer
    (numbers,) = (section for section in page.sections if section.name == "numbers")
    links = numbers.blocks[0]
    row = next(row for row in links.rows if row[0] == "pipe: utilisation")
    used = [
        ecnlab.load(folder / name).table("links").filter(link="pipe")["utilisation"][0] for name in ("run", "other")
    ]
    assert [cell.text for cell in row[1:]] == [f"{value:.3g}" for value in used]
    assert [name for name, _ in page.facts] == ["marks", "drops"]
    rows = {row[0]: row for row in next(one for one in page.sections if one.name == "quantities").blocks[0].rows}
    assert [cell.text for cell in rows["utilisation at pipe"][1:3]] == [f"{value:.3g}" for value in used]
    assert "total goodput" in rows and "mean queueing delay at pipe" in rows
    (queues,) = (section for section in page.sections if section.name == "queues")
    stored = ecnlab.load(folder / "other").queue_series.filter(link="pipe")["packets"].to_list()
    assert queues.blocks[0].lines[1].values == stored


def test_equal_results_are_stated_to_be_equal(folder: Path) -> None:
    page, _ = comparison_page(folder / "sweep", folder / "sweep")
    assert page.answer == "The results are the same, bit for bit."
    assert page.in_short
    assert [count for _, _, count in page.tallies[0].counts][1] == 0


def test_a_page_with_nothing_in_short_has_no_empty_box() -> None:
    page = Page("t", "k", "", [], [], [], "f", answer="The answer.")
    assert '<section class="summary"' not in render(page)
    assert '<section class="summary"' in render(replace(page, facts=[("seed", "1")]))


def test_a_capture_is_reported_beside_itself_and_never_over_itself(cli, folder: Path, tmp_path: Path) -> None:
    (capture,) = ecnlab.load(folder / "run").captures or list((folder / "run" / "captures").iterdir())
    copy = tmp_path / capture.name
    copy.write_bytes(capture.read_bytes())
    shown = cli("report", str(copy))
    assert shown.returncode == 0, shown.stderr
    page = (tmp_path / f"{capture.name}.html").read_text()
    assert "2 TCP connections" in page and 'id="connection-0"' in page
    refused = cli("report", str(copy), "-o", str(copy))
    assert refused.returncode == 2 and "must end with .html" in refused.stderr
    assert copy.read_bytes() == capture.read_bytes()


def test_an_agreement_is_drawn_again_from_its_tables(cli, folder: Path, tmp_path: Path, monkeypatch) -> None:
    # The simulator stands in for the kernel, under its name.
    real = means.sweep
    monkeypatch.setattr(means, "sweep", lambda *args, engine, **named: real(*args, **named))
    out = tmp_path / "agreement"
    page = means.agree(folder / "loads.toml", out, workers=1)
    before = page.read_bytes()
    assert b"2 of 2 comparisons in 2 cells agree within 10% of the kernel" in before
    page.write_text("an older page")
    assert cli("report", str(out)).returncode == 0
    assert page.read_bytes() == before
    assert verify(out)[1] == []
    elsewhere = tmp_path / "copy.html"
    assert cli("report", str(out), "-o", str(elsewhere)).returncode == 0
    assert elsewhere.read_bytes() == before


@pytest.mark.parametrize("options", [["--watch"], ["--stages", "x.py"], ["--against", "other"]])
def test_options_of_other_kinds_are_refused(cli, folder: Path, tmp_path: Path, options: list[str]) -> None:
    capture = tmp_path / "x.pcap"
    capture.write_bytes(b"")
    refused = cli("report", str(capture), *options)
    assert refused.returncode == 2 and f"a capture does not take {options[0]}" in refused.stderr


def test_watch_follows_a_sweep_until_it_is_complete(folder: Path, tmp_path: Path, monkeypatch) -> None:
    states = iter([object(), object(), None])
    waits: list[str] = []
    out = tmp_path / "watched.html"

    def page(_folder: Path, file: Path, *_rest: object) -> Path:
        file.write_text("<head><title>t</title></head>")
        return file

    monkeypatch.setattr(command.time, "sleep", lambda _seconds: waits.append(out.read_text()))
    monkeypatch.setattr(command, "load_unfinished", lambda _folder: next(states))
    monkeypatch.setattr(command, "_page", page)
    assert command._watched(folder, out, None, None) == out
    assert len(waits) == 2 and all('http-equiv="refresh"' in html for html in waits)
    assert "refresh" not in out.read_text()  # complete: no browser needs to load it again
