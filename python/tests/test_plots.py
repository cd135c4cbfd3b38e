"""Figures: their data against the tables, the text and lines of the SVG, and what is said where one cannot be made."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import ecnlab
from ecnlab.cli import cli
from ecnlab.errors import EcnlabError
from ecnlab.plots.figure import apart
from ecnlab.plots.run import sojourns
from ecnlab.plots.sweep import unit_of

SCENARIO = """
format = 1
duration = "4 s"
warmup = "1 s"
{sample}

[link.bottleneck]
from = "r"
to = "b"
rate = "2 Mbps"
delay = "10 ms"

[link.access]
from = "a"
to = "r"
rate = "10 Mbps"
delay = "1 ms"

[flow.bulk]
count = 5
from = "a"
to = "b"
traffic = "ftp"
"""

EXPERIMENT = """
format = 1
scenario = "run.toml"
replicates = 2
seed = 1

[grid.rate]
path = "link.bottleneck.rate"
values = ["2 Mbps", "4 Mbps"]
labels = ["2", "4"]

[grid.delay]
path = "link.bottleneck.delay"
values = ["10 ms", "20 ms"]
labels = ["near", "far"]

[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
fairness = { table = "flows", column = "goodput_bps", aggregate = "jain" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("plots")
    (where / "run.toml").write_text(SCENARIO.format(sample='sample = "100 ms"'))
    (where / "bare.toml").write_text(SCENARIO.format(sample=""))
    (where / "sweep.toml").write_text(EXPERIMENT)
    ecnlab.run(where / "run.toml", events=True, out=where / "run")
    ecnlab.run(where / "bare.toml", out=where / "bare")
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
    rows = run.flow_series.filter(flow="bulk[1]")
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
        ("queue", {"Queue of bottleneck", "queue, packets", "time, s", "queue"}),
        ("cwnd", {"Congestion window", "window, kB", "bulk[0]", "bulk[1]", "bulk[2]", "3 of 5 flows"}),
        ("goodput", {"Goodput by group of flows", "goodput, Mbit/s", "bulk"}),
        ("sojourn", {"time in the queue, ms", "share of packets", "bottleneck"}),
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
        (["bare", "sojourn"], ["no figure `sojourn`: the run has no table `packets`; run with --events"]),
        (["run", "queue", "--link", "x"], ["no link is called 'x'; there are", "bottleneck"]),
        (["run", "cwnd", "--flow", "x"], ["no flow is called 'x'; there are bulk[0], bulk[1]"]),
        (["run", "queue", "--metric", "x"], ["the figure `queue` has no --metric"]),
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
    with pytest.raises(EcnlabError, match=r"x\.jpg: a figure ends with \.svg, \.pdf, \.png, \.csv"):
        run.plot.queue().save(tmp_path / "x.jpg")
