"""What holds for every paper: its data files are whole, one command runs it, resumes, and links the reports."""

from __future__ import annotations

import json
import random
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from ecnlab import papers, store
from ecnlab.errors import EcnlabError
from ecnlab.linux.kernel import find as find_kernel
from ecnlab.papers import measures, registry, reproduction
from ecnlab.papers.grid import Grid
from ecnlab.papers.layout import paper_page, read_material
from ecnlab.papers.paper import Drawn, Paper, Step, Stored, Tables, measured
from ecnlab.papers.published import read_published
from ecnlab.papers.registry import PAPERS, find
from ecnlab.report import Page

CHECKOUT = Path(__file__).parents[2]
every_paper = pytest.mark.parametrize("name", PAPERS)


def rows(name: str) -> list[dict]:
    return tomllib.loads((CHECKOUT / "papers" / name / "checklist.toml").read_text())["row"]


# --------------------------------------------------------------- data files


def test_every_folder_of_papers_has_its_row_in_the_registry() -> None:
    assert {path.parent.name for path in (CHECKOUT / "papers").glob("*/published.toml")} == set(PAPERS)


@every_paper
def test_the_checklist_has_every_row_once_and_names_what_exists(name) -> None:
    ids = [row["id"] for row in rows(name)]
    assert ids == [f"{ids[0][0]}{i:02d}" for i in range(1, len(ids) + 1)]
    for row in rows(name):
        for by in row["by"]:
            assert (CHECKOUT / "papers" / name / by).exists() or (CHECKOUT / by).exists(), f"{row['id']} names {by}"


@every_paper
def test_the_readme_has_the_checklist_as_it_is(name) -> None:
    readme = (CHECKOUT / "papers" / name / "README.md").read_text()
    for row in rows(name):
        assert f"| {row['id']} | {row['what']} | {row['section']} |" in readme


@every_paper
def test_printed_entries_are_of_rows_of_the_checklist_and_say_where_they_stand(name) -> None:
    published = read_published(CHECKOUT / "papers" / name)
    for entry in (*published.numbers, *published.claims):
        assert entry.row in {row["id"] for row in rows(name)}
        assert entry.source


SEEDS_OF_ITS_OWN = {"transactions-size", "transactions-longer", "lossy-unharmed"}
"""Experiments whose results are set beside no other's; why the seeds are others is in the file."""


@every_paper
def test_all_experiments_share_their_seeds(name) -> None:
    steps = [step.name for step in PAPERS[name].steps if step.name not in SEEDS_OF_ITS_OWN]
    files = [tomllib.loads((CHECKOUT / "papers" / name / f"{step}.toml").read_text()) for step in steps]
    assert len({file["seed"] for file in files}) == 1


@every_paper
def test_the_quick_size_is_a_part_of_the_full_one(name) -> None:
    assert all(step.quick <= step.full for step in PAPERS[name].steps)


def test_a_paper_there_is_none_of_is_refused() -> None:
    with pytest.raises(EcnlabError, match="rfc2884"):
        find("rfc9999")


# --------------------------------------------------------------- measures


def test_a_mean_does_not_depend_on_the_order_of_its_rows() -> None:
    # Summed as they stand, 1 is lost beside 1e16; in another order it is not.
    rows = pl.LazyFrame({"maxp": ["0.1"] * 4, "replicate": [0] * 4, "x": [1e16, 1.0, -1e16, None]})
    (row,) = measures.mean_of(GRID, rows, "x").collect().iter_rows(named=True)
    assert row == {"maxp": "0.1", "replicate": 0, "value": 1 / 3}


# --------------------------------------------------------------- from files to an index

GRID = Grid(("variant", "maxp"))


def goodput(sweep: Tables) -> pl.DataFrame:
    flows = sweep.table("flows")
    keys = GRID.run_keys(flows)
    return GRID.samples("goodput", flows.group_by(keys, maintain_order=True).agg(value=pl.col("goodput_bps").sum()))


def small_page(folder: Path, tables: Stored) -> Page:
    given = read_material(folder, tables, GRID)
    say = [given.say("S01.much", "It is much.")]
    return paper_page(given, title="Small", lede="", findings=say, agreement="", sections=[], context={})


