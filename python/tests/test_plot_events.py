"""Marks and drops in figures over time, small multiples, and completion times."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import cli
from ecnlab.plots.figure import TIME, Figure
from ecnlab.plots.look import grid
from ecnlab.plots.series import TICKS
from ecnlab.scenario.files import read_scenario

SCENARIO = """
format = 1
duration = "6 s"
warmup = "1 s"
sample = "100 ms"

link.bottleneck = { from = "a", to = "b", rate = "8 Mbps", delay = "10 ms", queue = "red" }
queue.red = { discipline = "red", limit = "40 packets", min_th = "5 packets", max_th = "30 packets", max_p = 0.1, ecn = true }
tcp.default = { ecn = "rfc3168" }
flow.bulk = { count = 26, from = "a", to = "b", traffic = "ftp", start = { uniform = ["0 s", "5 s"] } }
flow.pages = { from = "b", to = "a", traffic = { kind = "crr", request = "300 B", response = "5 kB" } }
flow.calls = { from = "b", to = "a", traffic = { kind = "crr", request = "300 B", response = "500 B" } }
"""

EXPERIMENT = """
format = 1
scenario = "run.toml"
replicates = 2

grid.max_p = { path = "queue.red.max_p", values = [0.02, 0.1] }
arm.ecn = { set = {} }
arm.plain = { set = { "tcp.default.ecn" = "off" } }
grid.rate = { path = "link.bottleneck.rate", values = ["2 Mbps", "3 Mbps", "4 Mbps", "5 Mbps"] }

