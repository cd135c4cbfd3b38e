"""Metrics against sums done by hand."""

from __future__ import annotations

import math
import random
from pathlib import Path

import polars as pl
import pytest
from conftest import EXPERIMENT, SCENARIO

from ecnlab import run
from ecnlab.base.errors import MetricError, SpecError
from ecnlab.folder.columns import TABLES
from ecnlab.runs.sweep import sweep
from ecnlab.scenario.files import read_experiment, read_scenario
from ecnlab.scenario.metric_ranges import of_metric
from ecnlab.scenario.metrics import check, evaluate

EXAMPLES = Path(__file__).parents[2] / "examples"

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
        ("p50", 3.0),
        ("p90", 3.0 + 0.8 * 5.0),  # 90 % of the way through ranks 0, 1, 2 is rank 1.8
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
        ({"table": "flow", "column": "ecn"}, "no table is called 'flow': did you mean `flows`"),
        ({"table": "flows", "column": "goodput"}, "did you mean `goodput_bps`"),
        ({"table": "flows", "column": "ecn", "where": {"grp": 1}}, "did you mean `group`"),
        ({"table": "flows", "column": "zzz"}, "there are flow, name, group"),
    ],
)
def test_names_that_do_not_exist(metric, said):
    with pytest.raises(MetricError, match=said):
        check({"m": metric})


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ({"column": "group"}, "metric m: 'group' of flows holds names"),
        ({"column": "goodput_bps", "where": {"group": 1}}, "metric m: the values have the wrong type"),
    ],
)
def test_values_of_the_wrong_kind(metric, said):
    with pytest.raises(MetricError, match=said):
        value({"m": {"table": "flows", **metric}})


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ('table = "links", column = "utilisation", where = { link = "pip" }', "did you mean `pipe`?"),
        ('table = "queues", column = "marks", where = { link = "pipe", group = "markd" }', "did you mean `marked`?"),
        ('table = "flows", column = "goodput_bps", where = { group = ["marked", "drop"] }', "marked"),
        ('table = "flow", column = "goodput_bps"', "did you mean `flows`?"),
        ('table = "flows", column = "goodput"', "did you mean `goodput_bps`?"),
        ('table = "flows", column = "goodput_bps", where = { grp = "marked" }', "did you mean `group`?"),
        ('table = "flows", column = "group"', "holds names, not numbers"),
        ('table = "flows", column = "group", aggregate = "count"', "leave it out"),
        ('table = "flows", column = "goodput_bps", where = { group = 1 }', "the column holds names, not 1"),
        ('table = "flows", column = "goodput_bps", where = { ecn = 1 }', "the column holds true or false"),
        ('table = "flows", column = "goodput_bps", where = { retransmits = "0" }', "the column holds numbers"),
        ('table = "packets", aggregate = "count", where = { event = "drop_tial" }', "did you mean `drop_tail`?"),
        ('table = "objects", column = "delay_s"', "which needs traffic `web`"),
        ('table = "transactions", aggregate = "count"', "which needs traffic `crr`"),
        ('table = "boxes", column = "dropped"', "name a box in `boxes` of a link"),
        ('table = "classes_run", column = "marks"', "give a link a queue of classes"),
        ('table = "class_series", column = "packets"', "give a link a queue of classes"),
        ('table = "links", column = "lost", where = { from = "servr" }', "did you mean `server`?"),
    ],
)
def test_a_metric_that_asks_for_what_no_run_has_is_refused_with_its_line(cli, experiment, definition, said):
    if "aggregate" not in definition:
        definition += ', aggregate = "sum"'
    text = EXPERIMENT + f"wrong = {{ {definition} }}\n"
    experiment.write_text(text)
    line = len(text.splitlines())
    for verb, code in (("check", 1), ("sweep", 2)):
        done = cli(verb, experiment)
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert done.stderr.startswith(f"{experiment}:{line}:")
        assert said in done.stderr
    assert sorted(path.name for path in experiment.parent.iterdir()) == ["gain.toml", "pipe.toml"]


def test_a_series_that_no_run_records_is_refused(experiment):
    scenario = experiment.with_name("pipe.toml")
    experiment.write_text(EXPERIMENT + 'queue = { table = "queue_series", column = "packets" }\n')
    read_experiment(experiment)
    scenario.write_text(SCENARIO.replace('sample = "100 ms"\n', ""))
    with pytest.raises(SpecError, match="no run records queue_series; set sample"):
        read_experiment(experiment)


def test_what_only_some_arms_have_is_in_order(experiment):
    """A group that one arm gives another name, and a member of an array that is long at one point only."""
    arms = EXPERIMENT.replace("[arm.blind]\nset = {", '[arm.blind]\nset = { "flow.marked.group" = "other",')
    more = '[grid.load]\npath = "flow.marked.count"\nvalues = [1, 4]\n\n[metrics]\n'
    experiment.write_text(
        arms.replace("[metrics]\n", more)
        + 'other = { table = "flows", column = "goodput_bps", where = { group = "other" } }\n'
        + 'fourth = { table = "flows", column = "goodput_bps", where = { name = "marked[3]" } }\n'
        + 'everyone = { table = "queues", column = "marks", where = { group = "all", link = "pipe~reverse" } }\n'
    )
    read_experiment(experiment)


