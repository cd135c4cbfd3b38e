"""The report page: self-contained, honest about missing values, the same bytes every time."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from ecnlab.report import Axis, Chart, Figure, Finding, Group, Line, Page, Point, Section, Series, Table, Tally, render
from ecnlab.report.page import Cell
from ecnlab.report.plot import document


def a_figure(**changes) -> Figure:
    given = {
        "title": "Gain of ECN against max_p",
        "caption": "High congestion, 12 flows.",
        "x": Axis("max_p", [(p, str(p)) for p in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)], log=True),
        "y": Axis("relative gain"),
        "series": [
            Series("Reno", [Point(p, 0.1 + p, 0.05 + p, 0.2 + p, 10) for p in (0.02, 0.1, 0.5)]),
            Series("SACK", [Point(p, 0.05 + p / 2, -0.02 + p / 2, 0.1 + p / 2, 10) for p in (0.02, 0.1, 0.5)], style=1),
        ],
        "printed": [Series("printed, Reno", [Point(0.02, 0.1), Point(0.5, 0.6)])],
        "percent": True,
    }
    return Figure(**{**given, **changes})


def a_page() -> Page:
    rng = np.random.default_rng(1)
    times = [i / 10 for i in range(600)]
    queue = [float(v) for v in np.abs(np.cumsum(rng.normal(0, 1, 600)))]
    rows = [
        ["R27, low", "23%", Cell("19%", True), Cell("15% to 24%", True), Cell("agrees", tone="yes"), ""],
        [
            "R27, high",
            "50%",
            Cell("31%", True),
            Cell("27% to 36%", True),
            Cell("same direction", tone="partly"),
            "why <b>",
        ],
        ["R28", "10%", Cell("−3%", True), Cell("−5% to −1%", True), Cell("differs", tone="no"), "a long reason " * 12],
    ]
    return Page(
        title="RFC 2884, run again",
        kicker="ecnlab 0.1.0",
        lede="A paper's numbers, measured anew.",
        tallies=[
            Tally("26 printed numbers:", [("agree", "yes", 9), ("same direction", "partly", 12), ("differ", "no", 5)]),
            Tally("4 claims, do they hold:", [("yes", "yes", 1), ("partly", "partly", 0), ("undecided", "open", 3)]),
        ],
        findings=[
            Finding("Yes", "yes", "ECN flows are faster.", "In 17 of 18 settings."),
            Finding("Undecided", "open", "The gain grows with load.", "Slope 0.01 (−0.02 to 0.04)."),
        ],
        sections=[
            Section(
                "numbers",
                "Printed numbers",
                "Each with its interval.",
                [Table("All rows", ["row", "printed", "measured", "95% interval", "verdict", "why"], rows, cards=True)],
            ),
            Section(
                "figures",
                "Figures",
                "",
                [
                    Group([a_figure(), a_figure(title="Second")]),
                    Chart(
                        "Queue",
                        "One run.",
                        times,
                        [Line("queue", queue, 0, thin=True), Line("average", [math.nan, *queue[1:]], 1)],
                        "packets",
                        [(10.0, "min_th")],
                    ),
                    "A paragraph.",
                ],
            ),
        ],
        footer="Made from tables.",
        facts=[("runs", "120"), ("seeds", "10")],
    )


class Collector(HTMLParser):
    """Tags with their attributes, which were left open, and what stands in each script."""

    VOID = frozenset({"meta", "link", "br", "input"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data

    def plots(self) -> Iterator[dict]:
        """What the page's script is given to draw, in the order of the page."""
        kinds = [attrs.get("type") for tag, attrs in self.tags if tag == "script"]
        return (json.loads(text) for kind, text in zip(kinds, self.scripts, strict=True) if kind == "application/json")


@pytest.fixture(scope="module")
def html() -> str:
    return render(a_page())


@pytest.fixture(scope="module")
def reader(html) -> Collector:
    return Collector(html)


def test_every_tag_is_closed(reader) -> None:
    assert reader.open == []


