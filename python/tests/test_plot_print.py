"""Figures for print: size, interval, title, names of series, and texts that stay inside the canvas."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from conftest import first_fast
from matplotlib.image import imread
from matplotlib.text import Text

import ecnlab
from ecnlab.base.errors import EcnlabError
from ecnlab.cli import cli
from ecnlab.plots import canvas
from ecnlab.plots.canvas import _distinctive
from ecnlab.plots.figure import Figure, FigureWarning
from ecnlab.plots.look import grid
from ecnlab.plots.values import label, seconds, size

SCENARIO = """
format = 1
duration = "4 s"
sample = "100 ms"

link.bottleneck = { from = "a", to = "b", rate = "2 Mbps", delay = "10 ms" }
flow.bulk = { from = "a", to = "b", traffic = "ftp" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("print")
    (where / "run.toml").write_text(SCENARIO)
    ecnlab.run(where / "run.toml", out=where / "run")
    return where / "run"


def over_time(names: list[str], **options) -> Figure:
    """A figure with a series of 20 samples for each of ``names``."""
    rows = pl.DataFrame(
        [
            {"series": name, "time, s": float(t), "queue, packets": float((7 * t + 3 * place) % 20)}
            for place, name in enumerate(names)
            for t in range(20)
        ]
    )
    return Figure(rows, "time, s", "queue, packets", "Queue", "time, s", "queue, packets", "stairs", **options)


def of_categories(names: list[str], categories: list[str], **options) -> Figure:
    rows = pl.DataFrame(
        [
            {
                "series": name,
                "x": float(x),
                "y": 10.0 * place + x,
                "low": 10.0 * place + x - 1,
                "high": 10.0 * place + x + 2,
            }
            for place, name in enumerate(names)
            for x in range(len(categories))
        ]
    )
    return Figure(rows, "x", "y", "Effect", "queue", "y, ms", "points", categories, from_zero=False, **options)


def shown(drawing) -> list[Text]:
    """The texts of a figure that are drawn: ticks outside the limits of their axis are not."""
    ticks = [tick for axes in drawing.axes for axis in (axes.xaxis, axes.yaxis) for tick in axis.majorTicks]
    hidden = {id(text) for tick in ticks for text in (tick.label1, tick.label2)}
    seen = [text for axes in drawing.axes for axis in (axes.xaxis, axes.yaxis) for text in axis.get_ticklabels()
            if _within(axis, text)]  # fmt: skip
    others = [text for text in drawing.findobj(Text) if id(text) not in hidden and text.get_visible()]
    return [text for text in (*seen, *others) if text.get_text()]


def _within(axis, text) -> bool:
    low, high = sorted(axis.get_view_interval())
    place = text.get_position()[0 if axis.axis_name == "x" else 1]
    return text.get_visible() and low <= place <= high


def boxes(drawing) -> dict[str, tuple[float, float, float, float]]:
    found = [(text.get_text(), text.get_window_extent()) for text in shown(drawing)]
    return {f"{number} {name}": box.extents for number, (name, box) in enumerate(found)}


def in_panels(names: list[str], size: str) -> Figure:
    """A panel with two series and events for each of ``names``."""
    figure = over_time(["window", "threshold"], panel="flow")
    parts = [figure.rows.select(pl.lit(name).alias("flow"), pl.all()) for name in names]
    events = [{"flow": name, "series": kind, "time, s": 3.0} for name in names for kind in ("marks", "drops")]
    return Figure(**{**vars(figure), "rows": pl.concat(parts), "rugs": pl.DataFrame(events), "note": NOTE}).with_(
        size=size
    )


LONG = [f"droptail with ECN and a limit of {n} packets, far" for n in range(7)]
NOTE = "3 of 50 flows; means and 95 % intervals of the replicates; 1234 packets left out, because they were equal"
QUEUES = ["droptail", "red", "codel", "fq_codel", "fq_pie", "dualpi2", "cake", "docsis_pie"]


@pytest.mark.parametrize(
    ("figure", "paper"),
    first_fast(
        4,
        [
            (over_time(LONG, note=NOTE), "60x40mm"),
            (
                over_time(["queue"], note=NOTE).with_(
                    title="A title that is much too long for one line of this figure"
                ),
                "60x40mm",
            ),
            (of_categories(["ecn", "plain"], QUEUES), "60x40mm"),
            (in_panels(LONG[:4], "88x90mm"), "88x90mm"),
            (over_time(LONG, note=NOTE), "5x2.8in"),
            (over_time([f"bulk[{n}]" for n in range(7)]), "60x40mm"),
            (over_time(LONG[:2]).with_(title=""), "60x40mm"),
            (of_categories(LONG, QUEUES, note=NOTE), "5x2.8in"),
            (in_panels([f"bulk[{n}]" for n in range(8)], "88x120mm"), "88x120mm"),
        ],
    ),
)
def test_all_texts_are_inside_the_canvas_and_apart(monkeypatch, tmp_path, figure, paper) -> None:
    figure, drawings, drawn = figure.with_(size=paper), [], canvas.drawn
    monkeypatch.setattr(canvas, "drawn", lambda figure: drawings.append(drawn(figure)) or drawings[-1])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "names of series are shortened", FigureWarning)
        file = figure.save(tmp_path / "x.png")
    (drawing,) = drawings
    width, height = (72 * side for side in drawing.get_size_inches())
    scale = 72 / drawing.dpi
    assert width == pytest.approx(72 * size(paper)[0]) and height == pytest.approx(72 * size(paper)[1])
    texts = boxes(drawing)
    for name, (left, bottom, right, top) in texts.items():
        assert min(left, bottom) >= 0 and scale * right <= width and scale * top <= height, name
    for (one, a), (other, b) in itertools.combinations(texts.items(), 2):
        if not any(figure.categories and text.split(" ", 1)[1] in figure.categories for text in (one, other)):
            assert min(a[2], b[2]) <= max(a[0], b[0]) + 1 or min(a[3], b[3]) <= max(a[1], b[1]) + 1, (one, other)
    image = imread(file)
    assert min(image[0].min(), image[-1].min(), image[:, 0].min(), image[:, -1].min()) == 1
    rows = grid(len(drawing.axes))[0] if figure.panel else 1
    assert rows * drawing.axes[0].get_window_extent().height > 0.25 * drawing.bbox.height


