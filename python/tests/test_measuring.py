"""What ``metrics.toml`` can say of runs, each by hand, and that what papers say is whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import polars as pl
import pytest
from analysed import given

from ecnlab.base.errors import EcnlabError
from ecnlab.papers import measuring
from ecnlab.papers.judge import Grid
from ecnlab.papers.measuring import Quantities
from ecnlab.papers.published import Beside, Metric, Published, Recipe, read_published
from ecnlab.papers.registry import PAPERS, find

GRID = Grid(("scheme", "against"))
FLOWS = pl.DataFrame(
    [
        {"scheme": scheme, "replicate": 0, "group": group, "flow": flow, "time_s": time, "x": x, "whole": 7}
        for scheme, factor in (("new", 2.0), ("old", 1.0))
        for group, flow, time, x in (
            ("a", "f", 0.0, 1.0),
            ("a", "f", 1.0, 3.0),
            ("a", "g", 1.0, 8.0),
            ("b", "h", 1.0, 5.0),
        )
        for x in (factor * x,)
    ]
)


OTHERS = {"later": FLOWS.filter(pl.col("scheme") == "old").drop("scheme").with_columns(pl.col("x") + 100)}


def found(measure: dict[str, Any], beside: dict[str, Any] | None = None, **quantities: dict[str, Any]) -> pl.DataFrame:
    metric = Metric("m", "", "mean", steps=("s",), measure=msgspec.convert(measure, Recipe))
    published = Published("p", "", "", "", {"m": metric}, (), (), {}, msgspec.convert(quantities, dict[str, Recipe]))
    if beside:
        published = replace(published, beside={"one": msgspec.convert(beside, Beside)})
    own = {"own": lambda sweep: sweep.table("flows").select("scheme", "replicate", value=pl.lit(1.0)).unique()}
    others = {name: given(flows=flows) for name, flows in OTHERS.items()}
    measured = Quantities(GRID, published, own, given(flows=FLOWS), others)["m"].collect()
    return measured.sort("scheme") if "scheme" in measured.columns else measured


@pytest.mark.parametrize(
    ("measure", "new", "old"),
    [
        # group a at once: 1, 3, 8; each flow first: (2 + 8) / 2
        ({"where": {"group": "a"}, "over": "avg(x)"}, 8.0, 4.0),
        ({"where": {"group": "a"}, "each": "flow", "over": "avg(x)"}, 10.0, 5.0),
        # each flow at each time: (2 + 6 + 16) / 3
        ({"where": {"group": "a"}, "each": ["flow", "time_s"], "over": "sum(x)"}, 8.0, 4.0),
        ({"where": {"group": ["a", "b"]}, "over": "sum(x)"}, 34.0, 17.0),
        ({"filter": "time_s < 0.5", "value": "x"}, 2.0, 1.0),
        ({"where": {"group": "a"}, "mean": "power(x, 2)"}, 4 * 74 / 3, 74 / 3),
        # (1 + 3 + 8)^2 / (3 (1 + 9 + 64)), whatever the unit
        ({"where": {"group": "a"}, "jain": "x"}, 144 / 222, 144 / 222),
        # Not 0.038889, as whole numbers would be divided by a decimal.
        ({"where": {"group": "b"}, "value": "whole / 180.0"}, 7 / 180, 7 / 180),
    ],
)
def test_a_quantity_is_of_the_rows_that_are_asked(measure, new, old) -> None:
    assert found({"table": "flows", **measure})["value"].to_list() == pytest.approx([new, old], rel=1e-15)


SUM = {"table": "flows", "where": {"group": "a"}, "over": "sum(x)"}


def test_quantities_are_combined_paired_and_set_beside_other_runs() -> None:
    one = {"table": "flows", "where": {"group": "b"}, "value": "x"}
    assert found({"of": ["a", "b"], "value": "a / b"}, a=SUM, b=one)["value"].to_list() == pytest.approx([2.4, 2.4])
    pair = found({"of": "a", "other": "b"}, a=SUM, b=one)
    assert pair.select("value", "other").rows() == [(24.0, 10.0), (12.0, 5.0)]
    beside = {"key": "scheme", "to": "old"}
    assert found({"of": "a", "beside": "one"}, beside, a=SUM).rows(named=True) == [
        {"replicate": 0, "value": 24.0, "other": 12.0, "scheme": "new"}
    ]
    lead = {"of": "a", "beside": "one", "value": "value - other"}
    assert found(lead, beside, a=SUM)["value"].to_list() == [12.0]


def test_a_quantity_of_others_is_of_the_runs_for_which_its_filter_holds() -> None:
    asked = {"of": ["a", "b"], "filter": "a > 20", "value": "a / b"}
    one = {"table": "flows", "where": {"group": "b"}, "value": "x"}
    assert found(asked, a=SUM, b=one).select("scheme", "value").rows() == [("new", 2.4)]


def test_labels_of_a_place_are_those_that_the_table_lacks_and_expressions_see_them() -> None:
    recipe = {"table": "flows", "place": {"against": "all", "scheme": "none"}, "over": "sum(x)"}
    assert found(recipe).select("scheme", "against", "value").rows() == [("new", "all", 34.0), ("old", "all", 17.0)]
    filtered = {**recipe, "filter": "against = 'all' and scheme = 'old'"}
    assert found(filtered)["value"].to_list() == [17.0]


def test_a_quantity_of_another_step_is_of_the_same_seed_and_the_axes_of_both() -> None:
    one = {"table": "flows", "where": {"group": "b"}, "value": "x"}
    across = found({"of": "b", "other": "b", "in": "later"}, b=one)
    # The other step has no schemes: each of this one's stands beside its run of the seed.
    assert sorted(across.rows(named=True), key=lambda row: row["value"]) == [
        {"replicate": 0, "value": 5.0, "other": 105.0},
        {"replicate": 0, "value": 10.0, "other": 105.0},
    ]


@pytest.mark.parametrize(
    ("at", "place"),
    [("of", {"scheme": "new"}), ("to", {"scheme": "old"}), ("both", {"scheme": "new", "against": "old"})],
)
def test_a_comparison_stands_where_it_is_said(at, place) -> None:
    row = found({"of": "a", "beside": "one"}, {"key": "scheme", "pairs": [["new", "old"]], "at": at}, a=SUM)
    assert {key: row[key][0] for key in place} == place
    assert ("against" in row.columns) == ("against" in place)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ({"table": "flows", "over": "avg("}, "is not SQL"),
        ({"table": "flows"}, "neither `value` nor `over` nor mean, jain, correlation"),
        ({"of": "nothing"}, r"add \[quantity.nothing\]"),
        ({"of": "own", "beside": "two"}, "no comparison is called 'beside.two'; there are "),
        ({"of": "own", "other": "own", "in": "sooner"}, "m: no other step is called 'sooner'"),
    ],
)
def test_an_incomplete_recipe_is_an_error(measure, message) -> None:
    with pytest.raises(EcnlabError, match=message):
        found(measure)


@pytest.mark.parametrize("name", PAPERS)
def test_what_a_paper_says_is_whole_and_used(name) -> None:
    paper, folder = find(name)
    published = read_published(folder)
    recipes = {**{key: m.measure for key, m in published.metrics.items() if m.measure}, **published.quantities}
    steps = {step.name for step in (*paper.steps, *paper.on_linux) if not step.drawn}
    used = {key for key, metric in published.metrics.items() if metric.steps}
    beside = set()
    for key, metric in published.metrics.items():
        assert set(metric.steps) <= steps, key
        assert not metric.steps or key in recipes or key in paper.own, key
    for key, recipe in recipes.items():
        assert recipe.in_step in {"", *steps}, key
        used |= {*recipe.parts, recipe.other}
        beside.add(recipe.beside)
    assert used >= {*recipes, *paper.own}, "measured and not used"
    assert beside - {""} == set(published.beside)


def test_the_quick_size_of_a_comparison_of_two_steps_has_the_seeds_of_both() -> None:
    paper, folder = find("rfc2884")
    published = read_published(folder)
    seeds = {"transactions": 20, "bulk": 10}
    steps = {name: replace(step, quick=seeds[name]) for step in paper.steps if (name := step.name) in seeds}
    paper = replace(paper, steps=tuple(steps.values()))
    rows = {"metric": ["mice_over_bulk"] * 25 + ["transaction_gain"] * 25, "replicate": [*range(25)] * 2}
    kept = measuring._quick(paper, published, steps["transactions"], pl.DataFrame(rows))
    assert dict(kept.group_by("metric").len().iter_rows()) == {"mice_over_bulk": 10, "transaction_gain": 20}


@pytest.mark.parametrize("rows", [0, 4000])
def test_an_aggregate_over_time_is_that_of_its_groups(rows: int) -> None:
    series = pl.DataFrame({"flow": [i % 3 for i in range(rows)], "x": [i * 0.37 % 7.0 for i in range(rows)]})
    series = series.cast({"flow": pl.Int64, "x": pl.Float64}).lazy()
    # A column may be named twice.
    value = pl.sql_expr("power(avg(x * x), 0.5) / avg(x)").alias("value")
    found, expected = (of(series, ["flow"], value).collect() for of in (measuring.over_time, measuring.grouped))
    assert found.schema == expected.schema and found["flow"].equals(expected["flow"])
    assert found["value"].to_list() == pytest.approx(expected["value"].to_list())
