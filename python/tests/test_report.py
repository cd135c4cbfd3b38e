"""The report page: self-contained, honest about missing values, the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from ecnlab.report import (
    Axis,
    Chart,
    Distance,
    Figure,
    Finding,
    Forest,
    Group,
    Line,
    Multiples,
    Page,
    Point,
    Row,
    Rows,
    Rug,
    Section,
    Series,
    Table,
    Tally,
    render,
)
from ecnlab.report.page import Cell
from ecnlab.report.scale import Scale
from ecnlab.report.svg import BINS, thinned


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
                [Table("All rows", ["row", "printed", "measured", "95% interval", "verdict", "why"], rows)],
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

    def of(self, tag: str, kind: str = "") -> list[dict[str, str | None]]:
        """The attributes of all elements called ``tag``, with ``kind`` among their classes."""
        return [attrs for name, attrs in self.tags if name == tag and kind in [*(attrs.get("class") or "").split(), ""]]


def drawn(block) -> Collector:
    """The elements of a block's drawing."""
    return Collector(str(block.svg()))


def share(text: str | None) -> float:
    """A place in an area, from its percentage."""
    return float((text or "").removesuffix("%")) / 100


def corners(path: str | None) -> list[tuple[int, int]]:
    """The points of a path of straight lines, in units of the area."""
    return [(int(x), int(y)) for x, y in re.findall(r"[ML](-?\d+) (-?\d+)", path or "")]


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
    assert not re.search(r"url\(|@import|https?://", html.replace("http://www.w3.org/2000/svg", ""))


