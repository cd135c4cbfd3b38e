"""`ecnlab report`: numbers of the page against the tables, user stages and layouts, and pages of every kind of result."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from conftest import EXPERIMENT, SCENARIO, mostly_slow
from reported import blocks, cells, titled

import ecnlab
from ecnlab.base.errors import EcnlabError, FolderError
from ecnlab.folder.series import bins_of
from ecnlab.report import Chart, Figure, Multiples, Table, Topology, render
from ecnlab.report.words import share
from ecnlab.scenario.files import read_scenario
from ecnlab.scenario.links import queue_of
from ecnlab.stages import building, page, registry, run_signals

MODEL = """
format = 1
title = "one link"
duration = "10 s"
profile = "modern"

link.pipe = { from = "a", to = "b", rate = "10 Mbps", delay = "20 ms", queue = "red" }
queue.red = { discipline = "red", limit = "100 packets", min_th = "10 packets", max_th = "30 packets", max_p = 0.1, ecn = true }
tcp.default = { ecn = "rfc3168" }
flow.bulk = { count = 5, from = "a", to = "b", traffic = "ftp" }
"""

ASKED = {
    "flow.asked": {
        "from": "server",
        "to": "client",
        "traffic": {"kind": "crr", "request": "100 B", "response": "500 B"},
    }
}

STAGE = """
from ecnlab.report import Axis, Figure, Point, Series
from ecnlab.stages import stage


@stage("retransmits", of="run", needs=("flows",))
def retransmits(run):
    points = [Point(i, n) for i, n in enumerate(run.flows["retransmits"])]
    return Figure("Retransmits of each flow", "", Axis("flow"), Axis("segments"), [Series("all", points)])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("reports")
    (where / "pipe.toml").write_text(SCENARIO)
    (where / "gain.toml").write_text(EXPERIMENT)
    (where / "model.toml").write_text(MODEL)
    busy = read_scenario(where / "pipe.toml").with_overrides({"queue.red.quantiles": True})
    ecnlab.run(busy, events=True, out=where / "run")
    ecnlab.run(where / "model.toml", engine="model", out=where / "model")
    ecnlab.sweep(where / "gain.toml", where / "sweep", workers=1)
    return where


@pytest.fixture(scope="module")
def run(folder: Path) -> ecnlab.Run:
    return ecnlab.load(folder / "run")  # type: ignore[return-value]