def test_columns_are_of_the_kind_that_is_told(scenario):
    """What a metric may do with a column follows from what runs store."""
    found = run(scenario, events=True)
    for name in found.tables:
        for column, dtype in found.table(name).schema.items():
            kind = "text" if dtype == pl.String else "flag" if dtype == pl.Boolean else "number"
            if name != "packets" or column != "ecn":
                assert TABLES[name][column].kind == kind, (name, column)


@pytest.mark.parametrize(("example", "link"), [("classes", "bottleneck"), ("fair", "bottleneck")])
def test_metrics_of_classes_are_checked_by_their_names(tmp_path, example, link):
    scenario = EXAMPLES / f"{example}.toml"
    few = {"duration": "2 s", "warmup": "1 s"}
    named = run(scenario, overrides=few).table("classes").filter(link=link)["class"].to_list()
    assert sorted(named) == read_scenario(scenario).names("class")
    metric = '{{ table = "{}", column = "packets", aggregate = "max", where = {{ link = "{}", class = "{}" }} }}'

    def asked(*classes):
        lines = [f"m{i} = {metric.format('class_series', link, name)}" for i, name in enumerate(classes)]
        head = f'format = 1\nscenario = "{scenario}"\nreplicates = 1\nseed = 1\n[set]\nduration = "2 s"\nwarmup = "1 s"\n[metrics]\n'
        (tmp_path / "x.toml").write_text(head + "\n".join(lines))
        return tmp_path / "x.toml"

    found = sweep(asked(*named), tmp_path / "sweep", replicates=1).metrics
    assert found["value"].is_not_null().all() and found.height == len(named)
    with pytest.raises(SpecError, match=r"there is no class 'al' in class_series; (did you mean `all`|there are)"):
        read_experiment(asked("al"))


@pytest.mark.parametrize("aggregate", ["mean", "sum", "jain"])
def test_a_sum_is_the_same_number_whatever_stands_beside_it(aggregate):
    """Summed in several threads it had another last digit from one time to the next."""
    rng = random.Random(7)
    metrics = {"x": {"table": "flows", "column": "goodput_bps", "aggregate": aggregate}}
    runs = {name: [10 ** rng.uniform(-3, 9) for _ in range(n)] for name, n in (("a", 30), ("b", 9_999), ("c", 40_000))}
    frames = {name: pl.DataFrame({"id": name, "goodput_bps": values}) for name, values in runs.items()}

    def found(order, chunks):
        whole = pl.concat([frames[name] for name in order], rechunk=False)
        table = pl.concat([whole[i : i + chunks] for i in range(0, whole.height, chunks)], rechunk=False).lazy()
        rows = evaluate(metrics, {"flows": table}.__getitem__, order)
        return dict(zip(rows["id"], rows["value"], strict=True))

    whole = found("abc", 10**6)
    for order, chunks in (("abc", 1000), ("bca", 7777), ("c", 99), ("a", 7), ("cb", 40_000)):
        assert found(order, chunks) == {name: whole[name] for name in order}
    n, total, squares = 30, math.fsum(runs["a"]), math.fsum(x * x for x in runs["a"])
    assert whole["a"] == {"mean": total / n, "sum": total, "jain": total**2 / (n * squares)}[aggregate]


RANGES = {
    "goodput": {"table": "flows", "column": "goodput_bps", "aggregate": "mean"},
    "fairness": {"table": "flows", "column": "goodput_bps", "aggregate": "jain"},
    "flows": {"table": "flows", "aggregate": "count"},
    "busy": {"table": "links", "column": "utilisation"},
    "all_busy": {"table": "links", "column": "utilisation", "aggregate": "sum"},
    "ecn": {"table": "flows", "column": "ecn"},
    "gain": {"table": "flow_series", "column": "bbr_cwnd_gain"},
    "number": {"table": "flows", "column": "flow"},
    "part": {"ratio": ["goodput", "flows"]},
    "advantage": {"ratio": ["goodput", "flows"], "minus_one": True},
    "gap": {"difference": ["fairness", "busy"]},
    "change": {"difference": ["goodput", "flows"]},
    "odd": {"ratio": ["change", "flows"]},
}


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("goodput", 0, math.inf),
        ("fairness", 0, 1),
        ("flows", 0, math.inf),
        ("busy", 0, 1),
        ("all_busy", 0, math.inf),
        ("ecn", 0, 1),
        ("gain", 0, math.inf),
        ("number", -math.inf, math.inf),
        ("part", 0, math.inf),
        ("advantage", -1, math.inf),
        ("gap", -1, 1),
        ("change", -math.inf, math.inf),
        ("odd", -math.inf, math.inf),
    ],
)
def test_the_range_of_a_metric_follows_from_its_definition(name, low, high):
    found = of_metric(RANGES, name)
    assert (found.low, found.high) == (low, high)
