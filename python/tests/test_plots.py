"""Figures: their data against the tables, the text and lines of the SVG, and what is said where one cannot be made."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import cli
from ecnlab.plots.canvas import apart
from ecnlab.plots.cloud import ellipse, rows
from ecnlab.plots.distribution import of_bins, of_times
from ecnlab.plots.figure import Figure, FigureWarning
from ecnlab.plots.run import sojourns
from ecnlab.plots.units import unit_of
from ecnlab.scenario.files import read_scenario

SCENARIO = """
format = 1
duration = "4 s"
warmup = "1 s"
{sample}

link.bottleneck = {{ from = "r", to = "b", rate = "2 Mbps", delay = "10 ms" }}
link.access = {{ from = "a", to = "r", rate = "10 Mbps", delay = "1 ms" }}
flow.bulk = {{ count = 5, from = "a", to = "b", traffic = "ftp" }}
"""

EXPERIMENT = """
format = 1
scenario = "run.toml"
replicates = 2
seed = 1

grid.rate = { path = "link.bottleneck.rate", values = ["2 Mbps", "4 Mbps"], labels = ["2", "4"] }
grid.delay = { path = "link.bottleneck.delay", values = ["10 ms", "20 ms"], labels = ["near", "far"] }

[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
fairness = { table = "flows", column = "goodput_bps", aggregate = "jain" }
"""


COUNTED = {
    "queue.counted": {"discipline": "droptail", "limit": "50 packets", "quantiles": True},
    "link.bottleneck.queue": "counted",
}

PAIR = """
format = 1
scenario = "bare.toml"
replicates = 2
seed = 1

[set]
"queue.counted" = { discipline = "droptail", limit = "50 packets", quantiles = true }
"link.bottleneck.queue" = "counted"
"flow.bulk.start" = { uniform = ["0 s", "1 s"] }

[grid.limit]
path = "queue.counted.limit"
values = ["10 packets", "50 packets"]
labels = ["10", "50"]

[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
delay = { table = "links", column = "sojourn_mean_s", where = { link = "bottleneck" } }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("plots")
    (where / "run.toml").write_text(SCENARIO.format(sample='sample = "100 ms"'))
    (where / "bare.toml").write_text(SCENARIO.format(sample=""))
    (where / "sweep.toml").write_text(EXPERIMENT)
    ecnlab.run(where / "run.toml", events=True, out=where / "run")
    ecnlab.run(where / "bare.toml", out=where / "bare")
    counted = read_scenario(where / "bare.toml").with_overrides(COUNTED)
    ecnlab.run(counted, out=where / "counted")
    quiet = {"flow.bulk": {"from": "a", "to": "b", "traffic": {"kind": "cbr", "rate": "1 Mbps", "packet": "500 B"}}}
    ecnlab.run(counted.with_overrides(quiet), out=where / "quiet")
    (where / "pair.toml").write_text(PAIR)
    ecnlab.sweep(where / "pair.toml", where / "pair", workers=1, keep=["sojourn_bins"])
    ecnlab.sweep(where / "pair.toml", where / "four", workers=1, replicates=4)
    ecnlab.sweep(where / "sweep.toml", where / "sweep", workers=1)
    return where


@pytest.fixture(scope="module")
def run(folder):
    return ecnlab.load(folder / "run")


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def lines(svg: str) -> list[str]:
    return [name for node in ET.fromstring(svg).iter() if (name := node.get("id", "")).startswith("line-")]


def test_the_queue_is_that_of_the_longest_one(run) -> None:
    data = run.plot.queue().data()
    rows = run.queue_series.filter(link="bottleneck")
    assert data.columns == ["series", "time, s", "queue, packets"]
    assert data.filter(series="queue")["queue, packets"].to_list() == rows["packets"].to_list()
    other = run.plot.queue("access").data()
    assert other["queue, packets"].sum() == run.queue_series.filter(link="access")["packets"].sum()


def test_windows_are_those_of_the_flows_that_are_named(run) -> None:
    data = run.plot.cwnd(["bulk[4]", "bulk[1]"]).data()
    assert data["series"].unique(maintain_order=True).to_list() == ["bulk[4]", "bulk[1]"]
    rows = run.flow_series.filter(pl.col("flow") == "bulk[1]", pl.col("time_s") >= 1.0)  # the warm-up
    assert data.filter(series="bulk[1]")["window, kB"].to_list() == (rows["cwnd_bytes"] / 1000).to_list()
    default = run.plot.cwnd()
    assert default.data()["series"].n_unique() == 3
    assert default.note == "3 of 5 flows"


def test_goodput_adds_up_to_what_was_delivered(run) -> None:
    data = run.plot.goodput().data()
    last = run.flow_series.group_by("flow").agg(pl.col("delivered_bytes").sort_by("time_s").last())
    assert data["goodput, Mbit/s"].sum() * 0.1 == pytest.approx(last["delivered_bytes"].sum() * 8e-6)
    assert data["goodput, Mbit/s"].max() > 1


def test_the_sojourn_distribution_has_the_mean_and_the_maximum_of_the_links_table(run) -> None:
    link = run.links.row(by_predicate=pl.col("link") == "bottleneck", named=True)
    times, unsure = sojourns(run.packets.filter(link="bottleneck"))
    times = times.filter(pl.col("left_s") >= 1)
    assert unsure == 0
    assert times["sojourn_s"].mean() == pytest.approx(link["sojourn_mean_s"], rel=1e-3)
    assert times["sojourn_s"].max() == pytest.approx(link["sojourn_max_s"], rel=1e-6)
    data = run.plot.sojourn().data()
    assert data["share of packets"][-1] == 1
    assert data["sojourn, ms"][-1] == pytest.approx(1e3 * link["sojourn_max_s"], rel=1e-6)
    assert data["share of packets"].is_sorted()
    assert data["sojourn, ms"].is_sorted()


def events(*rows: tuple[int, str, int]) -> pl.DataFrame:
    """Of one link: time in ms, event, sequence number."""
    fixed = {"link": "l", "connection": 0, "from_sender": True, "protocol": "tcp", "ack": 0, "len": 1, "flags": 16}
    return pl.DataFrame([
        {"time_ps": time * 10**9, "time_s": time / 1e3, "event": event, "seq": seq, **fixed} for time, event, seq in rows
    ])  # fmt: skip


def waits(*rows: tuple[int, str, int]) -> tuple[list[float], int]:
    found, unsure = sojourns(events(*rows))
    return [round(1e3 * wait, 6) for wait in found["sojourn_s"]], unsure


def test_packets_with_equal_headers_leave_as_they_came() -> None:
    assert waits((0, "enqueue", 1), (2, "enqueue", 1), (5, "dequeue", 1), (9, "dequeue", 1)) == ([5, 7], 0)


def test_a_packet_still_in_the_queue_or_dropped_as_it_came_changes_nothing() -> None:
    assert waits((0, "enqueue", 1), (2, "enqueue", 1), (5, "dequeue", 1)) == ([5], 0)
    assert waits((0, "enqueue", 1), (1, "drop_tail", 1), (5, "dequeue", 1), (6, "enqueue", 1), (8, "dequeue", 1)) == (
        [5, 2],
        0,
    )


def test_where_one_of_several_equal_packets_was_dropped_from_the_queue_none_is_counted() -> None:
    rows = (
        (0, "enqueue", 1),
        (2, "enqueue", 1),
        (4, "drop_forced", 1),
        (9, "dequeue", 1),
        (9, "enqueue", 2),
        (12, "dequeue", 2),
    )
    assert waits(*rows) == ([3], 1)


def test_an_effect_has_the_means_and_intervals_of_the_summary(folder) -> None:
    sweep = ecnlab.load(folder / "sweep")
    data = sweep.plot.effect("goodput", by="rate").data()
    summary = sweep.summary().filter(metric="goodput", rate="4", delay="far").row(0, named=True)
    point = data.filter(rate="4", series="far").row(0, named=True)
    assert point["x"] == 4
    for ours, theirs in (("goodput, Mbit/s", "mean"), ("low", "low"), ("high", "high")):
        assert point[ours] == pytest.approx(summary[theirs] / 1e6)
    assert data.height == 4


def test_labels_that_are_no_numbers_stand_beside_each_other_in_their_order(folder) -> None:
    figure = ecnlab.load(folder / "sweep").plot.effect("fairness", by="delay")
    assert figure.categories == ["near", "far"]
    assert figure.data().filter(series="2")["x"].to_list() == [0, 1]
    assert "far" in texts(figure._repr_svg_())


def test_the_unit_of_a_metric_is_that_of_its_column() -> None:
    mean = {"table": "flows", "column": "rtt_mean_s", "aggregate": "mean"}
    kinds = {
        "mean": mean,
        "count": mean | {"aggregate": "count"},
        "jain": mean | {"aggregate": "jain"},
        "part": {"ratio": ["a", "b"]},
    }
    assert [unit_of(kinds, name) for name in kinds] == ["s", "", "ratio", "ratio"]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("queue", {"Queue of bottleneck", "queue, packets", "time, s"}),
        ("cwnd", {"Congestion window", "window, kB", "bulk[0]", "bulk[1]", "bulk[2]", "3 of 5 flows"}),
        ("goodput", {"Goodput by group of flows: bulk", "goodput, Mbit/s"}),
        ("sojourn", {"time in the queue, ms", "share of packets"}),
    ],
)
def test_a_figure_names_its_lines_and_units_and_is_the_same_twice(folder, run, tmp_path, kind, said) -> None:
    file = tmp_path / "x.svg"
    answer = CliRunner().invoke(cli, ["plot", str(folder / "run"), kind, "-o", str(file)])
    assert answer.exit_code == 0, answer.output
    svg = file.read_text()
    assert said <= set(texts(svg))
    figure = getattr(run.plot, kind)()
    assert len(lines(svg)) == figure.data()["series"].n_unique()
    assert figure._repr_svg_() == svg
    data = figure.save(tmp_path / "x.csv")
    assert pl.read_csv(data).shape == figure.data().shape


