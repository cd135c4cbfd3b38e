"""Effects of axes and arms on metrics: units, axes of quantities, arms as points, paired differences and ratios."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import cli
from ecnlab.plots.units import drawn_unit, numbers

SCENARIO = """
format = 1
duration = "3 s"

link.bottleneck = { from = "a", to = "b", rate = "2 Mbps", delay = "10 ms", queue = "short" }
queue.short = { discipline = "droptail", limit = "20 packets" }
flow.bulk = { count = 2, from = "a", to = "b", traffic = "ftp", start = { uniform = ["0 s", "1 s"] } }
"""

EXPERIMENT = """
format = 1
scenario = "run.toml"
replicates = 3

{grid}

arm.short = {{ set = {{}} }}
arm.middle = {{ set = {{ "queue.short.limit" = "30 packets" }} }}
arm.long = {{ set = {{ "queue.short.limit" = "40 packets" }} }}

[metrics]
delay = {{ table = "links", column = "sojourn_mean_s", aggregate = "max" }}
goodput = {{ table = "flows", column = "goodput_bps", aggregate = "sum" }}
"""

GRID = """
grid.rate = { path = "link.bottleneck.rate", values = ["2 Mbps", "1 Mbps"] }
"""

SINGLE = """
format = 1
scenario = "run.toml"
replicates = 1

[arm.only]
set = {}

