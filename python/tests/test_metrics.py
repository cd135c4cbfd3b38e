"""Metrics against sums done by hand."""

from __future__ import annotations

import polars as pl
import pytest

from ecnlab.errors import MetricError
from ecnlab.metrics import check, evaluate

FLOWS = pl.LazyFrame(
    {
        "id": ["a", "a", "a", "b", "b"],
        "group": ["x", "x", "y", "x", "y"],
        "goodput_bps": [1.0, 3.0, 8.0, 5.0, None],
        "retransmits": [0, 2, 0, 1, 0],
    }
)


def value(metrics, run="a"):
    rows = evaluate(metrics, {"flows": FLOWS}.__getitem__, ["b", "a"])
    return rows.filter(id=run, metric=list(metrics)[-1])["value"].item()


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        ("mean", 4.0),
        ("sum", 12.0),
        ("min", 1.0),
        ("max", 8.0),
        ("median", 3.0),
        ("count", 3.0),
        ("p99", 3.0 + 0.98 * 5.0),  # 99 % of the way through ranks 0, 1, 2 is rank 1.98
        ("jain", 12.0**2 / (3 * (1.0 + 9.0 + 64.0))),
    ],
)
def test_aggregates(aggregate, expected):
    metric = {"table": "flows", "column": "goodput_bps", "aggregate": aggregate}
    assert value({"m": metric}) == pytest.approx(expected)


def test_missing_values_do_not_count():
    metric = {"table": "flows", "column": "goodput_bps", "aggregate": "count"}
    assert value({"m": metric}, run="b") == 1.0


def test_where_takes_a_value_or_several():
    base = {"table": "flows", "column": "goodput_bps", "aggregate": "sum"}
    assert value({"m": base | {"where": {"group": "x"}}}) == 4.0
    assert value({"m": base | {"where": {"group": ["x", "y"]}}}) == 12.0
    assert value({"m": base | {"where": {"group": "x", "retransmits": 0}}}) == 1.0


def test_count_of_rows_needs_no_column():
    assert value({"m": {"table": "flows", "aggregate": "count", "where": {"retransmits": 0}}}) == 2.0


def test_combinations():
    metrics = {
        "x": {"table": "flows", "column": "goodput_bps", "where": {"group": "x"}},
        "y": {"table": "flows", "column": "goodput_bps", "where": {"group": "y"}},
    }
    assert value({**metrics, "m": {"ratio": ["x", "y"]}}) == 0.25
    assert value({**metrics, "m": {"ratio": ["x", "y"], "minus_one": True}}) == -0.75
    assert value({**metrics, "m": {"difference": ["y", "x"]}}) == 6.0


def test_what_is_not_defined_is_null():
    nothing = {"table": "flows", "where": {"group": "z"}}
    assert value({"m": nothing | {"column": "goodput_bps", "aggregate": "mean"}}) is None
    assert value({"m": nothing | {"aggregate": "count"}}) == 0.0
    counts = {"zero": nothing | {"aggregate": "count"}, "all": {"table": "flows", "aggregate": "count"}}
    assert value({**counts, "m": {"ratio": ["all", "zero"]}}) is None


def test_order_is_that_of_runs_and_definitions():
    metrics = {
        "second": {"difference": ["first", "first"]},
        "first": {"table": "flows", "aggregate": "count"},
    }
    rows = evaluate(metrics, {"flows": FLOWS}.__getitem__, ["b", "a"])
    assert rows["metric"].unique(maintain_order=True).to_list() == ["second", "first"]
    assert rows.filter(metric="first")["id"].to_list() == ["b", "a"]


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ({"table": "flow", "column": "ecn"}, "no table is called 'flow': did you mean 'flows'"),
        ({"table": "flows", "column": "goodput"}, "did you mean 'goodput_bps'"),
        ({"table": "flows", "column": "ecn", "where": {"grp": 1}}, "did you mean 'group'"),
        ({"table": "flows", "column": "zzz"}, "there are flow, name, group"),
    ],
)
def test_names_that_do_not_exist(metric, said):
    with pytest.raises(MetricError, match=said):
        check({"m": metric})


@pytest.mark.parametrize("metric", [{"column": "group"}, {"column": "goodput_bps", "where": {"group": 1}}])
def test_values_of_the_wrong_kind(metric):
    with pytest.raises(MetricError, match="metric m: the values are not of the kind"):
        value({"m": {"table": "flows", **metric}})
