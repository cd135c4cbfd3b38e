"""``ecnlab plot`` of sweeps: arms without values, cut axes, parts of sweeps, grids of panels, legends."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result
from conftest import first_fast
from test_plot_print import shown

import ecnlab
from ecnlab.cli import cli
from ecnlab.report.scale import cut_end

SCENARIO = """
format = 1
duration = "2 s"

link.bottleneck = { from = "a", to = "b", rate = "2 Mbps", delay = "10 ms", queue = "short" }
queue.short = { discipline = "droptail", limit = "20 packets", quantiles = true }
flow.bulk = { count = 2, from = "a", to = "b", traffic = "ftp", start = { uniform = ["0 s", "0.2 s"] } }
"""

RATES = """
format = 1
scenario = "run.toml"
replicates = 3

[grid.link_rate]
path = "link.bottleneck.rate"
values = ["1 Mbps", "2 Mbps"]
"""

METRICS = """
[metrics]
goodput = { table = "flows", column = "goodput_bps", aggregate = "sum" }
mean_rtt = { table = "flows", column = "rtt_mean_s", aggregate = "mean" }
drops = { table = "queues", column = "tail_drops", aggregate = "sum" }
fairness = { table = "flows", column = "goodput_bps", aggregate = "jain" }
"""

ARMS = """
[arm.near]
set = {}

[arm.far]
set = { "link.bottleneck.delay" = "30 ms" }

[arm.moon]
set = { "link.bottleneck.delay" = "1300 ms" }
"""
"""No packet is acknowledged before the end of a run with the arm `moon`."""

SENDERS = """
[grid.buffer]
path = "queue.short.limit"
values = ["10 packets", "20 packets", "40 packets"]
labels = ["half", "one", "two"]