[metrics]
n = { table = "flows", aggregate = "count" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("effect")
    (where / "run.toml").write_text(SCENARIO)
    for name, text in {
        "arms": EXPERIMENT.format(grid=""),
        "both": EXPERIMENT.format(grid=GRID),
        "single": SINGLE,
    }.items():
        (where / f"{name}.toml").write_text(text)
        ecnlab.sweep(where / f"{name}.toml", where / name, workers=1)
    return where


def values(sweep, arm: str, metric: str = "delay", **axes: str) -> np.ndarray:
    return sweep.metrics.filter(arm=arm, metric=metric, **axes).sort("replicate")["value"].to_numpy()


def test_arms_without_axes_are_points_with_their_means(folder) -> None:
    sweep = ecnlab.load(folder / "arms")
    figure = sweep.plot.effect("delay")
    assert list(figure.categories) == ["long", "middle", "short"]
    assert figure.data().columns == ["series", "arm", "x", "delay, ms", "low", "high", "n"]
    assert figure.data()["delay, ms"][0] == pytest.approx(1e3 * values(sweep, "long").mean())
    low, high = stats.t.interval(0.95, 2, 1e3 * values(sweep, "long").mean(), 1e3 * stats.sem(values(sweep, "long")))
    assert figure.data().select("low", "high").row(0) == pytest.approx((low, high))


def test_differences_are_paired_by_replicate_and_axes(folder) -> None:
    sweep = ecnlab.load(folder / "both")
    found = sweep.differences("delay", "short")
    assert found["arm"].unique(maintain_order=True).to_list() == ["long", "middle"]
    assert found.height == 4
    paired = values(sweep, "long", rate="1 Mbps") - values(sweep, "short", rate="1 Mbps")
    row = found.row(by_predicate=(pl.col("arm") == "long") & (pl.col("rate") == "1 Mbps"), named=True)
    assert (row["mean"], row["n"]) == (pytest.approx(paired.mean()), 3)
    expected = stats.t.interval(0.95, 2, paired.mean(), stats.sem(paired))
    assert (row["low"], row["high"]) == pytest.approx(expected)
    unpaired = np.hypot(*(stats.sem(values(sweep, arm, rate="1 Mbps")) for arm in ("long", "short")))
    assert stats.sem(paired) != pytest.approx(unpaired)


def test_a_pair_without_a_value_is_left_out(folder) -> None:
    sweep = ecnlab.load(folder / "arms")
    lost = (pl.col("arm") == "short") & (pl.col("replicate") == 1)
    frame = sweep.metrics.with_columns(pl.when(lost).then(None).otherwise("value").alias("value"))
    sweep._tables._read["metrics"] = frame
    assert sweep.differences("delay", "short")["n"].to_list() == [2, 2]
    assert sweep.differences("delay", "middle").filter(arm="long")["n"].to_list() == [3]


DELAYS = {"short": [3.0, 1.0, 2.0], "middle": [3.0, 4.0, 32.0], "long": [6.0, 2.0, 4.0]}
"""By replicate. Middle / short is 1, 4, 16, long / short always 2."""


def given(folder: Path, delays: dict[str, list[float]]) -> ecnlab.Sweep:
    """The sweep of three arms, with ``delays`` as its metric."""
    sweep = ecnlab.load(folder / "arms")
    rows = [(arm, r, "delay", value) for arm, each in delays.items() for r, value in enumerate(each)]
    sweep._tables._read["metrics"] = pl.DataFrame(rows, schema=sweep.metrics.schema, orient="row")
    return sweep


def test_ratios_are_geometric_means_of_pairs_with_an_interval_of_logarithms(folder) -> None:
    found = given(folder, DELAYS).ratios("delay", "short")
    assert found.columns == ["arm", "metric", "ratio", "low", "high", "pairs"]
    by_arm = {row["arm"]: row for row in found.to_dicts()}
    # log2 of 1, 4, 16 is 0, 2, 4: mean 2, standard deviation 2; Student's t of two degrees of freedom is 4.30265
    half = 4.302652729749464 * 2 / 3**0.5
    expected = {"metric": "delay", "ratio": 4, "low": 2 ** (2 - half), "high": 2 ** (2 + half), "pairs": 3}
    assert by_arm["middle"] == pytest.approx({"arm": "middle", **expected})
    assert by_arm["long"] == pytest.approx(
        {"arm": "long", "metric": "delay", "ratio": 2, "low": 2, "high": 2, "pairs": 3}
    )


def test_one_pair_has_a_ratio_without_an_interval(folder) -> None:
    found = given(folder, {arm: each[1:2] for arm, each in DELAYS.items()}).ratios("delay", "short")
    assert found.filter(arm="middle").row(0) == ("middle", "delay", 4.0, None, None, 1)


@pytest.mark.parametrize("value", [0.0, -1.5])
@pytest.mark.parametrize("arm", ["short", "long"])
def test_a_ratio_of_a_value_that_is_not_positive_is_refused_with_arm_and_seed(folder, arm, value) -> None:
    sweep = given(folder, {**DELAYS, arm: [1.0, 1.0, value]})
    seed = sweep.runs.filter(arm=arm, replicate=2)["seed"][0]
    said = f"the metric 'delay' of the arm '{arm}' is {value:g} with seed {seed}: a ratio needs positive values; take"
    with pytest.raises(ValueError, match=re.escape(said)):
        sweep.ratios("delay", "short")
    with pytest.raises(EcnlabError, match="leave out --ratio"):
        sweep.plot.effect("delay", against="short", ratio=True)
    assert sweep.differences("delay", "short").height == 2


def test_the_figure_of_ratios_has_a_line_at_one(folder, tmp_path) -> None:
    figure = given(folder, DELAYS).plot.effect("delay", against="short", ratio=True)
    assert figure.data().filter(arm="middle")["delay divided by short, ratio"].item() == pytest.approx(4)
    assert next(list(line.get_ydata()) for line in figure.draw().axes[0].lines if not line.get_gid()) == [1, 1]
    file = tmp_path / "x.csv"
    options = ["--metric", "goodput", "--against", "short", "--ratio", "-o", str(file)]
    answer = CliRunner().invoke(cli, ["plot", str(folder / "both"), "effect", *options])
    assert answer.exit_code == 0, answer.output
    expected = ecnlab.load(folder / "both").ratios("goodput", "short")
    drawn = pl.read_csv(file).sort("series", "rate")
    assert drawn["goodput divided by short, ratio"].to_list() == pytest.approx(
        expected.sort("arm", "rate")["ratio"].to_list()
    )


def test_the_figure_of_differences_has_a_line_at_zero_and_no_point_of_the_arm_itself(folder, tmp_path) -> None:
    sweep = ecnlab.load(folder / "both")
    figure = sweep.plot.effect("goodput", against="short")
    data = figure.data()
    assert data["series"].unique(maintain_order=True).to_list() == ["long", "middle"]
    found = sweep.differences("goodput", "short")["mean"] * 1e-6
    assert data["goodput minus short, Mbit/s"].sort().to_list() == pytest.approx(found.sort().to_list())
    assert next(list(line.get_ydata()) for line in figure.draw().axes[0].lines if not line.get_gid()) == [0, 0]
    file = tmp_path / "x.csv"
    options = ["--metric", "goodput", "--by", "arm", "--against", "long"]
    answer = CliRunner().invoke(cli, ["plot", str(folder / "arms"), "effect", *options, "-o", str(file)])
    assert answer.exit_code == 0, answer.output
    assert pl.read_csv(file)["arm"].to_list() == ["middle", "short"]


def test_an_axis_of_quantities_is_numeric_with_its_unit(folder) -> None:
    figure = ecnlab.load(folder / "both").plot.effect("delay")
    assert not figure.categories
    assert figure.x_label == "rate, Mbps"
    assert figure.data().filter(series="long").select("rate", "x").rows() == [("1 Mbps", 1), ("2 Mbps", 2)]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["1", "0.5"], ([1, 0.5], "")),
        (["10 ms", "0.1 s"], ([10, 100], "ms")),
        (["1 MB", "500 kB"], ([1, 0.5], "MB")),
        (["10 packets", "20 packets"], ([10, 20], "packets")),
        (["10 ms", "10 packets"], ([], "")),
        (["red", "codel"], ([], "")),
        (["x ms", "1 ms"], ([], "")),
        (["1", "red"], ([], "")),
    ],
)
def test_labels_as_numbers(labels, found) -> None:
    assert numbers(labels) == (pytest.approx(found[0]), found[1])