class Requests(HTMLParser):
    """Addresses that a browser would load."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (value or "").startswith("#"):
                continue
            if name in ("src", "srcset", "action", "data", "poster") or (name == "href" and tag != "a"):
                self.found.append(value or "")


def test_the_answer_of_a_run_has_the_numbers_of_its_tables(run: ecnlab.Run) -> None:
    queue = run.queues.filter(link="pipe", group="all").row(0, named=True)
    link = run.links.filter(link="pipe").row(0, named=True)
    goodput = run.flows["goodput_bps"]
    answer = page(run).answer
    assert answer.startswith("RED at pipe ")
    assert f"marked {100 * queue['marks'] / queue['arrived']:.1f} %" in answer
    assert f"dropped {100 * queue['dropped'] / queue['arrived']:.1f} %" in answer
    assert f"mean queueing delay of {1e3 * link['sojourn_mean_s']:.1f} ms" in answer
    assert f"99th percentile {1e3 * link['sojourn_p99_s']:.0f}" in answer
    assert f"{100 * link['utilisation']:.0f} % utilised" in answer
    assert f"2 flows in 2 groups got {goodput.sum() / 1e6:.2f} Mb/s" in answer
    assert "Jain" not in answer  # groups with different TCP are not compared


def test_flows_of_one_group_get_jains_index(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(re.sub(r"(\[flow\..*\])", r'\1\ngroup = "both"', SCENARIO))
    run = ecnlab.run(tmp_path / "x.toml")
    x = run.flows["goodput_bps"].to_list()
    assert f"Jain's index {sum(x) ** 2 / (len(x) * sum(v * v for v in x)):.2f}" in page(run).answer


def test_the_queue_chart_has_every_sample_of_a_short_run(run: ecnlab.Run) -> None:
    chart = titled(page(run), "Queue of pipe")
    rows = run.queue_series.filter(link="pipe").sort("time_s")
    assert isinstance(chart, Chart) and chart.times == pytest.approx(rows["time_s"].to_list())
    lines = {line.name: list(line.values) for line in chart.lines}
    assert lines["queue"] == rows["packets"].to_list()
    assert lines["average of RED"] == pytest.approx(rows["average_packets"].to_list())


def test_marks_and_drops_are_strokes_where_events_were_recorded(run: ecnlab.Run) -> None:
    chart = titled(page(run), "Queue of pipe")
    assert isinstance(chart, Chart)
    marks = run.packets.filter(pl.col("link") == "pipe", pl.col("event") == "mark")["time_s"]
    (rug,) = [rug for rug in chart.rugs if rug.name == "points with marks"]
    assert set(rug.times) <= set(marks)
    assert {math.floor(10 * t + 1e-6) for t in rug.times} == {math.floor(10 * t + 1e-6) for t in marks}
    assert len(rug.times) == len({math.floor(10 * t + 1e-6) for t in rug.times})


def test_marks_drops_and_delays_over_time_are_those_of_the_counters(run: ecnlab.Run) -> None:
    series = run.queue_series.filter(link="pipe")
    (signals,) = run_signals.signals_over_time(run)
    marks = next(line for line in signals.lines if line.name == "marks").values
    assert sum(marks) == series["marks"].max()
    assert marks[5] == series["marks"][5] - series["marks"][4]
    (delays,) = run_signals.sojourn_over_time(run)
    mean = next(line for line in delays.lines if line.name == "mean").values
    stored = series["sojourn_mean_s"].to_list()
    assert mean[7] == pytest.approx(1e3 * stored[7])


def test_a_long_series_is_binned_with_exact_means_and_rates(folder: Path) -> None:
    scenario = read_scenario(folder / "pipe.toml").with_overrides({"duration": "70 s"})
    run = ecnlab.run(scenario)
    assert bins_of(run.manifest["spec"]).size == 2
    chart = titled(page(run), "Queue of pipe")
    rows = run.queue_series.filter(link="pipe").sort("time_s")["packets"].to_list()
    pairs = [rows[i : i + 2] for i in range(0, len(rows), 2)]
    assert isinstance(chart, Chart) and len(chart.times) == len(pairs) <= 600
    lines = {line.name: list(line.values) for line in chart.lines}
    assert lines["mean queue"] == pytest.approx([sum(pair) / len(pair) for pair in pairs])
    assert lines["largest sample"] == [max(pair) for pair in pairs]
    goodput = titled(page(run), "Goodput of each group")
    assert isinstance(goodput, Chart)
    for line in goodput.lines:
        rows = run.flow_series.filter(flow=line.name).select("time_s", "delivered_bytes").rows()
        at = {round(10 * time): delivered for time, delivered in rows}
        last, up_to = max(at), 0
        assert len(line.values) == last // 2 + 1
        for i, rate in enumerate(line.values):
            start, end = max(2 * i - 1, 0), min(2 * i + 1, last)
            now = max(delivered for n, delivered in at.items() if n <= end)
            assert rate == pytest.approx(8e-6 * (now - up_to) / (0.1 * (end - start)))
            up_to = now


def test_series_are_not_read_into_memory(folder: Path) -> None:
    run = ecnlab.load(folder / "run")
    assert isinstance(run, ecnlab.Run)
    page(run)
    assert not {"queue_series", "class_series", "flow_series", "packets", "transactions"} & run._tables._read.keys()
    assert run.scan("queue_series").collect().equals(run.queue_series)
    with pytest.raises(FolderError, match="no table is called 'nothing'"):
        run.scan("nothing")


def test_windows_are_small_charts_with_their_own_marks(run: ecnlab.Run) -> None:
    small = titled(page(run), "Congestion windows")
    assert isinstance(small, Multiples) and [chart.title for chart in small.charts] == ["dropped", "marked"]
    for chart in small.charts:
        rows = run.flow_series.filter(flow=chart.title).drop_nulls("cwnd_bytes").sort("time_s")
        rows = rows.filter(rows["time_s"] >= 1.0)  # the warm-up
        assert list(chart.lines[0].values) == pytest.approx([v / 1e3 for v in rows["cwnd_bytes"]])
        assert ("points with marks" in {rug.name for rug in chart.rugs}) == (chart.title == "marked")


def test_the_distribution_of_delays_is_that_of_the_bins(run: ecnlab.Run) -> None:
    chart = titled(page(run), "Queueing delay at pipe")
    assert isinstance(chart, Chart) and chart.x == "time in the queue, ms"
    for line in chart.lines:
        rows = run.table("sojourn_bins").filter(link="pipe", group=line.name)
        total = rows["packets"].sum()
        for time, value in zip(chart.times, line.values, strict=True):
            below = sum(n for end, n in rows.select("to_s", "packets").rows() if 1e3 * end <= time * (1 + 1e-9))
            assert value == pytest.approx(below / total)
    assert max(line.values[-1] for line in chart.lines) == 1.0


def test_tables_of_the_page_have_the_stored_counters(run: ecnlab.Run) -> None:
    made = page(run)
    links = titled(made, "Links, in the measurement window")
    queues = titled(made, "Queues: packets")
    assert isinstance(links, Table) and isinstance(queues, Table)
    stored = {row["link"]: row for row in run.links.to_dicts()}
    assert len(cells(links)) == 6 and cells(links)[0]["link"] == "pipe"
    for row in cells(links):
        assert row["delivered"] == str(stored[row["link"]]["delivered"])
    counted = {(row["link"], row["group"]): row for row in run.queues.to_dicts()}
    for row in cells(queues):
        for column in ("arrived", "marks", "early drops", "tail drops"):
            assert row[column] == str(counted[row["link"], row["group"]][column.replace(" ", "_")])


def test_queues_are_shown_with_their_classes_and_derived_values(tmp_path: Path) -> None:
    tree = (
        re.sub("queue.red = .*", "", MODEL)
        + """
