"""Sweeps that stop when decided: questions as text, the loop, the stored answers and errors."""

from __future__ import annotations

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from test_own_columns import NETWORK

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.base.looks import LEAST, MOST
from ecnlab.base.selection import Best
from ecnlab.base.sequential import Side, Width
from ecnlab.scenario.questions import Question, questions

EXPERIMENT = """format = 1
title = "two buffers"
scenario = "scenario.toml"
seed = 5
replicates = 3
[set]
"flow.f.start" = { uniform = ["0 s", "500 ms"] }
[grid.buffer]
path = "queue.q.limit"
values = ["5 packets", "20 packets"]
[arm.short]
set = { "duration" = "1 s" }
[arm.long]
set = {}
[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
rtt = { table = "flows", column = "rtt_mean_s" }
timeouts = { table = "flows", column = "timeouts", aggregate = "sum" }
"""


ONE_POINT = EXPERIMENT.replace('["5 packets", "20 packets"]', '["5 packets"]').replace("[arm.long]\nset = {}\n", "")


@pytest.fixture
def experiment(tmp_path):
    (tmp_path / "scenario.toml").write_text(NETWORK)
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.parametrize(
    ("text", "rule", "arms"),
    [
        ("goodput 2%", Width(0.02, relative=True), ()),
        ("goodput 0.5 Mbps", Width(5e5, relative=False), ()),
        ("goodput 1e5", Width(1e5, relative=False), ()),
        ("rtt < 20 ms", Side(0.02, above=False), ()),
        ("timeouts>3", Side(3.0, above=True), ()),
        ("goodput: long > short", Side(0.0, above=True), ("long", "short")),
        ("goodput: highest of long, short within 10 kbps", Best(1e4, highest=True), ("long", "short")),
        ("rtt:lowest of short,long within 1 ms", Best(1e-3, highest=False), ("short", "long")),
        ("goodput:short<long", Side(0.0, above=False), ("short", "long")),
    ],
)
def test_questions_are_read(experiment, text, rule, arms) -> None:
    read = ecnlab.scenario.read_experiment(experiment)
    assert questions([text], read) == [Question(text, text.split(":")[0].split()[0].split(">")[0], rule, arms)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("goodput", "is no question: write one such as"),
        ("goodput > 1 > 2", "is no question"),
        ("godput 2%", "did you mean 'goodput'"),
        ("speed 2%", "there are goodput, rtt, timeouts"),
        (
            "goodput > 20 ms",
            "'20 ms' is no limit of goodput, whose unit is bit/s: write a quantity such as \"100 kbps\"",
        ),
        ("timeouts < 5 packets", "is no limit of timeouts, which is a number"),
        ("goodput 0%", "is no half-width of goodput"),
        ("goodput nan", "is no half-width of goodput"),
        ("goodput: long > shrt", "did you mean 'short'"),
        ("rtt: lowest of long, shrt within 1 ms", "did you mean 'short'"),
        ("rtt: lowest of long within 1 ms", "compares an arm with itself"),
        ("rtt: lowest of long, short within 0 s", "is no difference of rtt that does not matter"),
        ("rtt: lowest of long, short", "is no question"),
        ("goodput: long > long", "compares an arm with itself"),
    ],
)
def test_bad_questions_are_named_with_a_remedy(experiment, tmp_path, text, message) -> None:
    with pytest.raises(EcnlabError, match=r"^'") as refused:
        ecnlab.sweep_until(experiment, tmp_path / "out", [text])
    assert message in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"least": 3}, "3 replicates decide nothing: the smallest number is 4 or more"),
        ({"least": 50, "most": 20}, "the smallest number of replicates, 50, is above the largest, 20"),
        ({"until": []}, "needs a question"),
    ],
)
def test_impossible_numbers_are_refused(experiment, tmp_path, options, message) -> None:
    with pytest.raises(EcnlabError, match=message):
        ecnlab.sweep_until(experiment, tmp_path / "out", **{"until": ["goodput 2%"], **options})


