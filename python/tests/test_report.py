"""The report page: self-contained, honest about missing values, the same bytes every time."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from ecnlab.report import Axis, Chart, Figure, Finding, Group, Line, Page, Point, Section, Series, Table, render
from ecnlab.report.figure import _nice_ticks
from ecnlab.report.page import Cell


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
        tally=[("agree", "yes", 9), ("same direction", "partly", 12), ("differ", "no", 5)],
        tally_caption="26 printed numbers:",
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
    """Tags with their attributes, and which were left open."""

    VOID = frozenset({"meta", "link", "br", "input"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def html() -> str:
    return render(a_page())


def test_every_tag_is_closed(html) -> None:
    reader = Collector()
    reader.feed(html)
    assert reader.open == []


def test_the_page_asks_for_nothing_outside_itself(html) -> None:
    reader = Collector()
    reader.feed(html)
    fetched = [v for _, a in reader.tags for k, v in a.items() if k in ("src", "href", "srcset", "action") and v]
    assert all(v.startswith(("#", "data:")) for v in fetched)
    assert not re.search(r"url\(|@import|https?://", html)


def test_text_from_outside_is_escaped(html) -> None:
    assert "why &lt;b&gt;" in html
    chart = Chart("t", "c", [0.0], [Line("</script><b>", [1.0])], "u")
    assert "</script>" not in chart.data()


def test_the_same_page_gives_the_same_bytes(html) -> None:
    assert render(a_page()) == html


def test_each_verdict_has_a_sign_beside_its_colour(html) -> None:
    for tone, sign in (("yes", "●"), ("partly", "◐"), ("no", "○"), ("open", "◌")):
        assert f'class="chip {tone}"><i aria-hidden="true">{sign}</i>' in html


def test_figures_and_charts_say_what_they_show_to_a_screen_reader(html) -> None:
    reader = Collector()
    reader.feed(html)
    images = [a for tag, a in reader.tags if tag in ("svg", "canvas") and a.get("aria-hidden") != "true"]
    assert len(images) == 3
    assert all(a.get("role") == "img" and a.get("aria-label") for a in images)


def test_missing_values_of_a_chart_are_null() -> None:
    chart = Chart("t", "c", [0.0, 1.0], [Line("a", [math.nan, 2.5])], "u")
    assert json.loads(chart.data())["lines"][0]["values"] == [None, 2.5]


def test_a_figure_draws_each_point_with_its_interval_and_the_printed_ones() -> None:
    svg = a_figure().svg()
    assert svg.count('class="whisker"') == 6
    assert svg.count('class="mark s0 printed hollow"') == 2
    assert "Reno: 60% (55% to 70%, n = 10)" in svg


def test_positions_follow_the_axis() -> None:
    # One series, no dodge, a log axis from 0.01 to 1: 0.1 lies half way.
    points = [Point(0.01, 0.0), Point(0.1, 1.0), Point(1.0, 2.0)]
    figure = a_figure(x=Axis("p", [], log=True), series=[Series("a", points)], printed=[])
    x = [float(v) for v in re.findall(r'<circle cx="([\d.]+)"', figure.svg())]
    assert x[1] == pytest.approx((x[0] + x[2]) / 2, abs=0.1)


def test_a_figure_table_has_the_numbers_of_the_picture() -> None:
    head, rows = a_figure().table()
    assert head == ["series", "max_p", "relative gain", "95% interval", "n"]
    assert rows[0] == ["Reno", "0.02", "12%", "7% to 22%", "10"]
    assert rows[-1] == ["printed, Reno", "0.5", "60%", "–", "–"]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-0.1, 0.32, [-0.1, 0.0, 0.1, 0.2, 0.3, 0.4]),
        (2.0, 2.0, [1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6]),
    ],
)
def test_ticks_are_round_and_enclose_the_range(low, high, expected) -> None:
    assert _nice_ticks(low, high) == pytest.approx(expected)


def test_a_note_stands_under_its_row_over_the_whole_width() -> None:
    table = Table("t", ["row", "value", "why"], [["a", "1", "because"], ["b", "2", ""]], notes=True)
    page = Page("t", "k", "l", [], "", [], [Section("s", "S", "", [table])], "f")
    html = render(page)
    assert html.count('<th scope="col">') == 2
    assert html.count('<td colspan="2"><b>Why</b> because</td>') == 1
    assert html.count('class="note"') == 1
