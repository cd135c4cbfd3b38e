"""`ecnlab plan`: replicates for a half-width, by hand arithmetic and on a small experiment."""

from __future__ import annotations

import json
import math
import statistics

import pytest
from test_own_columns import NETWORK

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.runs import planning

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
[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
timeouts = { table = "flows", column = "timeouts", aggregate = "sum" }
"""


@pytest.fixture
def experiment(tmp_path):
    (tmp_path / "scenario.toml").write_text(NETWORK)
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


def test_replicates_are_the_least_with_which_the_interval_is_narrow_enough() -> None:
    # t(0.975, 98) = 1.9845: 1.9845 * 10 / sqrt(99) = 1.9945. t(0.975, 97) = 1.9847: 1.9847 * 10 / sqrt(98) = 2.0049.
    assert planning.replicates_for(10.0, 2.0) == 99
    # t(0.975, 1) = 12.706: 12.706 / sqrt(2) = 8.985.
    assert planning.replicates_for(1.0, 8.99) == 2
    assert planning.replicates_for(1.0, 8.98) == 3


def test_without_variation_two_replicates_suffice_and_without_width_none_do() -> None:
    assert planning.replicates_for(0.0, 0.0) == 2
    assert planning.replicates_for(1.0, 0.0) is None
    # 1.96 * 1 / 0.001 squared: 3.8 million.
    assert planning.replicates_for(1.0, 0.001) is None


@pytest.mark.parametrize("text", ["", "two", "0%", "-1", "nan", "inf"])
def test_a_half_width_that_is_none_is_refused(text) -> None:
    with pytest.raises(EcnlabError, match="half-width"):
        planning.width_of(text)


def test_a_half_width_is_a_part_of_the_mean_or_in_the_unit_of_the_metric() -> None:
    assert planning.width_of("2%").of(-50.0) == 1.0
    assert planning.width_of("0.5").of(-50.0) == 0.5


def test_the_needs_follow_from_the_pilots_values_and_the_sweep_goes_on_from_it(experiment, tmp_path) -> None:
    folder = tmp_path / "out"
    found = planning.plan(experiment, "1%", folder, pilot=4, metrics=["goodput"])
    assert (found.points, found.pilot, len(found.needs)) == (2, 4, 2)
    values = ecnlab.load(folder).metrics.filter(metric="goodput")
    for need in found.needs:
        mine = values.filter(buffer=need.point)["value"].to_list()
        assert need.sd == pytest.approx(statistics.stdev(mine))
        assert need.replicates == planning.replicates_for(need.sd, 0.01 * abs(need.mean))
    wanted = max(need.replicates for need in found.needs)
    assert (found.replicates, found.runs) == (wanted, 2 * wanted)
    assert found.core_seconds is not None and math.isfinite(found.core_seconds)
    assert planning.plan(experiment, "1%", folder, pilot=4).core_seconds is None
    done: list[tuple[int, int]] = []
    ecnlab.sweep(experiment, folder, replicates=5, progress=lambda *now: done.append(now))
    assert done[0] == (8, 10)


def test_the_command_prints_the_sweep_or_why_there_is_none(experiment, cli, tmp_path) -> None:
    out = ["--pilot", 2, "--out", tmp_path / "out"]
    shown = cli("plan", experiment, "--half-width", "1%", "--metric", "goodput", *out).stdout
    assert "runs" in shown and "of one core" in shown
    members = json.loads(cli("plan", experiment, "--half-width", "1%", "--json", *out).stdout)
    assert members["points"] == 2 and members["pilot"] == 2
    none = cli("plan", experiment, "--half-width", "0.0000001", *out).stdout
    assert "cannot have a half-width of 0.0000001" in none


def test_bad_input_is_named(experiment, cli, tmp_path) -> None:
    out = ["--pilot", 2, "--out", tmp_path / "out"]
    for arguments, message in [(["2 percent"], "half-width"), (["1%", "--metric", "speed"], "no metric 'speed'")]:
        refused = cli("plan", experiment, "--half-width", *arguments, *out)
        assert refused.returncode == 2
        assert message in refused.stderr
    with pytest.raises(EcnlabError, match="2 replicates at least"):
        planning.plan(experiment, "1%", tmp_path / "out", pilot=1)