@pytest.mark.slow
def test_panels_without_room_are_one_plain_warning(tmp_path) -> None:
    with pytest.warns(FigureWarning, match="leave no room for the axes") as caught:
        in_panels([f"bulk[{n}]" for n in range(6)], "45x30mm").save(tmp_path / "x.png")
    assert len(caught) == 1


@pytest.mark.slow
def test_names_that_have_no_room_keep_the_words_that_differ(tmp_path) -> None:
    assert _distinctive(LONG[:2]) == ["… 0 …", "… 1 …"]
    assert _distinctive(["a b", "a c d", "a"]) == ["a b", "a c d", "a"]
    assert _distinctive(["one name"]) == ["one name"]
    with pytest.warns(FigureWarning, match="names of series are shortened: rename them, or draw a larger figure"):
        over_time(LONG, note=NOTE).with_(size="60x40mm").save(tmp_path / "x.pdf")


def test_unordered_categories_are_points_beside_each_other_without_lines() -> None:
    drawing = of_categories(["ecn", "plain"], ["red", "codel"]).draw()
    lines = [line for line in drawing.axes[0].lines if line.get_gid()]
    assert [line.get_linestyle() for line in lines] == ["None", "None"]
    assert [line.get_marker() for line in lines] == ["o", "s"]
    left, right = ([float(x) for x in line.get_xdata()] for line in lines)
    assert [(a + b) / 2 for a, b in zip(left, right, strict=True)] == pytest.approx([0, 1])
    assert right[0] - left[0] > 0.1
    numbers = Figure(**{**vars(of_categories(["ecn"], ["1", "2"])), "categories": ()}).draw()
    assert [line.get_linestyle() for line in numbers.axes[0].lines if line.get_gid()] == ["-"]


def test_sizes_times_and_names_are_read_with_their_units() -> None:
    assert size("88x60mm") == pytest.approx((88 / 25.4, 60 / 25.4))
    assert size(" 8.8 × 6 cm ") == pytest.approx((88 / 25.4, 60 / 25.4))
    assert size("5x2.8in") == (5, 2.8)
    assert (seconds("10 s"), seconds("1.5min"), seconds("20 ms")) == (10, 90, pytest.approx(0.02))
    assert label("bulk[0]=a = b") == ("bulk[0]", "a = b")


