"""Sections that are data: what a figure draws, and what is wrong in ``sections.toml``."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ecnlab.errors import EcnlabError
from ecnlab.papers.grid import Grid
from ecnlab.papers.published import Metric, Published
from ecnlab.papers.told import Told
from ecnlab.report import Group

GRID = Grid(("scheme", "load"), names={"new": "New"})
PUBLISHED = Published("p", "", "", "", {"gain": Metric("gain", "", "mean"), "loss": Metric("loss", "", "mean")}, (), ())
SECTIONS = """
format = 1
[axis.load]
key = "load"
label = "load"
labels = ["low", "5 flows"]
values = [1.0, 2.0]
ticks = ["few", ""]
[section.one]
title = "One"
text = "Text."
[[section.one.figure]]
title = "Gain"
caption = ""
axis = "load"
metric = "gain"
by = "scheme"
labels = ["new"]
printed = true
curves = [{ name = "lost", metric = "loss", where = { scheme = "new" } }]
[[section.one.table]]
caption = "All"
metrics = ["loss"]
keys = ["scheme"]
"""


def told(folder: Path, text: str = SECTIONS) -> Told:
    (folder / "sections.toml").write_text(text)
    numbers = pl.DataFrame({"metric": ["gain"], "scheme": ["new"], "load": ["low"], "printed": [0.5]})
    return Told.read(folder, GRID, PUBLISHED, numbers)


def test_curves_are_those_of_labels_and_of_the_list_and_printed_points_join_them(tmp_path) -> None:
    row = {"scheme": "new", "low": 0.0, "high": 1.0, "n": 2}
    points = pl.DataFrame(
        [
            {"metric": metric, "load": load, "mean": mean, **row}
            for metric, load, mean in (("gain", "5 flows", 0.3), ("gain", "low", 0.1), ("loss", "low", 0.7))
        ]
    )
    section = told(tmp_path).section("one", points)
    group, table = section.blocks
    assert isinstance(group, Group)
    (figure,) = group.figures
    drawn = {series.name: [(p.x, p.mean) for p in series.points] for series in (*figure.series, *figure.printed)}
    assert drawn == {
        "New": [(1.0, 0.1), (2.0, 0.3)],
        "lost": [(1.0, 0.7)],
        "printed, New": [(1.0, 0.5)],
    }
    assert figure.x.ticks == [(1.0, "few")]
    assert len(table.rows) == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('axis = "load"', 'axis = "lode"', "one: no axis is called 'lode'; there are load"),
        ('metric = "loss"', 'metric = "los"', "one: no metric is called 'los'; there are gain, loss"),
        ('metrics = ["loss"]', 'metrics = ["all"]', "no metric is called 'all'"),
    ],
)
def test_a_name_that_is_not_there_is_told(tmp_path, old, new, said) -> None:
    with pytest.raises(EcnlabError, match=said):
        told(tmp_path, SECTIONS.replace(old, new))