[queue.red]
discipline = "classes"
schedule = "strict"
limit = "1000 packets"

[queue.red.class.low]
groups = ["bulk"]
discipline = "dualpi2"
limit = "100 packets"

[queue.red.class.rest]
order = 1
discipline = "droptail"
limit = "7 packets"
"""
    )
    (tmp_path / "x.toml").write_text(tree)
    run = ecnlab.run(tmp_path / "x.toml")
    rows = {row["queue"]: row for row in cells(titled(page(run), "Queues, with inner queues"))}  # type: ignore[arg-type]
    derived = run.manifest["in_force"]["pipe"]["class"]["low"]
    assert set(rows) >= {"└ low", "└ rest"}
    assert f"step_thresh {derived['step_thresh']}" in rows["└ low"]["derived"]
    assert (
        "limit 7 packets" in rows["└ rest"]["all settings"]
        and "7 packets" in rows["└ rest"]["discipline and main parameters"]
    )


def test_a_reverse_or_numbered_link_has_its_own_queue() -> None:
    spec = {
        "queue": {"there": {"discipline": "red"}, "back": {"discipline": "droptail"}},
        "link": {"l": {"queue": "there", "reverse": {"queue": "back"}}},
    }
    assert queue_of(spec, "l[3]") == {"discipline": "red"}
    assert queue_of(spec, "l[3]~reverse") == {"discipline": "droptail"}
    assert queue_of(spec, "other") == {}


def test_completion_times_are_quantiles_of_the_measured_transactions(folder: Path) -> None:
    run = ecnlab.run(read_scenario(folder / "pipe.toml").with_overrides(ASKED | {"duration": "30 s"}))
    times = sorted(run.transactions.filter(pl.col("measured"))["latency_s"])
    assert len(times) > 10
    blocks_ = [block for section in page(run).sections if section.name == "transactions" for block in section.blocks]
    table, chart = blocks_
    assert isinstance(table, Table) and isinstance(chart, Chart)
    (row,) = cells(table)
    n = len(times)
    assert row["completed"] == str(n)
    for name, q in (("median", 0.5), ("p90", 0.9), ("p99", 0.99)):
        number, unit = row[name].split()
        exact = times[math.ceil(q * (n - 1))]
        assert float(number) * {"s": 1.0, "ms": 1e-3}[unit] == pytest.approx(exact, rel=0.005)
    below = [sum(time <= t for time in times) / n for t in chart.times]
    assert list(chart.lines[0].values) == pytest.approx(below) and below[-1] == 1.0


def test_a_run_without_a_table_has_a_page_without_its_blocks(folder: Path, tmp_path: Path) -> None:
    text = SCENARIO.replace('sample = "100 ms"\n', "")
    (tmp_path / "bare.toml").write_text(text)
    made = page(ecnlab.run(tmp_path / "bare.toml"))
    assert not any(isinstance(block, Chart) for block in blocks(made))
    assert {section.name for section in made.sections} == {"network", "queue", "flows", "provenance"}
    assert "99th" not in made.answer


def test_the_model_has_a_page_of_its_prediction(folder: Path) -> None:
    run = ecnlab.load(folder / "model")
    assert isinstance(run, ecnlab.Run)
    made = page(run)
    row = run.table("prediction").row(0, named=True)
    assert (
        f"{row['queue_packets']:.3g} packets" in made.answer
        and f"{5 * row['goodput_bps'] / 1e6:.3g} Mb/s" in made.answer
    )
    assert cells(titled(made, "Prediction"))[0]["flows"] == "5"  # type: ignore[arg-type]


def test_fallbacks_and_substitutions_are_findings(run: ecnlab.Run) -> None:
    fell = run.flows.with_columns(connections=2, ecn_connections=1, ecn_fallbacks=1).cast(run.flows.schema)
    instead = [{"key": "tcp.ecn.sack", "asked": False, "kernel": True}, {"key": "x", "asked": 1, "kernel": None}]
    changed = ecnlab.Run(run.manifest | {"instead": instead}, {"flows": fell, "links": run.links, "queues": run.queues})
    changed.manifest["tables"] = {name: run.manifest["tables"][name] for name in changed.tables}
    found = page(changed).findings
    assert [(one.answer, one.statement) for one in found] == [
        ("ECN fallback", "ECN fell back on 2 of 4 connections in dropped, marked."),
        ("Substituted", "tcp.ecn.sack = false"),
        ("Substituted", "x = 1"),
    ]
    assert "Linux has true" in found[1].evidence and "no such setting" in found[2].evidence
    assert [one.answer for one in page(run).findings] == ["ECN works"]


def test_the_provenance_names_the_command_and_every_key(run: ecnlab.Run) -> None:
    made = page(run)
    origin = {row["item"]: row["value"] for row in cells(titled(made, "Origin"))}  # type: ignore[arg-type]
    assert origin["command"] == run.manifest["wall"]["remake"] and origin["seed"] == "1"
    assert origin["specification"] == run.manifest["spec_hash"]
    spec = {row["key"]: row["value"] for row in cells(titled(made, "The scenario"))}  # type: ignore[arg-type]
    assert spec["queue.red.max_th"] == "15 packets" and spec["link.pipe.rate"] == "2 Mbps"


def test_a_link_in_one_direction_is_drawn(tmp_path: Path) -> None:
    one_way = MODEL.replace('queue = "red" }', 'queue = "red", duplex = false, loss = 0.01 }')
    back = 'link.back = { from = "b", to = "a", rate = "10 Mbps", delay = "20 ms", duplex = false }\n'
    (tmp_path / "x.toml").write_text(one_way + back)
    drawn = titled(page(ecnlab.run(tmp_path / "x.toml")), "Network")
    assert isinstance(drawn, Topology)
    (pipe,) = (wire for wire in drawn.wires if wire.name == "pipe")
    assert "loses 0.01" in pipe.words and pipe.cells[-1] == "none"


def test_a_stage_of_ten_lines_is_added_and_replaces_one_of_its_name(run: ecnlab.Run, tmp_path: Path) -> None:
    assert len(STAGE.strip().splitlines()) <= 10
    mine = tmp_path / "mine.py"
    mine.write_text(STAGE)
    figure = titled(page(run, stages=mine), "Retransmits of each flow")
    assert isinstance(figure, Figure)
    assert [p.mean for p in figure.series[0].points] == run.flows["retransmits"].to_list()
    assert page(run, stages=mine).sections[-1].title == "Added"
    assert page(run).sections[-1].title == "Provenance"  # the next page does not have it
    mine.write_text(STAGE.replace('"retransmits", of', '"windows", of'))
    made = page(run, stages=mine)
    assert titled(made, "Retransmits of each flow") and "Added" not in [section.title for section in made.sections]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("run.flows", "run.flow"), r"mine\.py, line 8, stage `retransmits`: AttributeError: .*; correct the stage"),
        (("import stage", "import stages"), r"mine\.py, line 3, ImportError: .*; correct the file"),
        (("def retr", "def (retr"), r"mine\.py, line 7, SyntaxError: "),
        (
            ('of="run"', 'of="rum"'),
            r"mine\.py, stage `retransmits`: of = 'rum' is no kind of result: write one of \"run\"",
        ),
        (("@stage", "# stage"), r"mine\.py registers no stage: put `@ecnlab"),
        (("return Figure(", "return dict.fromkeys("), r"mine\.py, line 9, stage `retransmits`: TypeError"),
        (("    return Figure", "    return 5 #"), r"mine\.py, stage `retransmits` returned int: return a block"),
    ],
    ids=["raises", "import", "syntax", "kind", "none", "arguments", "type"],
)
def test_a_bad_stage_file_is_refused_with_place_and_remedy(run, tmp_path, change, message) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(STAGE.replace(*change))
    with pytest.raises(EcnlabError, match=message):
        page(run, stages=mine)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[[section]]\ntitle = "Q"\nstages = ["linx"]',
            r"my\.toml: section\[0\]\.stages: no stage of a run is called 'linx': there",
        ),
        ('[[section]]\nstages = ["links"]', r"my\.toml: section\[0\] has no `title`: add it"),
        ('[[section]]\ntitle = 1\nstages = ["links"]', r"my\.toml: `section\[0\]\.title` is 1: write a text"),
        ('[[sections]]\ntitle = "Q"', r"my\.toml: unknown key `sections`: there are summary, section"),
        ('[summary]\nstages = ["links"]', r"stage `links` is in the summary and returned a block"),
        ('[[section]]\ntitle = "Q"\nstages = []\nfolded = 1', r"folded` is 1: write a flag, true or false"),
        ("[[section", r"my\.toml: not a TOML file: "),
    ],
    ids=["stage", "required", "type", "key", "summary", "flag", "toml"],
)
def test_a_bad_layout_is_refused_with_place_and_remedy(run, tmp_path, text, message) -> None:
    mine = tmp_path / "my.toml"
    mine.write_text(text)
    with pytest.raises(EcnlabError, match=message):
        page(run, layout=mine)


def test_a_layout_chooses_the_sections(run: ecnlab.Run, tmp_path: Path) -> None:
    mine = tmp_path / "my.toml"
    mine.write_text('[[section]]\ntitle = "Only the links"\nstages = ["links"]\nfolded = true\n')
    made = page(run, layout=mine)
    assert (
        [section.title for section in made.sections] == ["Only the links"]
        and made.sections[0].folded
        and made.answer == ""
    )


@pytest.mark.parametrize("name", mostly_slow(["run", "model", "sweep"], "run", "model"))
def test_a_page_is_whole_asks_for_nothing_and_is_the_same_every_time(cli, folder, name) -> None:
    made = cli("report", folder / name)
    assert (made.returncode, made.stdout) == (0, f"report: {folder / name / 'report.html'}\n")
    html = (folder / name / "report.html").read_text()
    assert Requests(html).found == ["data:,"]
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", html)
    assert len(html) < 1_000_000
    again = cli("report", folder / name, "-o", folder / f"{name}.html")
    assert again.returncode == 0 and (folder / f"{name}.html").read_text() == html
    assert cli("verify", folder / name).returncode == 0
    assert cli("show", folder / name).returncode == 0


def test_a_repeated_run_keeps_the_page(run: ecnlab.Run, tmp_path: Path) -> None:
    run.save(tmp_path / "kept")
    stored = ecnlab.load(tmp_path / "kept")
    assert stored.report(tmp_path / "kept" / "report.html") == tmp_path / "kept" / "report.html"
    before = (tmp_path / "kept" / "report.html").read_text()
    run.save(tmp_path / "kept")
    assert (tmp_path / "kept" / "report.html").read_text() == before
    assert ecnlab.load(tmp_path / "kept").flows.equals(run.flows)


def test_markup_in_names_is_escaped(folder: Path, tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)>"
    text = SCENARIO.replace("two flows, one pipe", evil).replace("[flow.marked]", f'[flow.marked]\ngroup = "{evil}"')
    (tmp_path / "evil.toml").write_text(text)
    html = render(page(ecnlab.run(tmp_path / "evil.toml")))
    assert "<img" not in html and "&lt;img src=x" in html


def test_the_command_reports_a_folder_without_a_result(cli, tmp_path) -> None:
    made = cli("report", tmp_path)
    assert made.returncode == 2 and "manifest.json" in made.stderr


def test_shares_have_two_digits() -> None:
    assert [share(x) for x in (0.0, 0.00049, 0.0123, 0.0996, 0.12345, 1.0, -0.02, math.nan)] == [
        *("0 %", "0.05 %", "1.2 %", "10 %", "12 %", "100 %", "−2.0 %", "–"),
    ]
    assert share(3e-6) == "0.0003 %"


def test_a_notebook_can_register_a_stage_and_run_its_cell_again(run: ecnlab.Run, monkeypatch) -> None:
    monkeypatch.setattr(registry, "OWN", own := {})
    monkeypatch.setattr(building, "OWN", own)
    monkeypatch.setattr(registry, "_registering", [(own, None)])
    for text in ("first", "second"):
        registry.stage("of a cell", of="run")(lambda _run, text=text: f"The {text} text.")
    assert page(run).sections[-1].blocks == ["The second text."]
    registry.stage("of a cell", of="run")(lambda run: run.nothing)
    with pytest.raises(EcnlabError, match=r"test_report_command\.py, line \d+, stage `of a cell`: AttributeError"):
        page(run)
