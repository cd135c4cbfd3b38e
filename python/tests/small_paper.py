"""One small paper for tests, with a printed number and a claim; its runs take two seconds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ecnlab.folder.verified import read_files, write_files
from ecnlab.papers import registry, reproduction
from ecnlab.papers.judge import Grid
from ecnlab.papers.paper import Drawn, Paper, Step

GRID = Grid(("variant", "maxp"))


SMALL = Paper(
    "small",
    GRID,
    (Step("pipes", 2, 3),),
    lambda _sweeps: Drawn(facts={"drawn": "nothing"}),
)

PUBLISHED = """\
format = 1
paper = "Small 1"
title = "A small <paper>"
authors = "Nobody"
date = "1999"
[[number]]
id = "S01.1"
row = "S01"
value = 2e6
section = "1"
page = 2
metric = "goodput"
where = { maxp = "0.1" }
[[claim]]
id = "S01.much"
row = "S01"
statement = "Much."
figure = "3"
metric = "goodput"
where = {}
test = "above"
limit = 1e5
"""
METRICS = 'format = 1\n[metric.goodput]\nname = "goodput"\ndefinition = "b/s"\nkind = "mean"\nmargin = 1e6\nsteps = ["pipes", "beside"]\n'
METRICS += 'measure = { table = "flows", over = "sum(goodput_bps)" }\n'
REPORT = 'format = 1\n[page]\ntitle = "Small"\nanswer = "Small."\nlede = ""\nagreement = ""\n'
REPORT += '[[finding]]\nclaim = "S01.much"\nstatement = "It is much."\n'
CHECKLIST = """\
format = 1
[[row]]
id = "S01"
what = "w"
section = "1"
state = "shown"
by = []
note = ""
"""


def add_tables(out: Path, **tables: pl.DataFrame) -> None:
    """Store further analysis tables in the reproduction ``out``, with their digests."""
    for name, table in tables.items():
        table.write_parquet(out / "analysis" / f"{name}.parquet")
    names = [f"analysis/{name}.parquet" for name in tables]
    known = read_files(out)
    write_files(out, reproduction.STORED, names, known.remake, known.digests)


def in_place_of_the_papers(where: Path, scenario: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the paper to ``where``/papers/small and return that folder; ``where`` becomes the current folder."""
    folder = where / "papers" / "small"
    folder.mkdir(parents=True)
    (folder / "pipe.toml").write_text(scenario)
    grid = '[grid.maxp]\npath = "queue.red.max_p"\nvalues = [0.02, 0.1]\n'
    head = 'format = 1\ntitle = "pipes"\nscenario = "pipe.toml"\nreplicates = 1\nseed = 1\n'
    texts = {"pipes": head + grid, "published": PUBLISHED, "metrics": METRICS, "checklist": CHECKLIST}
    for name, text in {**texts, "report": REPORT, "reasons": "format = 1\n"}.items():
        (folder / f"{name}.toml").write_text(text)
    monkeypatch.chdir(where)
    for module in (registry, reproduction):
        monkeypatch.setattr(module, "PAPERS", {"small": SMALL})
    return folder