@pytest.mark.parametrize(("ending", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_other_formats(run, tmp_path, ending, start) -> None:
    assert run.plot.queue().save(tmp_path / f"x.{ending}").read_bytes().startswith(start)


def test_names_of_lines_do_not_touch() -> None:
    assert apart([0, 50], 10, 100) == [0, 50]
    assert apart([5, 6, 7], 10, 100) == [5, 15, 25]
    assert apart([98, 99, 100], 10, 100) == [80, 90, 100]
    assert apart([-3, 0], 10, 100) == [0, 10]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bare", "queue"], ['no figure `queue`: the run has no table `queue_series`; set sample = "100 ms"']),
        (["bare", "cwnd"], ["no figure `cwnd`", "flow_series", "sample"]),
        (["bare", "goodput"], ["no figure `goodput`", "flow_series", "sample"]),
        (
            ["bare", "sojourn"],
            [
                "no figure `sojourn`: the run has neither the table `packets` nor `sojourn_bins`; run with --events, or set quantiles = true"
            ],
        ),
        (
            ["run", "sojourn", "--by", "group"],
            ["no figure `sojourn`: the run has no table `sojourn_bins`; set quantiles = true"],
        ),
        (["run", "sojourn", "--by", "x"], ["the figure `sojourn` has no lines by 'x': write `group` or `class`"]),
        (["counted", "sojourn", "--by", "class"], ["the queue of bottleneck has no classes"]),
        (["counted", "sojourn", "--link", "access"], ["no sojourn times of access were kept; set quantiles = true"]),
        (["sweep", "sojourn"], ["the sweep has no table `sojourn_bins`", "--keep sojourn_bins"]),
        (
            ["sweep", "goodput-over-delay"],
            ['no metric is in s; there are fairness, goodput; one may be { table = "links"'],
        ),
        (
            ["pair", "goodput-over-delay"],
            ["an ellipse needs 3 replicates with both metrics; sweep with --replicates 3"],
        ),
        (["pair", "goodput-over-delay", "--delay", "x"], ["no metric is called 'x'; there are delay, goodput"]),
        (["pair", "goodput-over-delay", "--delay", "goodput"], ["the metric 'goodput' is not in s; name one of delay"]),
        (["quiet", "goodput-over-delay"], ["no flow has round-trip samples"]),
        (["run", "queue", "--link", "x"], ["no link is called 'x'; there are", "bottleneck"]),
        (["counted", "completion"], ["no transaction ended in the measurement window; it needs flows with traffic"]),
        (["pair", "completion"], ["the sweep has no table `transactions`; sweep with --keep transactions"]),
        (["run", "goodput", "--panels"], ["the figure `goodput` of a run has no --panels"]),
        (["run", "cwnd", "--flow", "x"], ["no flow is called 'x'; there are bulk[0], bulk[1]"]),
        (["run", "queue", "--metric", "x"], ["the figure `queue` of a run has no --metric"]),
        (["run", "effect"], ["no figure `effect`: it is of a sweep, and this is a run; a run has queue"]),
        (["sweep", "queue"], ["no figure `queue`: it is of a run, and this is a sweep; a sweep has effect"]),
        (["sweep", "effect", "--metric", "x"], ["no metric is called 'x'; there are fairness, goodput"]),
        (["sweep", "effect", "--by", "x"], ["no axis is called 'x'; there are delay, rate"]),
    ],
)
def test_what_is_missing_is_said_with_folder_kind_and_remedy(folder, tmp_path, arguments, said) -> None:
    where, *rest = arguments
    answer = CliRunner().invoke(cli, ["plot", str(folder / where), *rest, "-o", str(tmp_path / "x.svg")])
    assert isinstance(answer.exception, EcnlabError)
    for part in (str(folder / where), *said):
        assert part in str(answer.exception)
    assert not (tmp_path / "x.svg").exists()