def test_a_sweep_stops_when_decided_and_is_that_of_its_replicates(experiment, tmp_path) -> None:
    asked = ["goodput: long > short", "goodput > 1 kbps", "rtt < 1 us"]
    found = ecnlab.sweep_until(experiment, tmp_path / "out", asked, most=40)
    stop = found.manifest["stop"]
    n = found.manifest["replicates"]
    assert LEAST <= n < 40 and stop["looks"][-1] == n and (stop["least"], stop["most"]) == (LEAST, 40)
    answers = pl.DataFrame(stop["answers"], infer_schema_length=None)
    assert answers.height == 2 + 4 + 4 and set(answers["answer"]) <= {"yes", "no"}
    assert answers.filter(until="goodput > 1 kbps")["answer"].to_list() == ["yes"] * 4
    assert answers.filter(until="rtt < 1 us")["answer"].to_list() == ["no"] * 4
    plain = ecnlab.sweep(experiment, tmp_path / "plain", replicates=n)
    for name in ("runs", "metrics"):
        assert_frame_equal(getattr(found, name), getattr(plain, name))
    assert ecnlab.load(tmp_path / "out").manifest["stop"] == stop
    # The same command finds the runs and the answers; one with another question adds to them.
    done: list[tuple[int, int]] = []
    again = ecnlab.sweep_until(experiment, tmp_path / "out", asked, most=40, progress=lambda *now: done.append(now))
    assert again.manifest["stop"] == stop and done[0][0] == done[0][1]


def test_the_best_arm_is_selected_at_each_point(experiment, tmp_path) -> None:
    found = ecnlab.sweep_until(
        experiment, tmp_path / "out", ["goodput: highest of short, long within 300 kbps"], most=17
    )
    metrics = found.metrics.filter(metric="goodput")
    for row in found.manifest["stop"]["answers"]:
        assert row["answer"] == "long" and (row["arm"], row["low"], row["n"]) == (None, None, 9)
        there = metrics.filter(pl.col("arm") == "long", pl.col("buffer") == row["buffer"], pl.col("replicate") < 9)
        assert row["mean"] == pytest.approx(there["value"].mean())
    assert len(found.manifest["stop"]["answers"]) == 2 and found.manifest["replicates"] == 9


def test_equal_values_are_inconclusive_and_end_before_the_largest_number(experiment, tmp_path) -> None:
    experiment.write_text(ONE_POINT)
    found = ecnlab.sweep_until(experiment, tmp_path / "out", ["timeouts < 5"], most=70)
    equal = [one for one in found.manifest["stop"]["answers"] if one["reason"]]
    assert equal and {(one["answer"], one["high"], one["reason"]) for one in equal} == {
        ("inconclusive", None, "all values are equal")
    }
    assert found.manifest["replicates"] == 62  # the first look at 59 or more


def test_the_command_prints_the_answers_and_stores_them(experiment, cli, tmp_path) -> None:
    experiment.write_text(ONE_POINT)
    out = ["--out", tmp_path / "out"]
    shown = cli("sweep", experiment, "--until", "rtt < 1 us", "--replicates", 20, *out).stdout
    assert "answers (mean" in shown and "1 of 1 decided with" in shown
    assert "1 of 1 decided with" in cli("show", tmp_path / "out").stdout
    members = json.loads(cli("sweep", experiment, "--until", "rtt < 1 us", "--replicates", 20, *out, "--json").stdout)
    assert [one["answer"] for one in members["manifest"]["stop"]["answers"]] == ["no"]
    for arguments, message in [
        (["--least", 20], "add `--until`"),
        (["--until", "rtt 2%", "--only", "x"], "leave `--until` out"),
        (["--until", "rtt 2%", "--least", 30, "--replicates", 20], "is above the largest, 20"),
    ]:
        refused = cli("sweep", experiment, *arguments, *out)
        assert refused.returncode == 2 and message in refused.stderr


def test_the_file_has_the_questions(experiment, cli, tmp_path) -> None:
    experiment.write_text(ONE_POINT + '[stop]\nuntil = ["rtt < 1 us"]\n')
    assert ecnlab.scenario.read_experiment(experiment).stop == {"until": ["rtt < 1 us"], "least": LEAST, "most": MOST}
    assert "1 of 1 decided" in cli("sweep", experiment, "--out", tmp_path / "out").stdout
    found = ecnlab.sweep_until(experiment, tmp_path / "again")
    assert found.manifest["stop"] == ecnlab.load(tmp_path / "out").manifest["stop"]
    assert "decided" not in cli("sweep", experiment, "--replicates", 2, "--out", tmp_path / "two").stdout


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('until = ["rtt < 1 Mbps"]', "'1 Mbps' is no limit of rtt, whose unit is s"),
        ('until = ["rtt 2%"]\nleast = 30\nmost = 20', "is above the largest, 20"),
        ('until = ["rtt 2%"]\nleast = 3', "the smallest number is 4 or more"),
        ("until = []", "needs a question"),
        ('untill = ["rtt 2%"]', "until"),
    ],
)
def test_a_bad_stop_is_refused_with_its_line(experiment, lines, message) -> None:
    experiment.write_text(EXPERIMENT + "[stop]\n" + lines + "\n")
    with pytest.raises(ecnlab.SpecError, match=r"experiment\.toml:(19|2\d)") as refused:
        ecnlab.check(experiment)
    assert message in str(refused.value)