SMALL = Paper(
    "small",
    GRID,
    steps := (Step("pipes", 2, 3, goodput),),
    lambda sweeps: pl.concat(measured(steps, sweeps).values()),
    lambda _sweeps: Drawn(facts={"drawn": "nothing"}),
    small_page,
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
METRICS = 'format = 1\n[metric.goodput]\nname = "goodput"\ndefinition = "b/s"\nkind = "mean"\nmargin = 1e6\n'
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


@pytest.fixture
def small(scenario, monkeypatch) -> Path:
    """One small paper in ``papers/small`` of the current folder, in place of the real ones."""
    folder = scenario.parent / "papers" / "small"
    folder.mkdir(parents=True)
    (folder / "pipe.toml").write_text(scenario.read_text())
    grid = '[grid.maxp]\npath = "queue.red.max_p"\nvalues = [0.02, 0.1]\n'
    head = 'format = 1\ntitle = "pipes"\nscenario = "pipe.toml"\nreplicates = 1\nseed = 1\n'
    texts = {"pipes": head + grid, "published": PUBLISHED, "metrics": METRICS, "checklist": CHECKLIST}
    for name, text in {**texts, "reasons": "format = 1\n"}.items():
        (folder / f"{name}.toml").write_text(text)
    monkeypatch.chdir(scenario.parent)
    for module in (registry, reproduction):
        monkeypatch.setattr(module, "PAPERS", {"small": SMALL})
    return folder


def test_all_papers_are_run_and_linked_from_an_index(small, tmp_path) -> None:
    told: list[tuple[str, int, int]] = []
    index = papers.reproduce_all(tmp_path / "out", progress=lambda name: lambda done, of: told.append((name, done, of)))
    html = index.read_text()
    assert '<a href="small/report.html">A small &lt;paper&gt;. Nobody, 1999</a>' in html
    assert (index.parent / "small" / "report.html").is_file()
    results = json.loads((index.parent / "small" / "results.json").read_text())
    assert results["drawn"] == "nothing"
    verdicts, answers = [n["verdict"] for n in results["numbers"]], {c["answer"] for c in results["claims"]}
    assert verdicts == ["agrees"] and answers == {"yes"}
    assert "1 agree" in html and "1 yes" in html
    assert len(html) < 100_000 and "Plotly.newPlot" in html  # the page's script is there, the library is not
    assert told[0] == ("small", 0, 4) and told[-1] == ("small", 4, 4)


def test_the_full_size_builds_on_the_quick_one_and_nothing_is_done_twice(small, tmp_path) -> None:
    for full, before, runs in ((False, 0, 4), (True, 4, 6), (True, 6, 6)):
        told: list[int] = []
        papers.reproduce("small", tmp_path / "out", full=full, progress=lambda done, _of, told=told: told.append(done))
        assert (told[0], told[-1]) == (before, runs)
    with pytest.raises(EcnlabError, match="--full"):
        papers.reproduce("small", tmp_path / "out")
    html = (tmp_path / "out" / "report.html").read_text()
    assert re.search(r"§1, p.\u00a02", html) and "Fig.\u00a03" in html


def test_what_cannot_be_asked_of_linux_is_told_before_anything_starts(small, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ECNLAB_LINUX", str(tmp_path / "nothing"))
    for on_linux, told in (((), "nothing of small is asked"), (SMALL.steps, "`ecnlab linux build` makes one")):
        monkeypatch.setitem(registry.PAPERS, "small", replace(SMALL, on_linux=on_linux))
        with pytest.raises(EcnlabError, match=told):
            papers.reproduce("small", tmp_path / "out", linux=True)
    assert not (tmp_path / "out").exists()


def test_the_kernel_is_asked_the_same_as_the_simulator(small, tmp_path, monkeypatch) -> None:
    try:
        kernel = find_kernel()
    except EcnlabError as error:
        pytest.skip(f"{error} (`make linux`)")
    (small / "beside.toml").write_text((small / "pipes.toml").read_text() + '[set]\nprofile = "linux-7"\n')
    monkeypatch.setitem(registry.PAPERS, "small", replace(SMALL, on_linux=(Step("beside", 2, 3, goodput),)))
    told: list[int] = []
    papers.reproduce("small", tmp_path / "out", linux=True, progress=lambda done, _of: told.append(done))
    assert told[-1] == 3 * 4  # two points, two seeds: the paper's own, and beside them both engines
    points = pl.read_parquet(tmp_path / "out/analysis/linux.parquet")
    assert points.select("variant", "maxp").rows() == [(w, p) for w in ("kernel", "simulator") for p in ("0.02", "0.1")]
    assert points["mean"].is_between(1e6, 2e6).all()  # of a pipe of 2 Mbit/s
    results = json.loads((tmp_path / "out/results.json").read_text())
    assert (results["linux"]["kernel"], results["runs"]) == (kernel.about["version"], 4)


def test_an_interrupted_reproduction_of_all_goes_on_where_it_was(small, tmp_path) -> None:
    def interrupt(done: int, _of: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        papers.reproduce_all(tmp_path / "out", workers=1, progress=lambda _name: interrupt)
    assert not (tmp_path / "out" / "index.html").exists()
    told: list[int] = []
    papers.reproduce_all(tmp_path / "out", progress=lambda _name: lambda done, _of: told.append(done))
    assert told[0] >= 2 and told[-1] == 4
    assert (tmp_path / "out" / "index.html").is_file()


def test_no_flipped_bit_of_a_reproduction_goes_untold(small, tmp_path) -> None:
    rng = random.Random(3)
    folder = tmp_path / "out"
    papers.reproduce("small", folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    assert {"report.html", "results.json", "points.parquet", "points.csv"} < {path.name for path in files}
    for path in files:
        kept = path.read_bytes()
        data = bytearray(kept)
        bit = rng.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        assert any(path.name in str(error) for error in store.verify(folder)[1]), path
        path.write_bytes(kept)
    assert store.verify(folder)[1] == []
    path.write_bytes(data)
    papers.reproduce("small", folder)
    assert store.verify(folder)[1] == []