[grid.sender]
path = "tcp.default.congestion"
values = ["reno", "cubic", "vegas"]
labels = ["Reno", "CUBIC", "Vegas"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("sweeps")
    (where / "run.toml").write_text(SCENARIO)
    for name, parts in {"arms": ARMS, "senders": SENDERS}.items():
        (where / f"{name}.toml").write_text(RATES + parts + METRICS)
        ecnlab.sweep(where / f"{name}.toml", where / name, keep=["sojourn_bins"], workers=2)
    ecnlab.run(where / "run.toml", overrides={"sample": "100 ms"}, out=where / "run")
    return where


def plot(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(cli, ["plot", str(folder), *options])


def texts(file: Path) -> list[str]:
    """The texts of an SVG file."""
    return ["".join(text.itertext()) for text in ET.parse(file).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    first_fast(
        2,
        [
            (["effect", "--metric", "mean_rtt"], 2, "no values of mean rtt: moon"),
            (
                ["goodput-over-delay", "--delay", "mean_rtt"],
                2,
                "no run with values of both goodput and mean rtt: moon",
            ),
            (["effect", "--metric", "mean_rtt", "--by", "arm"], 2, "no values of mean rtt: moon"),
            (["effect", "--metric", "mean_rtt", "--panels"], 2, "no values of mean rtt: moon"),
            (["effect", "--metric", "mean_rtt", "--against", "far"], 2, "no values of mean rtt: moon"),
        ],
    ),
)
def test_an_arm_without_values_is_named_in_figure_data_and_terminal(folder, tmp_path, options, rows, message) -> None:
    drawn, data = tmp_path / "x.svg", tmp_path / "x.csv"
    for file in (drawn, data):
        answer = plot(folder / "arms", *options, "-o", str(file))
        assert answer.exit_code == 0, answer.output
        assert f"{file}: {message}" in answer.stderr
    assert message in " ".join(texts(drawn))
    lacking = pl.read_csv(data).filter(pl.col("note") == "no values")
    assert lacking.height == rows
    assert all("moon" in ", ".join(map(str, row)) for row in lacking.rows())


def test_a_point_without_values_is_named_with_its_axes(folder, tmp_path) -> None:
    sweep = ecnlab.load(folder / "arms")
    gone = (pl.col("arm") == "far") & (pl.col("link_rate") == "2 Mbps")
    sweep._tables._read["metrics"] = sweep.metrics.filter(~gone)
    figure = sweep.plot.effect("goodput")
    assert figure.absent == "no values of goodput: far, link rate = 2 Mbps"
    assert figure.data().filter(note="no values").select("series", "link_rate", "n").rows() == [("far", "2 Mbps", 0)]
    assert figure.data().height == 6


def test_a_figure_whose_arms_all_have_values_has_no_note_of_them(folder, tmp_path) -> None:
    data = tmp_path / "x.csv"
    answer = plot(folder / "arms", "effect", "--metric", "drops", "-o", str(data))
    assert "no values" not in answer.output
    assert "note" not in pl.read_csv(data).columns


def cuts(file: Path) -> set[str]:
    """The ends of axes with a mark in an SVG file by Matplotlib."""
    return {each.get("id", "") for each in ET.parse(file).iter() if each.get("id", "").startswith("cut-")}


@pytest.mark.parametrize(
    ("options", "marks"),
    [
        (["effect", "--metric", "mean_rtt", "--by", "arm"], {"cut-bottom"}),
        (["effect", "--metric", "mean_rtt", "--against", "near", "--ratio"], {"cut-bottom"}),
        (["effect", "--metric", "drops"], set()),
    ],
)
def test_an_axis_of_values_without_zero_has_a_mark_at_its_end(folder, tmp_path, options, marks) -> None:
    file = tmp_path / "x.svg"
    assert plot(folder / "arms", *options, "-o", str(file)).exit_code == 0
    assert cuts(file) == marks


@pytest.mark.parametrize(
    ("options", "marks"),
    [
        ([], set()),
        (["--from", "500 ms"], {"cut-left"}),
        (["--to", "1 s"], {"cut-right"}),
        (["--from", "0.5 s", "--to", "1 s"], {"cut-left", "cut-right"}),
        (["--from", "0 s", "--to", "9 s"], set()),
    ],
)
def test_an_interval_that_leaves_out_data_has_a_mark_at_each_cut_end(folder, tmp_path, options, marks) -> None:
    file = tmp_path / "x.svg"
    assert plot(folder / "run", "queue", *options, "-o", str(file)).exit_code == 0
    assert cuts(file) == marks


@pytest.mark.parametrize(
    ("low", "high", "log", "end"),
    [
        (0.2, 1.0, False, 0.2),
        (-3.0, -1.0, False, -1.0),
        (0.0, 1.0, False, None),
        (-1.0, 1.0, False, None),
        (0.2, 1.0, True, None),
    ],
)
def test_the_end_of_an_axis_that_is_cut(low, high, log, end) -> None:
    assert cut_end(low, high, log=log) == end


def test_a_page_marks_the_axes_that_the_figures_of_files_mark(folder, tmp_path) -> None:
    page = tmp_path / "page.html"
    answer = CliRunner().invoke(cli, ["report", str(folder / "arms"), "-o", str(page)])
    assert answer.exit_code == 0, answer.output
    drawings = {
        label: drawing
        for drawing in re.findall(r'<svg class="plot .*?(?=<svg class="plot |</main>)', page.read_text(), re.DOTALL)
        for label in re.findall(r'aria-label="([^".]*)', drawing)[:1]
    }
    assert 'class="cut"' in drawings["mean_rtt by link_rate"]
    assert 'class="cut"' not in drawings["drops by link_rate"]
    assert "No run with values of both goodput and mean rtt: moon." in page.read_text()


def test_where_draws_the_part_of_a_sweep_with_these_labels(folder, tmp_path) -> None:
    drawn, data = tmp_path / "x.svg", tmp_path / "x.csv"
    options = [
        "effect",
        "--metric",
        "goodput",
        "--by",
        "link_rate",
        "--where",
        "sender=CUBIC",
        "--where",
        "buffer=half",
    ]
    for file in (drawn, data):
        answer = plot(folder / "senders", *options, "--where", "buffer=two", "-o", str(file))
        assert answer.exit_code == 0, answer.output
    assert "Effect of link rate on goodput (sender = CUBIC, buffer = half or two)" in texts(drawn)
    rows = pl.read_csv(data)
    assert rows["series"].unique(maintain_order=True).to_list() == ["half", "two"]
    whole = ecnlab.load(folder / "senders").metrics.filter(metric="goodput", sender="CUBIC")
    for row in rows.iter_rows(named=True):
        expected = whole.filter(buffer=row["series"], link_rate=row["link_rate"])["value"].mean() / 1e6
        assert row["goodput, Mbit/s"] == pytest.approx(expected)


def test_where_takes_an_arm(folder, tmp_path) -> None:
    data = tmp_path / "x.csv"
    assert plot(folder / "arms", "goodput-over-delay", "--where", "arm=far", "-o", str(data)).exit_code == 0
    assert pl.read_csv(data)["series"].unique().sort().to_list() == ["1 Mbps", "2 Mbps"]


def test_tables_of_a_part_have_only_its_runs(folder) -> None:
    part = ecnlab.load(folder / "senders").where({"sender": "Vegas"}).where({"buffer": ["one"]})
    assert part.axes == ("link_rate",)
    assert part.runs.height == 6
    assert part.table("sojourn_bins").collect()["id"].unique().sort().to_list() == part.runs["id"].sort().to_list()
    assert part.plot.sojourn().names() == ["1 Mbps", "2 Mbps"]


@pytest.mark.parametrize(
    ("sweep", "where", "message"),
    [
        (
            "senders",
            "sendr=Reno",
            "no axis is called 'sendr'; did you mean 'sender'?; there are buffer, link_rate, sender",
        ),
        ("senders", "arm=x", "no axis is called 'arm'; there are buffer, link_rate, sender"),
        (
            "senders",
            "sender=cubik",
            "no value of sender is called 'cubik'; did you mean 'CUBIC'?; there are Reno, CUBIC, Vegas",
        ),
        ("arms", "arm=mon", "no value of arm is called 'mon'; did you mean 'moon'?; there are far, moon, near"),
        ("senders", "sender", "'sender' chooses no value: write an axis and a label of it, such as 'sender=BBR'"),
    ],
)
def test_an_unknown_axis_or_label_is_refused_with_those_there_are(folder, tmp_path, sweep, where, message) -> None:
    answer = plot(folder / sweep, "effect", "--where", where, "-o", str(tmp_path / "x.svg"))
    assert answer.exit_code != 0
    assert message in " ".join(f"{answer.output} {answer.exception}".split())


@pytest.mark.slow
@pytest.mark.parametrize("size", ["180x110mm", "88x110mm"])
def test_metrics_and_labels_of_an_axis_are_a_grid_whose_texts_do_not_touch(folder, tmp_path, size) -> None:
    sweep, file = folder / "senders", tmp_path / "x.svg"
    metrics = ["goodput", "mean_rtt", "drops", "fairness"]
    options = ["effect", "--panel", "sender", "--by", "link_rate", "--size", size, "-o", str(file)]
    answer = plot(sweep, *options, *(part for metric in metrics for part in ("--metric", metric)))
    assert answer.exit_code == 0, answer.output
    assert not answer.stderr
    words = texts(file)
    for text in ("sender = Reno", "sender = CUBIC", "sender = Vegas", "link rate, Mbps", "half"):
        assert text in words
    drawing = ecnlab.load(sweep).plot.effect(metrics, "link_rate", panel="sender").with_(size=size).draw()
    assert len(drawing.axes) == 12
    assert all(len({axes.get_ylim() for axes in drawing.axes[n : n + 3]}) == 1 for n in range(0, 12, 3))
    assert len({axes.get_xlim() for axes in drawing.axes}) == 1
    drawing.canvas.draw()
    boxes = [text.get_window_extent() for text in shown(drawing)]
    assert not [1 for one, other in itertools.combinations(boxes, 2) if one.overlaps(other)]


def test_the_data_of_a_grid_has_metric_and_panel(folder, tmp_path) -> None:
    data = tmp_path / "x.csv"
    options = ["effect", "--metric", "drops", "--metric", "mean_rtt", "--panel", "buffer", "--by", "link_rate"]
    assert plot(folder / "senders", *options, "-o", str(data)).exit_code == 0
    rows = pl.read_csv(data)
    assert rows["metric"].unique(maintain_order=True).to_list() == ["drops, count", "mean rtt, ms"]
    assert rows["panel"].unique(maintain_order=True).to_list() == ["buffer = half", "buffer = one", "buffer = two"]
    summary = ecnlab.load(folder / "senders").summary()
    keys = {"link_rate": "2 Mbps", "sender": "Vegas", "metric": "mean_rtt", "buffer": "two"}
    expected = 1e3 * summary.filter(**keys)["mean"].item()
    found = rows.filter(metric="mean rtt, ms", panel="buffer = two", series="Vegas", link_rate="2 Mbps")
    assert found["value"].item() == pytest.approx(expected)


def test_goodput_over_delay_has_a_panel_for_each_label_with_shared_scales(folder) -> None:
    plots = ecnlab.load(folder / "senders").plot
    figure = plots.goodput_over_delay("goodput", "mean_rtt", panel="buffer")
    drawing = figure.draw()
    assert [axes.get_title(loc="left") for axes in drawing.axes] == [
        f"buffer = {one}" for one in ("half", "one", "two")
    ]
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in drawing.axes}) == 1
    assert figure.names() == [f"{rate} Mbps, {sender}" for rate in (1, 2) for sender in ("Reno", "CUBIC", "Vegas")]
    assert figure.x_label == "mean rtt, ms"