def test_another_ending_is_refused(run, tmp_path) -> None:
    with pytest.raises(EcnlabError, match=r"x\.jpg: the name of this file must end with \.svg, \.pdf, \.png or \.csv"):
        run.plot.queue().save(tmp_path / "x.jpg")


def test_an_ellipse_is_the_contour_of_the_covariance_by_hand() -> None:
    # Mean (2, 3); covariance by 1/4: xx = 2/4, xy = 0, yy = 8/4. So half axes sqrt(1/2) and sqrt(2).
    points = ellipse([(1, 3), (3, 3), (2, 1), (2, 5)])
    assert points[0] == points[-1] == pytest.approx((2 + 0.5**0.5, 3))
    assert [max(p[1] for p in points), min(p[1] for p in points)] == pytest.approx([3 + 2**0.5, 3 - 2**0.5])
    # Every point of the contour is 1, or 2, away in the metric of the inverse covariance.
    tilted = [(0, 0), (2, 0), (2, 1), (4, 2), (2, 2)]
    xx, xy, yy = 8 / 5, 4 / 5, 4 / 5  # mean (2, 1)
    for sigma in (1, 2):
        for x, y in ellipse(tilted, sigma):
            dx, dy = x - 2, y - 1
            assert (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / (xx * yy - xy * xy) == pytest.approx(sigma**2)


def test_points_on_a_line_have_a_line_and_equal_points_a_point() -> None:
    assert {round(y - 2 * x, 12) for x, y in ellipse([(1, 2), (2, 4), (3, 6)])} == {0}
    assert {x for x, _ in ellipse([(5, 1), (5, 3), (5, 2)])} == {5}
    assert set(ellipse([(5, 1)] * 3)) == {(5, 1)}


def test_medians_stand_beside_the_points_and_two_points_have_no_ellipse() -> None:
    found = rows({"few": [(1, 2), (3, 8)], "more": [(1, 2), (3, 8), (11, 4)]}, 1)
    medians = {row["series"]: list(row.values())[2:] for row in found.filter(part="median").to_dicts()}
    assert medians == {"few": [2, 5], "more": [3, 4]}
    assert found.filter(part="ellipse")["series"].unique().to_list() == ["more"]


def test_distributions_by_hand() -> None:
    times = pl.Series([0.003, 0.001, 0.001, 0.004])
    assert of_times(times, tail=False).rows() == [(1, 0.25), (1, 0.5), (3, 0.75), (4, 1)]
    assert of_times(times, tail=True).rows() == [(1, 1), (1, 0.75), (3, 0.5), (4, 0.25)]
    # Two groups of one queue are put together.
    bins = pl.DataFrame({"from_s": [0.002, 0.001, 0.001], "to_s": [0.003, 0.002, 0.002], "packets": [1, 2, 1]})
    assert of_bins(bins, tail=False).rows() == [(1, 0), (2, 0.75), (3, 1)]
    assert of_bins(bins, tail=True).rows() == [(1, 1), (2, 0.25)]


def test_the_longest_times_are_all_in_a_tail() -> None:
    times = pl.Series([i / 1e3 for i in range(10_000)])
    longest = of_times(times, tail=True).tail(2000)
    assert longest["x"].to_list() == pytest.approx(list(range(8000, 10_000)))
    assert longest["y"][-1] == pytest.approx(1e-4)
    assert of_times(times, tail=False).height <= 2001


def test_histograms_and_single_times_have_one_distribution(folder) -> None:
    scenario = read_scenario(folder / "bare.toml").with_overrides(COUNTED)
    run = ecnlab.run(scenario, events=True)
    exact = run.plot.sojourn().data()
    counted = ecnlab.load(folder / "counted").plot.sojourn()
    assert (counted.x, counted.y) == ("sojourn, ms", "share of packets")
    for share in (0.1, 0.5, 0.9, 0.99):
        places = [
            float(data.filter(pl.col("share of packets") >= share)["sojourn, ms"][0])
            for data in (exact, counted.data())
        ]
        assert places[1] == pytest.approx(places[0], rel=0.01)


def test_a_line_for_each_group_and_a_tail_down_to_the_last_packet(folder) -> None:
    run = ecnlab.load(folder / "counted")
    figure = run.plot.sojourn(by="group", tail=True)
    last = run.table("sojourn_bins").filter(link="bottleneck", group="bulk")
    assert figure.data()["series"].unique().to_list() == ["bulk"]
    assert figure.data()[figure.y][-1] == pytest.approx(last["packets"][-1] / last["packets"].sum())
    assert figure.log_y
    assert {"share of packets at least so long", "Sojourn times at bottleneck: bulk"} <= set(texts(figure._repr_svg_()))


def test_goodput_over_delay_has_a_point_for_each_run(folder, tmp_path) -> None:
    sweep = ecnlab.load(folder / "four")
    data = sweep.plot.goodput_over_delay().data()
    assert data.columns == ["series", "part", "delay, ms", "goodput, Mbit/s"]
    points = data.filter(part="point", series="50").sort("delay, ms")
    own = sweep.metrics.filter(limit="50")
    assert points["delay, ms"].to_list() == pytest.approx((own.filter(metric="delay")["value"] * 1e3).sort().to_list())
    assert points["goodput, Mbit/s"].sum() == pytest.approx(own.filter(metric="goodput")["value"].sum() / 1e6)
    file = tmp_path / "x.svg"
    answer = CliRunner().invoke(
        cli, ["plot", str(folder / "four"), "goodput-over-delay", "--sigma", "2", "-o", str(file)]
    )
    assert answer.exit_code == 0, answer.output
    svg = file.read_text()
    assert {"Goodput over delay", "goodput, Mbit/s", "delay, ms", "10", "50"} <= set(texts(svg))
    assert sum(node.get("id", "").startswith("ellipse-") for node in ET.fromstring(svg).iter()) == 2


def test_goodput_over_delay_of_a_run_has_a_point_for_each_flow(folder) -> None:
    run = ecnlab.load(folder / "counted")
    data = run.plot.goodput_over_delay().data().filter(part="point")
    flows = run.flows.sort("flow")
    excess = (flows["rtt_mean_s"] - flows["rtt_min_s"]) * 1e3
    assert data["delay, ms"].to_list() == pytest.approx(excess.to_list())
    assert data["goodput, Mbit/s"].to_list() == pytest.approx((flows["goodput_bps"] / 1e6).to_list())


def test_replicates_are_put_together_in_the_distribution_of_a_sweep(folder) -> None:
    sweep = ecnlab.load(folder / "pair")
    data = sweep.plot.sojourn(tail=True).data()
    bins = sweep.table("sojourn_bins").filter(link="bottleneck", limit="10", group="all").collect()
    lowest = data.filter(series="10")["share of packets at least so long"].min()
    longest = bins.filter(pl.col("from_s") == bins["from_s"].max())["packets"].sum()
    assert lowest == pytest.approx(longest / bins["packets"].sum())


NAMED = """
format = 1
scenario = "run.toml"
replicates = 3

[grid.{axis}]
path = "queue.counted.limit"
values = ["10 packets", "50 packets"]

[metrics]
n = {{ table = "flows", aggregate = "count" }}
goodput = {{ table = "flows", column = "goodput_bps", aggregate = "sum" }}
delay = {{ table = "links", column = "sojourn_mean_s", aggregate = "max" }}
"""


@pytest.mark.parametrize("axis", ["x", "series", "panel", "link", "group", "delay", "goodput"])
def test_axes_may_be_called_as_the_columns_of_figures_and_tables(folder, tmp_path, axis) -> None:
    text = (folder / "bare.toml").read_text().replace('10 ms"', '10 ms", queue = "counted"', 1)
    text += '[queue.counted]\ndiscipline = "droptail"\nlimit = "50 packets"\nquantiles = true\n'
    (tmp_path / "run.toml").write_text(text)
    (tmp_path / "named.toml").write_text(NAMED.format(axis=axis))
    plot = ecnlab.sweep(tmp_path / "named.toml", tmp_path / "out", keep=["sojourn_bins"]).plot
    assert plot.effect("goodput").data()["x"].to_list() == [10, 50]
    assert plot.effect("goodput", panels=True).data()["x"].to_list() == [10, 50]
    assert plot.effect("n").data().columns == [
        "series",
        axis + "_" * (axis in ("x", "series", "panel")),
        "x",
        "n_",
        "low",
        "high",
        "n",
    ]
    assert plot.goodput_over_delay().data()["series"].unique().sort().to_list() == ["10 packets", "50 packets"]
    assert plot.sojourn("bottleneck").data()["series"].unique().sort().to_list() == ["10 packets", "50 packets"]


def figure_of(text: str, **options) -> Figure:
    rows = pl.DataFrame(
        {"series": [text, "b"], "x": [0.0, 1.0], "y": [1.0, 2.0], "low": [0.0, 1.0], "high": [2.0, 3.0]}
    )
    return Figure(rows, "x", "y", text, text, text, "points", [text, "c"], note=text, **options)


@pytest.mark.parametrize("text", [r"$\frac{$", "$a$", "a_b^c", r"\$", "$"])
def test_names_are_drawn_as_they_are_and_not_as_formulas(text) -> None:
    shown = texts(figure_of(text)._repr_svg_())
    assert shown.count(text) >= 5


@pytest.mark.parametrize(("ending", "told"), [("svg", ""), ("png", "the font has no 日 本: write .svg")])
def test_a_missing_glyph_is_one_plain_warning(tmp_path, ending, told) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure_of("日本").save(tmp_path / f"x.{ending}")
    assert [one.category for one in caught] == [FigureWarning] * bool(told)
    assert all(told in str(one.message) for one in caught)


@pytest.mark.slow
def test_labels_without_room_are_one_plain_warning(tmp_path) -> None:
    with pytest.warns(FigureWarning) as caught:
        figure_of("long " * 60).save(tmp_path / "x.png")
    said = [str(one.message) for one in caught]
    assert sum("leave no room for the axes: write shorter ones" in text for text in said) == 1


def test_a_figure_does_not_overwrite_another_kind_of_file_through_a_link(folder, run, tmp_path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text("{}")
    (tmp_path / "link.svg").symlink_to(manifest)
    with pytest.raises(EcnlabError, match=r"link\.svg is a link to .*manifest\.json, which would be overwritten"):
        run.plot.queue().save(tmp_path / "link.svg")
    assert manifest.read_text() == "{}"
    (tmp_path / "again.svg").symlink_to(tmp_path / "true.svg")
    run.plot.queue().save(tmp_path / "again.svg")
    assert (tmp_path / "true.svg").is_file() and (tmp_path / "again.svg").is_symlink()
