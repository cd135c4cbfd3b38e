"""The report as data: what figures and tables draw, and what is wrong in ``report.toml``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ecnlab.base.errors import EcnlabError
from ecnlab.papers.judge import Grid
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Drawn, Paper, named
from ecnlab.papers.published import Metric, Number, Published
from ecnlab.papers.registry import PAPERS, find
from ecnlab.papers.report_file import FILE, Report
from ecnlab.report import Finding, Group, Section, Table

GRID = Grid(("scheme", "load"), names={"new": "New"})
NUMBER = Number(id="P01.1", row="P01", metric="gain", where={}, value=-0.5)
METRICS = {"gain": Metric("gain", "", "mean"), "loss": Metric("loss", "", "mean")}
PUBLISHED = Published("p", "", "", "", METRICS, (NUMBER,), ())


def mine(given: Material) -> Table:
    """A block by code."""
    return Table(f"Of {given.points.height} points", [], [])


def height(given: Material) -> str:
    """A word by code."""
    return str(given.points.height)


def surely(_given: Material) -> Finding:
    """A sentence by code."""
    return Finding("Yes", "yes", "Surely.", "")


PAPER = Paper("p", GRID, (), lambda _: Drawn(), findings=named(surely), blocks=named(mine), words=named(height))
REPORT = """
format = 1
[page]
title = "P"
lede = ""
answer = ""
agreement = ""
[[finding]]
own = "surely"
[axis.load]
key = "load"
label = "load"
labels = ["low", "5 flows"]
values = [1.0, 2.0]
ticks = ["few", ""]
[section.one]
title = "One"
text = "Of {{ height() }} points {{ point('gain', scheme='new', load='low').mean }}."
blocks = ["mine", "tables", "figures"]
[[section.one.figure]]
title = "Gain"
caption = ""
axis = "load"
metric = "gain"
by = "scheme"
labels = ["new"]
printed = true
curves = [{ name = "lost", metric = "loss", where = { scheme = "new" }, printed = { metric = "gain", at = "5 flows" } }]
changes = [{ number = "P01.1", from = { scheme = "new", load = "5 flows" } }]
[[section.one.table]]
caption = "All"
metrics = ["loss"]
keys = ["scheme"]
[[section.one.table]]
caption = "Wide"
keys = ["load", "scheme"]
places = [{ load = ["5 flows", "low"], scheme = "new" }]
heads = { load = "how many" }
names = { low = "few" }
columns = ["gain", { metric = "loss", name = "lost", where = { scheme = "new" } }]
"""


def report(folder: Path, text: str = REPORT) -> Report:
    (folder / FILE).write_text(text)
    numbers = pl.DataFrame({"metric": ["gain"], "scheme": ["new"], "load": ["low"], "printed": [0.5]})
    row = {"scheme": "new", "low": 0.0, "high": 1.0, "n": 2}
    points = pl.DataFrame(
        [
            {"metric": metric, "load": load, "mean": mean, **row}
            for metric, load, mean in (("gain", "5 flows", 0.3), ("gain", "low", 0.1), ("loss", "low", 0.7))
        ]
    )
    return Report.read(folder, PAPER, Material(folder, PUBLISHED, GRID, points, numbers))


def only(folder: Path) -> Section:
    (section,) = report(folder).sections()
    return section


def test_curves_are_those_of_labels_and_of_the_list_and_printed_points_join_them(tmp_path) -> None:
    group = only(tmp_path).blocks[-1]
    assert isinstance(group, Group)
    (figure,) = group.figures
    drawn = {series.name: [(p.x, p.mean) for p in series.points] for series in (*figure.series, *figure.printed)}
    assert drawn == {
        "New": [(1.0, 0.1), (2.0, 0.3)],
        "lost": [(1.0, 0.7)],
        "printed, New": [(1.0, 0.5)],
        "printed, lost": [(2.0, 0.5)],
        "printed: -50% from New": [(2.0, 0.15)],  # half of the 0.3 that is measured there
    }
    assert figure.x.ticks == [(1.0, "few")]


def test_blocks_have_the_order_of_the_file_and_words_are_filled_in(tmp_path) -> None:
    section = only(tmp_path)
    assert [getattr(block, "caption", "") for block in section.blocks] == ["Of 3 points", "All", "Wide", ""]
    assert section.intro == "Of 3 points 0.100."
    assert [finding.statement for finding in report(tmp_path).findings()] == ["Surely."]


def test_a_wide_table_has_a_row_a_place_and_a_column_a_metric(tmp_path) -> None:
    table = only(tmp_path).blocks[2]
    assert isinstance(table, Table) and list(table.columns) == ["how many", "scheme", "gain", "lost"]
    assert [[cell.text for cell in row] for row in table.cells()] == [
        ["5 flows", "New", "0.300 (0 to 1.00)", ""],
        ["few", "New", "0.100 (0 to 1.00)", "0.700 (0 to 1.00)"],
    ]


def test_a_wide_table_without_places_has_those_of_its_first_column(tmp_path) -> None:
    text = REPORT.replace('places = [{ load = ["5 flows", "low"], scheme = "new" }]', "")
    (section,) = report(tmp_path, text).sections()
    assert [row[0].text for row in section.blocks[2].cells()] == ["5 flows", "few"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'axis = "load"',
            'axis = "lode"',
            r"report.toml: section.one.figure\[0\]: no axis is called 'lode'; did you mean 'load'\?",
        ),
        (
            'metric = "loss"',
            'metric = "los"',
            r"section.one.figure\[0\]: no metric is called 'los'; did you mean 'loss'\?",
        ),
        ('metrics = ["loss"]', 'metrics = ["all"]', "no metric is called 'all'"),
        (
            'key = "load"',
            'key = "lode"',
            r"report.toml: axis.load: no key of the grid .* 'lode'; did you mean 'load'\?",
        ),
        ('by = "scheme"', 'by = "sceme"', r"section.one.figure\[0\]: no key of the grid is called 'sceme'"),
        ("from = { scheme", "from = { sceme", r"section.one.figure\[0\]: no key of the grid is called 'sceme'"),
        ('keys = ["scheme"]', 'keys = ["sceme"]', r"section.one.table\[0\]: no key of the grid is called 'sceme'"),
        ('columns = ["gain"', 'columns = ["gian"', "no metric is called 'gian'"),
        ('"mine"', '"yours"', "section.one: no block is called 'yours'"),
        ('own = "surely"', 'own = "maybe"', r"finding\[0\]: no finding is called 'maybe'; there are surely"),
        ('own = "surely"', 'claim = "P09"\nstatement = ""', r"finding\[0\]: no claim is called 'P09'"),
        (
            'caption = "All"',
            'capshun = "All"',
            r"section.one.table\[0\]: no key is called 'capshun'; did you mean 'caption'\?",
        ),
        ('caption = "All"', "", r"section.one.table\[0\]: the key 'caption' is missing"),
        ('metrics = ["loss"]', "", r"section.one.table\[0\]: a table needs either 'metrics' or 'columns'"),
        ('own = "surely"', 'statement = "Surely."', r"finding\[0\]: a finding needs either 'claim' with"),
        (
            'places = [{ load = ["5 flows", "low"], ',
            "places = [{ ",
            r"section.one.table\[1\]: a row of 'places' has no 'load'",
        ),
        (
            'number = "P01.1"',
            'number = "P02.1"',
            r"section.one.figure\[0\]: no number is called 'P02.1'; did you mean 'P01.1'\?",
        ),
    ],
)
def test_an_unknown_name_is_an_error(tmp_path, old, new, message) -> None:
    with pytest.raises(EcnlabError, match=message):
        report(tmp_path, REPORT.replace(old, new))


@pytest.mark.parametrize("name", PAPERS)
def test_report_toml_uses_all_findings_blocks_and_words_of_a_package(name) -> None:
    paper, folder = find(name)
    text = (folder / FILE).read_text()
    for kind in (paper.findings, paper.blocks):
        assert [own for own in kind if f'"{own}"' not in text] == []
    assert [word for word in paper.words if f"{{{{ {word}() }}}}" not in text] == []
