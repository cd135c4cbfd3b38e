"""Numbers of samples behind the quantiles of a sweep's metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.few_samples import needed
from ecnlab.scenario.metrics import evaluate_wide

if TYPE_CHECKING:
    from ecnlab.results.sweep import SweepResult

Key = tuple[str | None, ...]
"""Metric, arm, and the label on each axis."""


def remarks(sweep: SweepResult) -> dict[Key, str]:
    """Return " of N samples" for each metric, arm and point where a run has a quantile of too few samples.

    N is the smallest number to the largest of these runs. A metric that combines others has the remark of either.
    """
    found: dict[Key, str] = {}
    for metric in sweep.manifest["metrics"]:
        parts = [few for name in _picked(sweep.manifest["metrics"], metric) if (few := _few(sweep, name)) is not None]
        if not parts:
            continue
        both = pl.concat(parts).join(sweep.runs, on="id", how="inner")
        for key, rows in both.group_by("arm", *sweep.axes, maintain_order=True):
            low, high = int(rows["n"].min()), int(rows["n"].max())  # type: ignore[arg-type]
            count = f"{low}" if low == high else f"{low} to {high}"
            found[metric, *(None if one is None else str(one) for one in key)] = (
                f" of {count} sample{'' if high == 1 else 's'}"
            )
    return found


def _picked(metrics: Mapping[str, Any], name: str) -> list[str]:
    """Return the metrics that read a table of which ``name`` is made."""
    operands = metrics[name].get("ratio") or metrics[name].get("difference")
    return [part for one in operands for part in _picked(metrics, one)] if operands else [name]


def _few(sweep: SweepResult, name: str) -> pl.DataFrame | None:
    """Return ``id`` and ``n`` of the runs with too few samples for the quantile in a metric; None if there are none."""
    metric = sweep.manifest["metrics"][name]
    least, counted = needed(metric.get("aggregate", "")), {**metric, "aggregate": "count"}
    if (of_column := needed(metric.get("column", ""))) is not None:
        least, counted = of_column, _departed(metric)
    if least is None or counted.get("table") not in sweep.tables:
        return None
    departed = counted.get("column") == "departed"
    wide = evaluate_wide({"n": counted}, _left(sweep) if departed else sweep.table, sweep.runs["id"])
    few = wide.filter(pl.col("n") < least, pl.col("n") > 0)
    return None if few.is_empty() else few


def _departed(metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metric with the fewest sojourn times among the rows of a metric of sojourn quantiles; {} if not known."""
    where = metric.get("where", {})
    requested = {"column": "departed", "aggregate": "min"}
    if metric["table"] == "links" and set(where) <= {"link"}:
        return {**requested, "table": "queues", "where": {**where, "group": "all"}}
    if metric["table"] in ("classes", "sojourns"):
        return {**requested, "table": metric["table"], "where": where}
    return {}


def _left(sweep: SweepResult) -> Callable[[str], pl.LazyFrame]:
    """Return a reader of the rows with packets that left."""
    return lambda name: sweep.table(name).filter(pl.col("departed") > 0)