def test_distributions_of_arms_are_over_each_other_in_panels(folder, tmp_path) -> None:
    data = tmp_path / "x.csv"
    assert plot(folder / "arms", "sojourn", "--panel", "link_rate", "-o", str(data)).exit_code == 0
    rows = pl.read_csv(data)
    assert rows["panel"].unique().sort().to_list() == ["link rate = 1 Mbps", "link rate = 2 Mbps"]
    assert set(rows["series"]) == {"near", "far", "moon"}


def test_panels_of_arms_have_no_arm_in_the_names_of_series_and_an_empty_one_is_named(folder, tmp_path) -> None:
    file = tmp_path / "x.svg"
    answer = plot(folder / "arms", "effect", "--metric", "mean_rtt", "--panel", "arm", "-o", str(file))
    assert answer.exit_code == 0, answer.output
    assert "no values: moon" in answer.stderr
    assert {"near", "far"} <= set(texts(file))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["effect", "--panel", "x"], "no axis is called 'x'; there are buffer, link_rate, sender"),
        (["effect", "--panel", "buffer", "--by", "buffer"], "'buffer' is both the axis and that of panels"),
        (["effect", "--panel", "buffer", "--panels"], "both --panels and --panel"),
        (["effect", "--metric", "x", "--metric", "goodput"], "no metric is called 'x'"),
    ],
)
def test_panels_that_there_are_not_are_refused(folder, tmp_path, options, message) -> None:
    answer = plot(folder / "senders", *options, "-o", str(tmp_path / "x.svg"))
    assert answer.exit_code != 0
    assert message in str(answer.exception)