def test_every_quantity_has_one_unit() -> None:
    def metric(table: str, column: str) -> dict[str, str]:
        return {"table": table, "column": column, "aggregate": "mean"}

    metrics = {
        "goodput": metric("flows", "goodput_bps"),
        "rtt": metric("flows", "rtt_mean_s"),
        "latency": metric("transactions", "latency_s"),
        "finish": metric("flows", "finish_s"),
        "sample": metric("packets", "time_s"),
        "window": metric("flow_series", "cwnd_bytes"),
        "queue": metric("links", "queue_mean_packets"),
        "more": {"difference": ["goodput", "goodput"]},
        "later": {"difference": ["finish", "finish"]},
        "gain": {"ratio": ["goodput", "goodput"]},
    }
    assert {name: drawn_unit(metrics, name) for name in metrics} == {
        "goodput": (1e-6, "Mbit/s"),
        "rtt": (1e3, "ms"),
        "latency": (1e3, "ms"),
        "finish": (1, "s"),
        "sample": (1, "s"),
        "window": (1e-3, "kB"),
        "queue": (1, "packets"),
        "more": (1e-6, "Mbit/s"),
        "later": (1e3, "ms"),
        "gain": (1, "ratio"),
    }


@pytest.mark.parametrize(
    ("sweep", "options", "said"),
    [
        ("arms", {"against": "x"}, "no arm is called 'x'; there are long, middle, short"),
        ("arms", {"by": "x"}, "no axis is called 'x'; there are arm"),
        ("both", {"by": "x"}, "no axis is called 'x'; there are rate, arm"),
        ("arms", {"ratio": True}, "a ratio needs an arm to divide by; name it with --against (against=...)"),
        ("single", {"against": "only"}, "'only' is the only arm; give the experiment another [arm.NAME]"),
    ],
)
def test_what_is_missing_is_stated_with_a_remedy(folder, sweep, options, said) -> None:
    with pytest.raises(EcnlabError) as error:
        ecnlab.load(folder / sweep).plot.effect("n" if sweep == "single" else "delay", **options)
    assert said in str(error.value)


def test_differences_of_unknown_arms_and_metrics_are_refused(folder) -> None:
    sweep = ecnlab.load(folder / "arms")
    with pytest.raises(ValueError, match="no metric is called 'x': there are"):
        sweep.differences("x", "short")
    with pytest.raises(ValueError, match="no arm is called 'x'"):
        sweep.differences("delay", "x")
    with pytest.raises(ValueError, match="no metric is called 'x': there are"):
        sweep.ratios("x", "short")
    with pytest.raises(ValueError, match="no arm is called 'x'"):
        sweep.ratios("delay", "x")