def test_the_browser_is_told_to_load_nothing(html, reader) -> None:
    (policy,) = [a["content"] for tag, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().split(maxsplit=1) for rule in policy.split(";"))
    assert rules.pop("default-src") == "'none'"
    (script,) = re.findall(r"<script>(.*?)</script>", html, flags=re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert rules == {"script-src": f"'sha256-{digest}'", "style-src": "'unsafe-inline'", "img-src": "data:"}


def test_text_from_outside_is_escaped(html) -> None:
    assert "why &lt;b&gt;" in html
    bad = "</svg></script><b>"
    chart = Chart(bad, bad, [0.0, 1.0], [Line(bad, [1.0, 2.0])], "u", [(1.0, bad)], x=bad, rugs=[Rug(bad, [0.5])])
    assert "<b>" not in chart.svg()
    assert "<b>" not in a_figure(title=bad, series=[Series(bad, [Point(1.0, 2.0, 1.0, 3.0, 4)])]).svg()


def test_the_same_page_gives_the_same_bytes(html) -> None:
    assert render(a_page()) == html


def test_each_verdict_has_a_sign_beside_its_colour(html) -> None:
    for tone, sign in (("yes", "●"), ("partly", "◐"), ("no", "○"), ("open", "◌")):
        assert f'class="chip {tone}"><i aria-hidden="true">{sign}</i>' in html


def test_figures_and_charts_say_what_they_show_to_a_screen_reader(reader) -> None:
    plots = reader.of("svg", "plot")
    assert [a["role"] for a in plots] == ["img", "img", "img"]
    assert plots[0]["aria-label"] == "Gain of ECN against max_p. High congestion, 12 flows."


def test_every_plot_is_drawn_without_a_script_and_has_its_numbers(html, reader) -> None:
    without = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert html.count("<summary>The numbers</summary>") == without.count('class="plot ') == 3
    assert len(Collector(without).of("path")) == len(reader.of("path")) > 6


def test_every_marker_and_colour_is_defined_in_the_page(html, reader) -> None:
    used = {attrs["href"] for attrs in reader.of("use")}
    assert used <= {f"#{attrs['id']}" for attrs in reader.of("g") if "id" in attrs}
    colours = {name for attrs in reader.of("use") + reader.of("path") for name in (attrs.get("class") or "").split()}
    assert {name for name in colours if re.fullmatch(r"c\d", name)} == {"c0", "c1"}
    assert all(f"--s{i}:" in html and f".c{i} " in html for i in range(6))


def test_the_figure_has_each_point_with_its_interval() -> None:
    # A linear axis from 0 to 1 with 4 % more at either end: 0.5 is in the middle, 0.25 at 0.29 / 1.08 from the bottom.
    figure = a_figure(x=Axis("x"), series=[Series("a", [Point(1.0, 0.5, 0.25, 0.75, 7), Point(2.0, 1.0)])], printed=[])
    reader = drawn(figure)
    (bar,) = reader.of("line", "c0")
    assert [share(bar[end]) for end in ("y1", "y2")] == pytest.approx([1 - 0.29 / 1.08, 1 - 0.79 / 1.08], abs=1e-4)
    first, second = (attrs for attrs in reader.of("use") if attrs["href"] == "#m0")
    assert share(first["y"]) == pytest.approx(0.5, abs=1e-4)
    assert share(second["y"]) == pytest.approx(0.04 / 1.08, abs=1e-4)
    # The x axis has 7 % of the distance of its ends at either side.
    assert [share(first["x"]), share(second["x"])] == pytest.approx([0.07 / 1.14, 1.07 / 1.14], abs=1e-4)
    assert "<title>a: 50% (25% to 75%, n = 7)</title>" in figure.svg()


def test_printed_points_are_hollow_and_without_interval() -> None:
    figure = a_figure(series=[])
    reader = drawn(figure)
    assert [attrs["href"] for attrs in reader.of("use")] == ["#mh", "#mh"]
    assert reader.of("line", "c0") == []
    assert figure.legend() == [("printed, Reno", "c0", "mh")]


def test_series_differ_in_more_than_colour() -> None:
    legend = a_figure().legend()
    assert len({marker for _, _, marker in legend}) == len(legend)
    assert [colour for _, colour, _ in legend] == ["c0", "c1", "c0"]  # printed points have the colour of their series
    many = a_figure(series=[Series(str(i), [], i) for i in range(7)], printed=[]).legend()
    assert len({(colour, marker) for _, colour, marker in many}) == 7


def test_a_chart_without_listed_lines_has_no_legend() -> None:
    chart = Chart("t", "c", [0.0, 1.0], [Line("a", [1.0, 2.0], listed=False)], "u")
    html = render(Page("t", "k", "l", [], [], [Section("s", "S", "", [chart])], "f"))
    assert '<ul class="legend">' not in html


def test_an_interval_without_an_end_leaves_the_picture_and_not_the_scale() -> None:
    # The means span 0 to 1: the axis ends one span above, and 4% of its length.
    figure = a_figure(series=[Series("a", [Point(0.1, 1.0, 0.5, math.inf, 3)])], printed=[])
    area = figure.area()
    assert (area.y.low, area.y.high) == pytest.approx((-0.08, 2.08))
    (bar,) = drawn(figure).of("line", "c0")
    assert bar["y2"] == "0%"
    assert [attrs["href"] for attrs in drawn(figure).of("use")].count("#mc") == 1  # no cap at the edge
    assert figure.table()[1][0][3] == "–"


def test_no_interval_is_drawn_past_what_can_be() -> None:
    figure = a_figure(series=[Series("a", [Point(0.1, 0.9, 0.5, 1.3, 3)])], printed=[], ceiling=1.0)
    assert figure.area().y.high == pytest.approx(1.04)


def test_series_stand_side_by_side_about_their_place() -> None:
    figure = a_figure(printed=[])
    left, right = (
        share([attrs["x"] for attrs in drawn(figure).of("use", kind) if attrs["href"] in ("#m0", "#m1")][1])
        for kind in ("c0", "c1")
    )
    place = figure.area().x.place(0.1)
    assert left < place < right
    assert (left + right) / 2 == pytest.approx(place, abs=1e-4)


def test_points_of_an_axis_without_order_are_not_joined() -> None:
    assert len(drawn(a_figure()).of("path")) == 2
    assert drawn(a_figure(joined=False)).of("path") == []


def test_a_chart_has_its_lines_levels_and_gaps() -> None:
    chart = Chart(
        "t", "c", [0.0, 1.0, 2.0, 4.0], [Line("a", [1.0, math.nan, 3.0, 2.0], steps=True)], "u", [(3.0, "top")]
    )
    (curve,) = drawn(chart).of("path")
    low, high = chart.area((0.0, 4.0), (0.0, 3.0)).y.low, chart.area((0.0, 4.0), (0.0, 3.0)).y.high
    assert (low, high) == (0.0, pytest.approx(3.18))  # 6 % above the greatest value
    up = [round(10_000 * (1 - value / high)) for value in (1.0, 3.0, 2.0)]
    assert curve["d"] == f"M0 {up[0]}M5000 {up[1]}H10000V{up[2]}"
    (level,) = drawn(chart).of("line", "level")
    assert share(level["y1"]) == share(level["y2"]) == pytest.approx(1 - 3 / high, abs=1e-4)
    assert ">top</text>" in chart.svg()


def test_a_long_curve_keeps_its_extremes() -> None:
    values = [0.0] * 100_000
    values[34_567], values[71_003] = 9.0, -5.0
    kept = thinned(range(100_000), values)
    assert len(kept) <= 4 * BINS
    assert {(34_567, 9.0), (71_003, -5.0), (0, 0.0), (99_999, 0.0)} <= set(kept)
    assert [x for x, _ in kept] == sorted(x for x, _ in kept)


def test_a_rug_has_a_stroke_for_each_event_within_the_chart() -> None:
    chart = Chart("t", "c", [0.0, 10.0], [Line("a", [1.0, 2.0])], "u", rugs=[Rug("marks", [2.5, 5.0, 11.0], 1)])
    (rug,) = drawn(chart).of("path", "rug")
    assert [x for x, _ in re.findall(r"M(\d+) (\d+)V", rug["d"] or "")] == ["2500", "5000"]
    assert chart.legend()[-1] == ("marks (3)", "c1", "rug")


def test_small_multiples_have_the_same_axes() -> None:
    charts = [
        Chart(name, "", [0.0, end], [Line("w", [1.0, top])], "u")
        for name, end, top in (("a", 5.0, 2.0), ("b", 8.0, 4.0))
    ]
    block = Multiples("t", "c", charts)
    areas = [Collector(str(drawing)).of("svg", "plot")[0] for _, drawing in block.drawings()]
    assert {attrs["data-x"] for attrs in areas} == {"0 8"}
    assert len({attrs["data-y"] for attrs in areas}) == 1
    assert block.table()[0] == ["chart", "time, s", "w, u"]
    assert [row[0] for row in block.table()[1]] == ["a", "a", "b", "b"]


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-3.0, 7.5, ["−2", "0", "2", "4", "6"]),
        (0.0, 60_000.0, ["0", "10 k", "20 k", "30 k", "40 k", "50 k", "60 k"]),
        (0.0, 2.5e6, ["0", "500 k", "1 M", "1.5 M", "2 M", "2.5 M"]),
    ],
)
def test_ticks_are_round(low, high, texts) -> None:
    assert [text for _, text in Scale(low, high).ticks(6)] == texts