def test_an_interval_restricts_axis_and_data() -> None:
    figure = over_time(["queue", "average"]).with_(start="5 s", end=9)
    assert figure.data()["time, s"].unique().sort().to_list() == [5, 6, 7, 8, 9]
    assert figure.draw().axes[0].get_xlim() == (5, 9)
    assert over_time(["queue"]).with_(end="3 s").data().height == 4


def test_names_and_title_are_replaced_and_the_rest_stays() -> None:
    figure = over_time(["queue", "average"]).with_(labels={"average": "EWMA"}, title="")
    assert figure.data()["series"].unique(maintain_order=True).to_list() == ["queue", "EWMA"]
    texts = {text.get_text() for text in shown(figure.draw())}
    assert "EWMA" in texts and not texts & {"average", "Queue"}
    swapped = over_time(["a", "b"]).with_(labels={"a": "b", "b": "a"})
    assert swapped.data()["series"].unique(maintain_order=True).to_list() == ["b", "a"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"size": "88"}, "size: '88' is not a size: write width x height with mm, cm or in, such as 88x60mm"),
        ({"size": "88x60"}, "size: '88x60' is not a size"),
        ({"size": "10x60mm"}, "size: 0.394 x 2.36 in is out of range: each side is 1 to 40 in"),
        ({"size": (5, 0)}, "size: 5 x 0 in is out of range: each side is 1 to 40 in"),
        ({"size": (5, float("nan"))}, "size: 5 x nan in is out of range"),
        ({"start": "5"}, "start: '5' is not a time: write a number and its unit"),
        ({"start": "9 s", "end": "5 s"}, "Queue: the start, 9 s, is not before the end, 5 s: exchange them"),
        ({"start": "40 s"}, "Queue: no data in this interval: choose one within 0 s to 19 s"),
        ({"labels": {"x": "y"}}, "Queue: no series is called 'x': there are a, b"),
        ({"labels": {"a": "b"}}, "Queue: two series would be called 'b': choose another name for one"),
    ],
)
def test_bad_changes_are_refused_with_a_remedy(change, said) -> None:
    with pytest.raises(EcnlabError) as error:
        over_time(["a", "b"]).with_(**change)
    assert said in str(error.value)


def test_a_figure_that_is_not_over_time_has_no_interval() -> None:
    with pytest.raises(EcnlabError, match="Effect: not a figure over time: leave out its start and end"):
        of_categories(["a"], ["b"]).with_(start=1)


def plot(folder: Path, *arguments: str):
    return CliRunner().invoke(cli, ["plot", str(folder), *arguments])


def test_the_command_has_the_same_changes_for_drawings_and_data(folder, tmp_path) -> None:
    options = ["--from", "1 s", "--to", "2 s", "--size", "88x60mm", "--title", "", "--labels", "queue=length = q"]
    for file in ("x.svg", "x.csv"):
        answer = plot(folder, "queue", *options, "-o", str(tmp_path / file))
        assert answer.exit_code == 0, answer.output
    data = pl.read_csv(tmp_path / "x.csv")
    assert (data["time, s"].min(), data["time, s"].max(), data["series"].unique().to_list()) == (1, 2, ["length = q"])
    svg = (tmp_path / "x.svg").read_text()
    assert f'width="{88 / 25.4 * 72:.6f}'.rstrip("0")[:12] in svg
    assert "length = q" in svg and "Queue of" not in svg


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["queue", "--size", "88"], "Invalid value for '--size': '88' is not a size"),
        (["queue", "--from", "5"], "Invalid value for '--from': '5' is not a time"),
        (["queue", "--labels", "x"], "Invalid value for '--labels': 'x' renames no series"),
        (["goodput-over-delay", "--to", "1 s"], "the figure `goodput-over-delay` has no --to: leave it out"),
        (["queue", "--labels", "x=y"], "no series is called 'x': there are queue"),
    ],
)
def test_bad_options_are_refused(folder, tmp_path, arguments, said) -> None:
    answer = plot(folder, *arguments, "-o", str(tmp_path / "x.svg"))
    assert answer.exit_code != 0
    assert said in answer.output + str(answer.exception)
    assert not (tmp_path / "x.svg").exists()
