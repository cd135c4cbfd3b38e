"""The quick size of a paper with a budget of runs: which points get more seeds, and the verdicts that stand."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from small_paper import SMALL, in_place_of_the_papers

from ecnlab import papers
from ecnlab.api.sweep import Sweep
from ecnlab.base.errors import EcnlabError
from ecnlab.base.looks import looks
from ecnlab.folder.manifest import read_manifest
from ecnlab.papers import readme, registry, reproduction
from ecnlab.papers.judge import Grid
from ecnlab.papers.looking import Settled, settle
from ecnlab.papers.measuring import samples_of_steps
from ecnlab.papers.paper import Drawn, Paper, Step
from ecnlab.papers.published import Above, Metric, Number, Published, Recipe, read_published
from ecnlab.runs.sweep import begun, sweep

GRID = Grid(("place",))
ABOUT = {"row": "X", "metric": "gain", "section": "1"}
LEAST, MOST = 4, 40


def paper(budget: int, full: int = MOST) -> Paper:
    return Paper("x", GRID, (Step("step", LEAST, full),), lambda _sweeps: Drawn(), budget=budget, printed=MOST)


def published(**rows: tuple) -> Published:
    metric = Metric("gain", "", "mean", margin=0.1, steps=["step"], measure=Recipe(table="flows", value="x"))
    return Published("x", "", "", "", {"gain": metric}, rows.get("numbers", ()), rows.get("claims", ()))


def above(name: str, limit: float, *places: str) -> Above:
    return Above(id=name, statement="", limit=limit, where={"place": list(places)}, **ABOUT)


def settled(
    budget: int, means: dict[str, float], asked: list[int] | None = None, full: int = MOST, **rows: tuple
) -> Settled:
    """The quick size for values with standard deviation 1 about ``means``; ``asked`` gets the seeds of the first point."""
    rng = np.random.default_rng(1)
    values = {place: mean + rng.permuted(np.linspace(-1.7, 1.7, MOST)) for place, mean in means.items()}
    names = list(values)
    keys = pl.DataFrame({"arm": None, "place": names, "replicate": 0, "seed": 1, "id": names, "spec_hash": names})

    def measure(seeds, _metrics) -> dict[str, pl.DataFrame]:
        if asked is not None:
            asked.append(int(seeds["step"][0]))
        parts = [
            pl.DataFrame({"place": place, "replicate": range(n), "value": values[place][:n]})
            for place, n in zip(names, seeds["step"], strict=True)
        ]
        return {"gain": GRID.samples("gain", pl.concat(parts))}

    return settle(paper(budget, full), published(**rows), {"step": keys}, measure)


def test_only_points_that_can_decide_a_row_get_more_seeds() -> None:
    rows = (above("clear", 0.0, "far", "near"), above("hopeless", 0.0, "far", "at"))
    found = settled(1000, {"far": 300.0, "near": 2.0, "at": 0.0, "other": 0.0}, claims=rows)
    far, near, at, other = found.seeds["step"]
    assert (far, at, other) == (LEAST, LEAST, LEAST) and LEAST < near < MOST
    _, claims = found.judged(published(claims=rows))
    assert dict(claims.select("id", "answer").unique().iter_rows()) == {"clear": "yes", "hopeless": "undecided"}


def test_a_claim_is_refuted_at_the_one_place_that_can() -> None:
    found = settled(1000, {"a": 3.0, "b": -3.0, "c": 0.1}, claims=(above("x", 0.0, "a", "b", "c"),))
    a, b, c = found.seeds["step"]
    assert a == c == LEAST < b and found.verdicts["x"]["answer"][0] == "no"


def test_a_budget_serves_the_rows_that_need_the_fewest_runs() -> None:
    rows = (above("dear", 0.0, "b", "c"), above("cheap", 0.0, "a"))
    means = {"a": 3.0, "b": 3.0, "c": 3.0}
    answers = [
        {name: rows["answer"][0] for name, rows in settled(budget, means, claims=rows).verdicts.items()}
        for budget in (12, 18, 100)
    ]
    decided = [[name for name in ("cheap", "dear") if one[name] == "yes"] for one in answers]
    assert decided == [[], ["cheap"], ["cheap", "dear"]]


def test_printed_numbers_come_before_claims_that_need_fewer_runs() -> None:
    number = Number(id="dear", value=3.8, where={"place": "a"}, **ABOUT)
    found = settled(17, {"a": 3.0, "b": 3.0}, numbers=(number,), claims=(above("cheap", 0.0, "b"),))
    a, b = found.seeds["step"]
    assert found.verdicts["dear"]["verdict"][0] == "differs" and a > b == LEAST


def test_numbers_that_look_hopeless_get_what_the_budget_has_left() -> None:
    numbers = tuple(Number(id=place, value=3.1, where={"place": place}, **ABOUT) for place in "ab")
    means = {"a": 3.2, "b": 3.2, "c": 3.0}
    assert settled(12, means, numbers=numbers).seeds["step"].tolist() == [4, 4, 4]
    assert settled(15, means, numbers=numbers).seeds["step"].tolist() == [6, 4, 4]
    assert settled(25, means, numbers=numbers).seeds["step"].tolist() == [9, 9, 4]


def test_only_points_of_printed_numbers_have_more_seeds_than_the_full_size() -> None:
    number = Number(id="n", value=3.8, where={"place": "a"}, **ABOUT)
    found = settled(1000, {"a": 3.0, "b": 0.3}, full=6, numbers=(number,), claims=(above("x", 0.0, "b"),))
    a, b = found.seeds["step"]
    assert found.verdicts["n"]["verdict"][0] == "differs"
    assert 6 < a <= MOST and b <= 6


def test_a_decision_stands_with_the_interval_of_its_look() -> None:
    number = Number(id="n", value=5.0, where={"place": "a"}, **ABOUT)
    found = settled(1000, {"a": 3.0}, numbers=(number,), claims=(above("later", 2.0, "a"),))
    assert found.verdicts["n"]["verdict"][0] == "differs"
    assert found.verdicts["n"]["n"][0] < found.seeds["step"][0]


# --------------------------------------------------------------- from files to results


@pytest.fixture
def budgeted(scenario, monkeypatch):
    """The small paper with a budget, and a claim that one point decides with more seeds than the other."""
    folder = in_place_of_the_papers(scenario.parent, scenario.read_text(), monkeypatch)
    steps = (Step("pipes", 4, 9),)
    for module in (registry, reproduction):
        monkeypatch.setattr(module, "PAPERS", {"small": replace(SMALL, budget=30, steps=steps)})
    return folder


def quick_verdicts(out) -> dict[str, str]:
    return dict(pl.read_parquet(out / "analysis" / "quick.parquet").iter_rows())


def seeds_of(out) -> list[int]:
    return read_manifest(out / "sweeps" / "pipes")["seeds"]


def test_the_full_size_has_the_verdicts_of_the_quick_one_and_builds_on_it(budgeted, tmp_path) -> None:
    means = pl.Series(goodputs(budgeted, tmp_path))
    claim = (budgeted / "published.toml").read_text().replace("limit = 1e5", f"limit = {means.min() - 3 * means.std()}")
    (budgeted / "published.toml").write_text(claim)
    papers.reproduce("small", tmp_path / "out")
    quick, seeds = quick_verdicts(tmp_path / "out"), seeds_of(tmp_path / "out")
    assert min(seeds) >= 4 and max(seeds) > 4
    counts: list[int] = []
    papers.reproduce("small", tmp_path / "out", full=True, progress=lambda done, _of: counts.append(done))
    assert (counts[0], counts[-1]) == (sum(seeds), 18) and quick_verdicts(tmp_path / "out") == quick
    assert "seeds" not in read_manifest(tmp_path / "out" / "sweeps" / "pipes")
    assert "looked" not in json.loads((tmp_path / "out" / "results.json").read_text())


METRICS = """
[metric.per_flow]
name = "goodput for each segment sent"
definition = "b/s"
kind = "ratio"
steps = ["pipes"]
measure = { of = "carried", other = "sent" }
[metric.at_least]
name = "goodput against that of max_p 0.02"
definition = "b/s"
kind = "difference"
steps = ["pipes"]
measure = { of = "carried", beside = "least" }
[beside.least]
key = "maxp"
to = "0.02"
[quantity]
carried = { table = "flows", over = "sum(goodput_bps)" }
sent = { table = "flows", over = "sum(data_segments_sent)" }
"""


def test_samples_of_runs_that_were_added_later_are_those_of_the_merged_sweep(budgeted, tmp_path) -> None:
    """Measured from the runs of each look: metrics of a run, of two quantities, and of two runs of which one has fewer seeds."""
    means = pl.Series(goodputs(budgeted, tmp_path))
    claim = f'limit = {means.min() - 3 * means.std()}\nwhere = {{ maxp = "0.1" }}'
    text = (budgeted / "published.toml").read_text().replace("where = {}\n", "").replace("limit = 1e5", claim)
    (budgeted / "published.toml").write_text(text)
    (budgeted / "metrics.toml").write_text((budgeted / "metrics.toml").read_text() + METRICS)
    papers.reproduce("small", tmp_path / "out")
    fewer, more = seeds_of(tmp_path / "out")
    assert fewer == 4 < more
    found, there = registry.find("small")[0], read_published(budgeted)
    whole, _ = samples_of_steps(found, there, {"pipes": Sweep.load(tmp_path / "out" / "sweeps" / "pipes")})
    both = whole.filter(pl.col("metric") != "at_least", pl.col("value").is_not_null())
    compared = whole.filter(pl.col("metric") == "at_least", pl.col("other").is_not_null())
    assert compared.height == fewer
    expected = found.grid.ordered(pl.concat([both, compared]))
    assert_frame_equal(pl.read_parquet(tmp_path / "out" / "analysis" / "samples.parquet"), expected, check_exact=True)


def test_a_row_gets_the_seeds_of_one_look_after_another() -> None:
    asked: list[int] = []
    found = settled(1000, {"a": 1.2}, claims=(above("x", 0.0, "a"),), asked=asked)
    *rounds, last = asked
    assert len(rounds) > 2 and rounds == list(looks(LEAST, MOST))[: len(rounds)] and last == rounds[-1]
    assert found.verdicts["x"]["answer"][0] == "yes"


def test_the_full_size_has_more_seeds_at_points_of_printed_numbers(budgeted, monkeypatch, tmp_path) -> None:
    for module in (registry, reproduction):
        monkeypatch.setattr(module, "PAPERS", {"small": replace(registry.PAPERS["small"], printed=12)})
    papers.reproduce("small", tmp_path / "out")
    quick = quick_verdicts(tmp_path / "out")
    counts: list[tuple[int, int]] = []
    papers.reproduce("small", tmp_path / "out", full=True, progress=lambda *one: counts.append(one))
    assert seeds_of(tmp_path / "out") == [9, 12] and counts[-1] == (21, 21)
    assert quick_verdicts(tmp_path / "out") == quick
    (budgeted / "README.in.md").write_text("# Small\n")
    readme.make("small", tmp_path / "out")
    assert json.loads((budgeted / "quoted.json").read_text())["run"]["experiments"]["pipes"]["runs"] == 21
    with pytest.raises(EcnlabError, match="holds the full size of small"):
        papers.reproduce("small", tmp_path / "out")


def test_a_budget_does_not_go_with_claims_judged_together(budgeted, tmp_path) -> None:
    path = budgeted / "published.toml"
    path.write_text(path.read_text().replace("format = 1", "format = 1\ntogether = true", 1))
    with pytest.raises(EcnlabError, match="a paper with a budget judges each place"):
        papers.reproduce("small", tmp_path / "out")


def goodputs(folder, tmp_path) -> list[float]:
    """The goodput of all flows in each of four runs of a point."""
    rows = sweep(folder / "pipes.toml", tmp_path / "first", replicates=4).table("flows").collect()
    return rows.filter(maxp="0.1").group_by("replicate").agg(pl.col("goodput_bps").sum())["goodput_bps"].to_list()


def test_a_repeated_reproduction_does_nothing_again(budgeted, tmp_path) -> None:
    papers.reproduce("small", tmp_path / "out")
    seeds, results = seeds_of(tmp_path / "out"), (tmp_path / "out" / "results.json").read_bytes()
    counts: list[tuple[int, int]] = []
    papers.reproduce("small", tmp_path / "out", progress=lambda *one: counts.append(one))
    assert set(counts) == {(sum(seeds), sum(seeds))}
    assert (tmp_path / "out" / "results.json").read_bytes() == results


def test_a_sweep_with_other_seeds_at_each_point_is_a_part_of_the_whole_one(budgeted, tmp_path) -> None:
    with begun(budgeted / "pipes.toml", tmp_path / "part", replicates=3, seeds=[3, 1]) as one:
        one.do([3, 1], lambda _done, _all: None)
        part = one.finish([3, 1])
    assert part.runs.group_by("maxp", maintain_order=True).len().rows() == [("0.02", 3), ("0.1", 1)]
    whole = sweep(budgeted / "pipes.toml", tmp_path / "part", replicates=3)
    fresh = sweep(budgeted / "pipes.toml", tmp_path / "fresh", replicates=3)
    for name in ("runs", *fresh.tables):
        files = [one.folder / "tables" / f"{name}.parquet" for one in (whole, fresh)]
        assert files[0].read_bytes() == files[1].read_bytes(), name
    assert Sweep.load(tmp_path / "part").runs.height == 6


def test_quoted_verdicts_of_the_quick_size_are_those_of_a_quick_run(budgeted, tmp_path) -> None:
    papers.reproduce("small", tmp_path / "quick")
    papers.reproduce("small", tmp_path / "full", full=True)
    (budgeted / "README.in.md").write_text("# Small\n")
    readme.make("small", tmp_path / "full")
    quoted = (budgeted / "quoted.json").read_text()
    (budgeted / "quoted.json").write_text(re.sub('"quick": "[a-z ]*"', '"quick": "differs"', quoted))
    readme.make("small", tmp_path / "quick")
    assert (budgeted / "quoted.json").read_text() == quoted
    text = (budgeted / "pipes.toml").read_text()
    (budgeted / "pipes.toml").write_text(text.replace("[0.02, 0.1]", "[0.02, 0.2]"))
    with pytest.raises(EcnlabError, match="a full run first"):
        readme.make("small", tmp_path / "quick")