def test_ticks_of_a_logarithmic_axis_are_one_two_and_five_or_decades() -> None:
    assert [text for _, text in Scale(0.02, 0.6, True).ticks(6)] == ["0.02", "0.05", "0.1", "0.2", "0.5"]
    assert [text for _, text in Scale(1.0, 1e4, True).ticks(6)] == ["1", "10", "100", "1000", "10000"]


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
    (line,) = drawn(figure).of("line", "level")
    assert 0 < share(line["y1"]) == share(line["y2"]) < 0.1
    assert ">printed: 2.5</text>" in figure.svg()
    assert figure.table()[1][-1] == ["printed: 2.5", "all", "250%", "–", "–"]
    page = Page("t", "k", "l", [], [], [Section("s", "S", "", [Group([figure])])], "f")
    assert "<figcaption><b>Figure 16.</b> High congestion" in render(page)


def test_a_row_has_its_verdict_and_value_on_one_line_and_its_details_behind_it() -> None:
    rows = [
        Row("R1", "gain <b>", "23% printed, 19% measured", "differs", "no", [("seeds", "10"), ("none", "")], "because")
    ]
    html = render(Page("t", "k", "l", [], [], [Section("s", "S", "", [Rows("1 number", rows)])], "f"))
    (row,) = re.findall(r'<details id="R1">(.*?)</details>', html, re.S)
    summary, details = row.split("</summary>")
    assert "gain &lt;b&gt;" in summary and "23% printed, 19% measured" in summary and "<b>R1</b>" in summary
    assert "<a" not in summary and 'href="#R1"' in details  # no link within a summary, which is a control
    assert '<i aria-hidden="true">○</i>differs' in summary
    assert "<dt>seeds</dt><dd>10</dd>" in details and "none" not in details and "because" in details


def test_a_forest_has_a_row_for_each_number_at_its_distance_in_margins() -> None:
    rows = [Distance("b", 8.0, 5.0, math.inf, "no", "#b"), Distance("a", -3.0, -4.5, -1.5, "open", "#a")]
    reader = drawn(Forest("t", "c", rows))
    low, high = reader.of("use")
    assert (low["href"], high["href"]) == ("#mo", "#m4")
    assert (
        share(low["x"]) == pytest.approx(0.25) and share(high["x"]) == 1.0
    )  # at the edge of an axis from minus 6 to 6
    first = next(a for tag, a in reader.tags if tag == "line" and a.get("y1") == "25%")
    assert [share(first[end]) for end in ("x1", "x2")] == pytest.approx([1.5 / 12, 4.5 / 12])
    band = reader.of("rect", "band")[0]
    assert [share(band["x"]), share(band["width"])] == pytest.approx([5 / 12, 2 / 12], abs=1e-4)
    assert [a["href"] for a in reader.of("a")] == ["#a", "#b"]


def test_a_folded_section_names_its_contents() -> None:
    section = Section(
        "s", "S", "What it shows.", [Group([a_figure(), a_figure()]), Table("t", ["a"], [["1"]])], folded=True
    )
    html = render(Page("t", "k", "l", [], [], [section], "f"))
    assert html.index("<summary>2 figures, 1 table</summary>") < html.index("What it shows.")
    assert 'class="fold narrow"' in render(Page("t", "k", "l", [], [], [replace(section, folded="narrow")], "f"))


def test_the_answer_is_above_the_summary_and_the_lede_below() -> None:
    html = render(Page("t", "k", "the lede", [], [], [], "f", [("seed", "1")], answer="the answer"))
    assert html.index("the answer") < html.index('class="summary"') < html.index("the lede")
