"""`ecnlab compare` and `ecnlab report --against`: one answer, with names of the sides, differences and intervals."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from conftest import EXPERIMENT, SCENARIO

import ecnlab
from ecnlab.base import stats
from ecnlab.results.contrast import Contrast, answer

REPLICATES = 4


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("sides")
    for name, text in (("on", SCENARIO), ("off", SCENARIO.replace("ecn = true", "ecn = false"))):
        (where / name).mkdir()
        (where / name / "pipe.toml").write_text(text)
        (where / name / "grid.toml").write_text(EXPERIMENT)
        ecnlab.run(where / name / "pipe.toml", out=where / name / "run")
        ecnlab.sweep(where / name / "grid.toml", where / name / "sweep", replicates=REPLICATES, workers=1)
    return where


def sides(folders: Path, kind: str) -> list[str]:
    return [str(folders / name / kind) for name in ("on", "off")]


def text_of(page: Path) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text()))


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_the_page_and_the_terminal_give_one_answer(cli, folders, tmp_path, kind) -> None:
    a, b = sides(folders, kind)
    printed = cli("compare", a, b, "--names", "marks,drops")
    stated = json.loads(cli("compare", a, b, "--names", "marks,drops", "--json").stdout)
    page = tmp_path / "both.html"
    drawn = cli("report", a, "--against", b, "--names", "marks,drops", "-o", str(page))
    assert printed.returncode == drawn.returncode == 1
    assert stated["names"] == ["marks", "drops"] and "marks" in stated["answer"] and "drops" in stated["answer"]
    flat = " ".join(printed.stdout.split())
    for shown in (flat, " ".join(drawn.stdout.split()), text_of(page)):
        assert stated["answer"] in shown
    for one in stated["contrasts"]:
        assert one["quantity"] in flat and one["quantity"] in text_of(page)
    assert "queue.red.ecn: true against false" in flat and "queue.red.ecn: true against false" in text_of(page)


def test_equal_results_end_both_commands_with_0(cli, folders, tmp_path) -> None:
    a, _ = sides(folders, "run")
    assert cli("compare", a, a).returncode == 0
    drawn = cli("report", a, "--against", a, "-o", str(tmp_path / "same.html"))
    assert drawn.returncode == 0 and "The results are the same, bit for bit." in drawn.stdout


def test_marks_and_drops_of_each_side_are_those_of_the_queues(cli, folders) -> None:
    a, b = sides(folders, "run")
    rows = {one["quantity"]: one for one in json.loads(cli("compare", a, b, "--json").stdout)["contrasts"]}
    for side, folder in (("first", a), ("second", b)):
        queues = ecnlab.load(folder).table("queues").filter(group="all")
        assert rows["marks"][side] == queues["marks"].sum() and rows["drops"][side] == queues["dropped"].sum()
    assert rows["marks"]["first"] > 0 == rows["marks"]["second"]


def test_intervals_of_sweeps_are_those_of_paired_differences(cli, folders) -> None:
    a, b = sides(folders, "sweep")
    found = json.loads(cli("compare", a, b, "--json").stdout)["contrasts"]
    one = found[0]
    assert one["paired"] and one["n"] == REPLICATES
    assert one["level"] == pytest.approx(1 - 0.05 / len(found))
    first, second = (ecnlab.load(folder) for folder in (a, b))
    point = {
        name: one["at"].split(f"{name} ")[1].split(",")[0] for name in ("arm", *first.axes) if f"{name} " in one["at"]
    }
    values = [sweep.metrics.filter(metric=one["quantity"], **point)["value"] for sweep in (first, second)]
    expected = stats.paired_difference(values[1], values[0], one["level"])
    assert one["difference"] == pytest.approx(expected.mean)


def test_the_largest_decided_difference_is_named_and_undecided_ones_are_not() -> None:
    wide = Contrast("delay", "", "delay_s", 1.0, 3.0, stats.Interval(2.0, -1.0, 5.0, 4))
    sure = Contrast("goodput", "load 2", "x_bps", 8e6, 9e6, stats.Interval(1e6, 5e5, 1.5e6, 4), paired=True)
    assert answer([wide, sure], ("a", "b"), None) == (
        "Goodput at load 2 is higher in b: 9 Mb/s against 8 Mb/s in a, "
        "b − a = +1 Mb/s (95 % interval 500 kb/s to 1.5 Mb/s), 4 pairs, the largest of 2 differences."
    )
    assert answer([wide, sure], ("a", "b"), "delay").startswith(
        "No difference shown in 1 comparison; the largest is of delay"
    )
    assert answer([wide], ("a", "b"), None).startswith("No difference shown")


def test_a_difference_that_does_not_matter_is_not_shown() -> None:
    small = Contrast("goodput", "", "x_bps", 1e6, 1.1e6, stats.Interval(1e5, 5e4, 1.5e5, 4), smallest=2e5)
    assert answer([small], ("a", "b"), None).startswith("No difference shown")


@pytest.mark.parametrize("names", ["marks", "a,b,c", "a,", "a,a"])
def test_names_that_are_not_two_are_refused(cli, folders, names) -> None:
    a, b = sides(folders, "run")
    refused = cli("compare", a, b, "--names", names)
    assert refused.returncode == 2 and "marks,drops" in refused.stderr


def test_names_without_a_second_folder_are_refused(cli, folders) -> None:
    refused = cli("report", sides(folders, "run")[0], "--names", "a,b")
    assert refused.returncode == 2 and "--against" in refused.stderr