[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("events")
    (where / "run.toml").write_text(SCENARIO)
    ecnlab.run(where / "run.toml", events=True, out=where / "run")
    ecnlab.run(where / "run.toml", out=where / "bare")
    (where / "sweep.toml").write_text(EXPERIMENT)
    ecnlab.sweep(where / "sweep.toml", where / "sweep", workers=1, keep=["transactions"])
    return where


@pytest.fixture(scope="module")
def run(folder):
    return ecnlab.load(folder / "run")


def texts(drawing) -> set[str]:
    return {text.get_text() for text in drawing.findobj(lambda artist: hasattr(artist, "get_text"))}


def test_marks_and_drops_of_the_queue_are_events_with_their_counts(run) -> None:
    figure = run.plot.queue()
    packets = run.packets.filter(link="bottleneck")
    marked = packets.filter(event="mark")
    dropped = packets.filter(pl.col("event").is_in(["drop_early", "drop_forced", "drop_tail"]))
    assert marked.height and dropped.height
    data = figure.data()
    assert data.columns == ["series", "time, s", "queue, packets"]
    assert data.filter(series="marks")["time, s"].to_list() == marked["time_s"].to_list()
    assert data.filter(series="drops")["time, s"].to_list() == dropped["time_s"].to_list()
    assert data.filter(series="marks")["queue, packets"].null_count() == marked.height
    drawing = figure.draw()
    assert {f"marks: {marked.height:,}", f"drops: {dropped.height:,}"} <= texts(drawing)
    assert all(tick >= 0 for tick in drawing.axes[0].get_yticks())
    rugs = {artist.get_gid(): artist for artist in drawing.axes[0].collections}
    assert len(rugs["rug-1"].get_segments()) == (dropped["time_s"] / (6 / TICKS)).round().n_unique()
    assert all(y < 0 for line in rugs["rug-0"].get_segments() for _, y in line)


def test_an_interval_and_new_names_apply_to_events(run) -> None:
    figure = run.plot.queue().with_(start=2, end="3 s", labels={"marks": "CE"})
    kept = run.packets.filter(pl.col("time_s").is_between(2, 3), link="bottleneck", event="mark")
    assert f"CE: {kept.height:,}" in texts(figure.draw())
    assert figure.data()["time, s"].min() >= 2


def test_without_packet_events_there_are_none(folder) -> None:
    bare = ecnlab.load(folder / "bare")
    assert bare.plot.queue().rugs is None
    assert not bare.plot.queue().data()["series"].is_in(["marks", "drops"]).any()
    assert "bulk[0]" in texts(bare.plot.cwnd(["bulk[0]"], panels=True).draw())


def test_a_run_in_memory_has_the_same_events_as_a_stored_one(folder, run) -> None:
    scenario = read_scenario(folder / "run.toml")
    assert ecnlab.run(scenario, events=True).plot.queue().data().equals(run.plot.queue().data())


def test_many_events_are_thinned_in_the_drawing_but_not_in_the_data() -> None:
    rows = pl.DataFrame({"series": ["queue"] * 2, TIME: [0.0, 10.0], "y": [1.0, 2.0]})
    rugs = pl.DataFrame({"series": ["marks"] * 50_000, TIME: [i / 5000 for i in range(50_000)]})
    figure = Figure(rows, TIME, "y", "", TIME, "y", "stairs", rugs=rugs)
    (lines,) = figure.draw().axes[0].collections
    assert 0.9 * TICKS < len(lines.get_segments()) <= TICKS + 1
    assert figure.data().height == 50_002
    assert "marks: 50,000" in texts(figure.draw())


def test_windows_as_small_multiples_share_their_axes_and_count_the_events_of_the_flow(run) -> None:
    lost = run.packets.filter(pl.col("event").str.starts_with("drop"), from_sender=True)["flow"]
    both = run.packets.filter(pl.col("flow").is_in(lost.to_list()), event="mark", from_sender=True)["flow"].sort()[0]
    figure = run.plot.cwnd([both, "bulk[25]"], panels=True)
    own = run.packets.filter(flow=both, from_sender=True)
    marks = own.filter(event="mark").height
    drops = own.filter(pl.col("event").str.starts_with("drop") | (pl.col("event") == "loss")).height
    assert marks and drops
    drawing = figure.draw()
    assert len(drawing.axes) == 2
    assert f"{both}: {marks} marks, {drops} drops" in texts(drawing)
    assert len({axes.get_ylim() for axes in drawing.axes}) == len({axes.get_xlim() for axes in drawing.axes}) == 1
    data = figure.data()
    assert data.columns == ["flow", "series", "time, s", "window, kB"]
    window = run.flow_series.filter(flow=both)["cwnd_bytes"] / 1000
    assert data.filter(flow=both, series="window")["window, kB"].to_list() == window.to_list()
    assert data.filter(flow=both, series="marks").height == marks


def test_the_events_of_a_window_are_those_of_the_data_that_it_limits(run) -> None:
    requests = run.packets.filter(flow="pages", from_sender=False, event="mark")
    assert requests.height and not run.packets.filter(flow="pages", from_sender=True, event="mark").height
    assert any(
        text.startswith("pages: 0 marks") for text in texts(run.plot.cwnd(["pages", "bulk[1]"], panels=True).draw())
    )


def test_twelve_panels_are_drawn_unless_flows_are_named(run) -> None:
    figure = run.plot.cwnd(panels=True)
    assert (len(figure.panel_names()), figure.note) == (12, "12 of 28 flows")
    names = [f"bulk[{n}]" for n in range(8)]
    with pytest.raises(EcnlabError, match=r"8 flows in one figure; name at most 7, or draw up to 24 with --panels"):
        run.plot.cwnd(names)
    with pytest.raises(EcnlabError, match="25 flows in one figure; name at most 24"):
        run.plot.cwnd([f"bulk[{n}]" for n in range(25)], panels=True)


@pytest.mark.slow
def test_flows_that_are_named_have_a_panel_each(folder, tmp_path) -> None:
    flows = [part for n in range(8) for part in ("--flow", f"bulk[{n}]")]
    file = tmp_path / "x.svg"
    answer = CliRunner().invoke(cli, ["plot", str(folder / "run"), "cwnd", "--panels", *flows, "-o", str(file)])
    assert answer.exit_code == 0, answer.output
    assert file.read_text().count('id="axes_') == 8


def test_panels_fill_their_grid() -> None:
    assert [grid(n) for n in (1, 3, 4, 7, 10, 12, 24)] == [(1, 1), (3, 1), (2, 2), (4, 2), (5, 2), (4, 3), (8, 3)]


def test_an_effect_with_too_many_lines_has_a_panel_for_each_point_of_the_other_axes(folder) -> None:
    sweep = ecnlab.load(folder / "sweep")
    with pytest.raises(EcnlabError, match=r"8 lines in one figure, of arm, rate; .*: draw panels with --panels"):
        sweep.plot.effect("goodput", by="max_p")
    figure = sweep.plot.effect("goodput", by="max_p", panels=True)
    assert list(figure.panel_names()) == [f"rate = {n} Mbps" for n in (2, 3, 4, 5)]
    data = figure.data()
    assert data.height == 16
    mean = sweep.summary().filter(arm="plain", rate="3 Mbps", max_p="0.1")["mean"][0]
    row = data.filter(panel="rate = 3 Mbps", series="plain", max_p="0.1")
    assert row["goodput, Mbit/s"].to_list() == [pytest.approx(mean * 1e-6)]
    drawing = figure.draw()
    assert len(drawing.axes) == 4
    assert {"ecn", "plain", "rate = 5 Mbps"} <= texts(drawing)


def test_lines_without_arms_have_a_panel_each(folder) -> None:
    figure = ecnlab.load(folder / "sweep").plot.effect("goodput", by="arm", panels=True)
    assert len(figure.panel_names()) == 8
    assert list(figure.panel_names())[0] == "max_p = 0.02, rate = 2 Mbps"  # noqa: RUF015
    assert figure.data()["series"].unique().to_list() == ["goodput"]


def test_completion_times_are_the_latencies_of_measured_transactions_by_group(run) -> None:
    data = run.plot.completion().data()
    rows = run.transactions.filter(pl.col("measured"), group="pages")
    assert 1 < rows.height < run.transactions.filter(group="pages").height
    pages = data.filter(series="pages")
    assert pages["completion, ms"].to_list() == pytest.approx((1e3 * rows["latency_s"].sort()).to_list())
    assert pages["share of transactions"][-1] == 1
    assert data["series"].unique().sort().to_list() == ["calls", "pages"]
    tail = run.plot.completion(tail=True)
    assert tail.log_y and tail.data()[tail.y].min() > 0


def test_completion_times_of_a_sweep_have_a_line_for_each_point_and_group(folder, tmp_path) -> None:
    sweep = ecnlab.load(folder / "sweep")
    with pytest.raises(EcnlabError, match="lines in one figure, of arm, max_p, rate, group"):
        sweep.plot.completion()
    (tmp_path / "run.toml").write_text(SCENARIO)
    (tmp_path / "few.toml").write_text(
        EXPERIMENT.split("grid.rate")[0] + '[metrics]\nn = { table = "flows", aggregate = "count" }\n'
    )
    few = ecnlab.sweep(tmp_path / "few.toml", tmp_path / "few", workers=1, keep=["transactions"])
    with pytest.raises(EcnlabError, match="8 lines in one figure, of arm, max_p, group"):
        few.plot.completion()
    text = EXPERIMENT.split("arm.ecn")[0] + '[metrics]\nn = { table = "flows", aggregate = "count" }\n'
    (tmp_path / "two.toml").write_text(text)
    two = ecnlab.sweep(tmp_path / "two.toml", tmp_path / "two", workers=1, keep=["transactions"])
    data = two.plot.completion().data()
    assert data["series"].unique().sort().to_list() == ["0.02, calls", "0.02, pages", "0.1, calls", "0.1, pages"]
    rows = two.table("transactions").filter(pl.col("measured"), group="pages", max_p="0.1").collect()
    times = data.filter(series="0.1, pages")["completion, ms"].to_list()
    assert times == pytest.approx((1e3 * rows["latency_s"].sort()).to_list())