def test_the_page_asks_for_nothing_outside_itself(html, reader) -> None:
    fetched = [v for _, a in reader.tags for k, v in a.items() if k in ("src", "href", "srcset", "action") and v]
    assert all(v.startswith(("#", "data:")) for v in fetched)
    assert not re.search(r"url\(|@import|https?://", html.replace(get_plotlyjs(), ""))


def test_the_browser_is_told_to_load_nothing(reader) -> None:
    (policy,) = [a["content"] for tag, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().split(maxsplit=1) for rule in policy.split(";"))
    assert rules.pop("default-src") == "'none'"
    assert set(rules.values()) == {"'unsafe-inline'", "data:"}  # inline, or inside the address itself


def test_plotly_is_in_the_page_once_and_shows_no_link_of_its_own(html, reader) -> None:
    assert [len(text) for text in reader.scripts].count(len(get_plotlyjs())) == 1
    assert html.count(get_plotlyjs()) == 1
    assert "displaylogo: false" in reader.scripts[-1]


def test_text_from_outside_is_escaped(html) -> None:
    assert "why &lt;b&gt;" in html
    chart = Chart("t", "c", [0.0], [Line("</script><b>", [1.0])], "u")
    assert "<" not in document(chart.plot())


def test_the_same_page_gives_the_same_bytes(html) -> None:
    assert render(a_page()) == html


def test_each_verdict_has_a_sign_beside_its_colour(html) -> None:
    for tone, sign in (("yes", "●"), ("partly", "◐"), ("no", "○"), ("open", "◌")):
        assert f'class="chip {tone}"><i aria-hidden="true">{sign}</i>' in html


def test_figures_and_charts_say_what_they_show_to_a_screen_reader(reader) -> None:
    plots = [a for tag, a in reader.tags if a.get("class") == "plot"]
    assert [a["role"] for a in plots] == ["img", "img", "group"]
    assert plots[0]["aria-label"] == "Gain of ECN against max_p. High congestion, 12 flows."


def test_a_reader_without_scripts_gets_the_numbers_of_every_plot(html, reader) -> None:
    assert html.count("<summary>The numbers</summary>") == len(list(reader.plots())) == 3
    assert "<noscript><p>" in html


def test_the_page_has_each_point_with_its_interval(reader) -> None:
    reno = next(reader.plots())["data"][0]
    assert reno["y"] == pytest.approx([0.12, 0.2, 0.6])
    assert reno["error_y"]["array"] == pytest.approx([0.1, 0.1, 0.1])
    assert reno["error_y"]["arrayminus"] == pytest.approx([0.05, 0.05, 0.05])
    assert reno["text"][2] == "Reno: 60% (55% to 70%, n = 10)"


def test_printed_points_are_hollow_and_without_interval(reader) -> None:
    printed = next(reader.plots())["data"][-1]
    assert printed["x"] == pytest.approx([0.02, 0.5])
    assert printed["y"] == [0.1, 0.6]
    assert printed["marker"]["symbol"] == "diamond-open"
    assert printed["mode"] == "markers"
    assert "error_y" not in printed


def test_series_differ_in_more_than_colour(reader) -> None:
    data = next(reader.plots())["data"]
    assert len({trace["marker"]["symbol"] for trace in data}) == len(data)
    assert [trace["meta"] for trace in data] == [0, 1, 0]  # printed points have the colour of their series


def test_colours_are_left_to_the_style_sheet(reader) -> None:
    for plot in reader.plots():
        assert "layout" not in plot["layout"]["template"]
        assert "color" not in json.dumps(plot)


def test_an_interval_without_an_end_leaves_the_picture_and_not_the_scale() -> None:
    # The means span 0 to 1: the axis ends one span above, and 4% of its length.
    figure = a_figure(series=[Series("a", [Point(0.1, 1.0, 0.5, math.inf, 3)])], printed=[])
    drawn = json.loads(document(figure.plot()))
    bottom, top = drawn["layout"]["yaxis"]["range"]
    assert (bottom, top) == pytest.approx((-0.08, 2.08))
    assert drawn["data"][0]["error_y"]["array"][0] >= top - 1.0
    assert figure.table()[1][0][3] == "–"