def test_labels_rename_panels_categories_and_labels_of_axes(folder, tmp_path) -> None:
    file = tmp_path / "x.svg"
    new = {
        "sender = Reno": "Reno (RFC 5681)",
        "link rate, Mbps": "rate (Mbit/s)",
        "drops, count": "tail drops",
    }
    labels = [part for old, name in new.items() for part in ("--labels", f"{old}={name}")]
    options = ["effect", "--panel", "sender", "--by", "link_rate", *labels, "-o", str(file)]
    answer = plot(folder / "senders", *options)
    assert answer.exit_code == 0, answer.output + str(answer.exception)
    assert set(new.values()) <= set(texts(file))


def test_a_figure_with_one_series_has_its_name_in_the_title_and_no_legend(folder, tmp_path) -> None:
    file = tmp_path / "x.svg"
    options = ["--where", "link_rate=1 Mbps", "--where", "arm=far", "--where", "arm=moon", "-o", str(file)]
    assert plot(folder / "arms", "goodput-over-delay", "--delay", "mean_rtt", *options).exit_code == 0
    words = " ".join(texts(file))
    assert "Goodput over delay (link rate = 1 Mbps, arm = far or moon)" in words
    assert "far" not in texts(file)
    assert plot(folder / "arms", "sojourn", *options[:4], "-o", str(file)).exit_code == 0
    assert "Sojourn times at bottleneck (link rate = 1 Mbps, arm = far)" in " ".join(texts(file))
    assert (
        plot(folder / "arms", "sojourn", *options[:4], "--labels", "bottleneck=30 ms", "-o", str(file)).exit_code == 0
    )
    assert "30 ms" in texts(file)


def test_a_page_has_no_legend_of_one_series_and_names_it_once(folder, tmp_path) -> None:
    one = '[grid.rate]\npath = "link.bottleneck.rate"\nvalues = ["1 Mbps", "2 Mbps"]\n'
    experiment = tmp_path / "one.toml"
    experiment.write_text(f'format = 1\nscenario = "{folder / "run.toml"}"\nreplicates = 2\n{one}{METRICS}')
    ecnlab.sweep(experiment, tmp_path / "one", workers=1)
    page = ecnlab.load(tmp_path / "one").report(tmp_path / "page.html").read_text()
    figure = page[page.index("<h3>drops by rate</h3>") :].partition("</figure>")[0]
    assert '<p class="unit">drops, count</p>' in figure
    assert '<ul class="legend">' not in figure


def test_without_matplotlib_the_error_names_a_package_that_every_index_has(folder, tmp_path) -> None:
    hidden = "import sys; sys.modules['matplotlib'] = None; from ecnlab.cli import main; "
    arguments = ["plot", str(folder / "arms"), "effect", "-o", str(tmp_path / "x.svg")]
    done = subprocess.run(
        [sys.executable, "-c", f"{hidden}main({arguments!r})"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "`python -m pip install 'matplotlib>=3.10'` adds it" in done.stderr


def test_no_message_takes_ecnlab_from_an_index() -> None:
    package = Path(ecnlab.__file__).parent
    assert [file for file in package.rglob("*.py") if "pip install 'ecnlab" in file.read_text()] == []
