"""The ``[metrics]`` of an experiment file: one number a run and metric.

A metric either picks from a table::

    goodput = { table = "flows", column = "goodput_bps", where = { group = "ecn" }, aggregate = "mean" }

or combines two others::

    advantage = { ratio = ["goodput_ecn", "goodput_plain"], minus_one = true }
    gap       = { difference = ["goodput_ecn", "goodput_plain"] }
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import polars as pl

from ecnlab.columns import TABLES
from ecnlab.errors import MetricError

Metrics = Mapping[str, Mapping[str, Any]]
"""Name to definition, as in an experiment file."""

AGGREGATES: Final[dict[str, Callable[[pl.Expr], pl.Expr]]] = {
    "mean": pl.Expr.mean,
    "sum": pl.Expr.sum,
    "min": pl.Expr.min,
    "max": pl.Expr.max,
    "median": pl.Expr.median,
    "p99": lambda x: x.quantile(0.99, "linear"),
    "count": pl.Expr.count,
    # Jain, Chiu and Hawe 1984: (sum x)^2 / (n sum x^2); 1 when all are equal, 1/n when one has all.
    "jain": lambda x: x.sum() ** 2 / (x.count() * (x**2).sum()),
}
"""What ``aggregate`` may say. Missing values are left out."""


def check(metrics: Metrics) -> None:
    """Raise MetricError if a definition names a table or column that does not exist.

    Everything else about definitions is checked with the experiment file, which names the line.
    """
    for name, metric in metrics.items():
        if "table" not in metric:
            continue
        _known(name, "table", metric["table"], TABLES)
        for column in [*metric.get("where", {}), *([metric["column"]] if "column" in metric else [])]:
            _known(name, f"column of {metric['table']}", column, TABLES[metric["table"]])


def tables(metrics: Metrics) -> set[str]:
    """The tables that ``metrics`` read."""
    return {metric["table"] for metric in metrics.values() if "table" in metric}


def evaluate(metrics: Metrics, table: Callable[[str], pl.LazyFrame], ids: Iterable[str]) -> pl.DataFrame:
    """Each metric of each run: columns ``id``, ``metric`` and ``value`` (null where it is not defined).

    ``table`` gives the rows of all runs of a table, with the run's ``id``; rows come in the order of ``ids`` and of the
    definitions. Not defined are a mean of no rows and a ratio to zero; a count or a sum of no rows is 0.
    """
    return long(evaluate_wide(metrics, table, ids))


def evaluate_wide(metrics: Metrics, table: Callable[[str], pl.LazyFrame], ids: Iterable[str]) -> pl.DataFrame:
    """As `evaluate`, with a column for each metric."""
    check(metrics)
    runs = pl.DataFrame({"id": list(ids)}, schema={"id": pl.String})
    values: dict[str, pl.Series] = {}

    def value(name: str) -> pl.Series:
        if name not in values:
            metric = metrics[name]
            values[name] = _pick(name, metric, table, runs) if "table" in metric else _combine(metric, value)
        return values[name]

    return runs.with_columns([value(name).cast(pl.Float64).rename(name) for name in metrics])


def long(wide: pl.DataFrame) -> pl.DataFrame:
    """What `evaluate_wide` gives with a row for each run and metric."""
    return wide.unpivot(index="id", variable_name="metric", value_name="value").select(
        "id", "metric", pl.col("value").cast(pl.Float64)
    )


def _pick(name: str, metric: Mapping[str, Any], table: Callable[[str], pl.LazyFrame], runs: pl.DataFrame) -> pl.Series:
    rows = table(metric["table"])
    for column, wanted in metric.get("where", {}).items():
        rows = rows.filter(pl.col(column).is_in(wanted) if isinstance(wanted, list) else pl.col(column) == wanted)
    aggregate = metric.get("aggregate", "mean")
    number = AGGREGATES[aggregate](pl.col(metric["column"]).cast(pl.Float64)) if "column" in metric else pl.len()
    of_run = rows.group_by("id").agg(number.cast(pl.Float64).alias("value"))
    try:
        found = runs.lazy().join(of_run, on="id", how="left", maintain_order="left").collect()["value"]
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise MetricError(f"metric {name}: the values are not of the kind it needs: {reason}") from error
    return _finite(found.fill_null(0.0) if aggregate in ("count", "sum") else found)


def _combine(metric: Mapping[str, Any], value: Callable[[str], pl.Series]) -> pl.Series:
    first, second = (value(name) for name in _operands(metric))
    result = first / second if "ratio" in metric else first - second
    return _finite(result - 1.0 if metric.get("minus_one", False) else result)


def _finite(values: pl.Series) -> pl.Series:
    return values.to_frame("v").select(pl.when(pl.col("v").is_finite()).then(pl.col("v")))["v"]


def _operands(metric: Mapping[str, Any]) -> list[str]:
    return list(metric.get("ratio", metric.get("difference", [])))


def _known(metric: str, what: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    help_ = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
    raise MetricError(f"metric {metric}: no {what} is called {name!r}: {help_}")