def test_no_interval_is_drawn_past_what_can_be() -> None:
    figure = a_figure(series=[Series("a", [Point(0.1, 0.9, 0.5, 1.3, 3)])], printed=[], ceiling=1.0)
    assert figure.plot().layout.yaxis.range[1] == pytest.approx(1.04)


def test_series_stand_side_by_side_about_their_place() -> None:
    # A log axis: the shift is a factor, and the middle of the two is the place itself.
    left, right = (trace.x[1] for trace in a_figure().plot().data[:2])
    assert left < 0.1 < right
    assert math.sqrt(left * right) == pytest.approx(0.1)


def test_a_chart_has_its_lines_levels_and_gaps(reader) -> None:
    *_, chart = reader.plots()
    assert [line["name"] for line in chart["data"]] == ["queue", "average"]
    assert chart["data"][1]["y"][0] is None
    assert [shape["y0"] for shape in chart["layout"]["shapes"]] == [10.0]
    assert [note["text"] for note in chart["layout"]["annotations"]] == ["min_th"]


def test_a_chart_can_be_zoomed_along_time_alone() -> None:
    layout = a_page().sections[1].blocks[1].plot().layout
    assert layout.dragmode == "zoom"
    assert layout.yaxis.fixedrange is True
    assert not layout.xaxis.fixedrange


def test_a_chart_table_is_thinned_evenly() -> None:
    head, rows = a_page().sections[1].blocks[1].table()
    assert head == ["time, s", "queue, packets", "average, packets"]
    assert [row[0] for row in rows[:3]] == ["0.00", "1.00", "2.00"]  # 600 samples: every tenth
    assert len(rows) == 60
    assert rows[0][2] == "–"


def test_a_figure_table_has_the_numbers_of_the_picture() -> None:
    head, rows = a_figure().table()
    assert head == ["series", "max_p", "relative gain", "95% interval", "n"]
    assert rows[0] == ["Reno", "0.02", "12%", "7% to 22%", "10"]
    assert rows[-1] == ["printed, Reno", "0.5", "60%", "–", "–"]


def test_the_first_screen_counts_each_kind_in_its_own_bar(html, reader) -> None:
    bars = [attrs["aria-label"] for _, attrs in reader.tags if attrs.get("class") == "tally-bar"]
    assert bars == [
        "26 printed numbers: 9 of 26: agree. 12 of 26: same direction. 5 of 26: differ. ",
        "4 claims, do they hold: 1 of 4: yes. 0 of 4: partly. 3 of 4: undecided. ",
    ]
    assert html.index("3 undecided") < html.index('class="findings"')


def test_a_printed_level_is_a_line_with_its_name_within_the_axis_and_in_the_numbers() -> None:
    figure = a_figure(levels=[(2.5, "printed: 2.5")], source="Figure 16")
    drawn = figure.plot().to_plotly_json()["layout"]
    (line,), (note,) = drawn["shapes"], drawn["annotations"]
    assert line["y0"] == line["y1"] == 2.5 < drawn["yaxis"]["range"][1]
    assert note["text"] == "printed: 2.5"
    assert figure.table()[1][-1] == ["printed: 2.5", "all", "250%", "–", "–"]
    page = Page("t", "k", "l", [], [], [Section("s", "S", "", [Group([figure])])], "f")
    assert "<figcaption><b>Figure 16.</b> High congestion" in render(page)


def test_a_note_stands_under_its_row_over_the_whole_width() -> None:
    table = Table("t", ["row", "value", "why"], [["a", "1", "because"], ["b", "2", ""]], notes=True)
    page = Page("t", "k", "l", [], [], [Section("s", "S", "", [table])], "f")
    html = render(page)
    assert html.count('<th scope="col">') == 2
    assert html.count('<td colspan="2"><b>Why</b> because</td>') == 1
    assert html.count('class="note"') == 1
