"""The figure of a sweep: ``sweep.plot.effect("goodput", by="max_p")``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ecnlab.columns import units
from ecnlab.errors import EcnlabError
from ecnlab.later import pl
from ecnlab.plots.figure import MOST_LINES, Figure

if TYPE_CHECKING:
    from ecnlab.sweep import Sweep


class SweepPlots:
    """The figures of a sweep."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep

    def effect(self, metric: str, by: str | None = None) -> Figure:
        """The mean of ``metric`` along the axis ``by`` (default: the first), with its 95 % interval (Student's t).

        There is a line for each arm and each point of the other axes. Raises EcnlabError if there is no such metric or
        axis, or if there are too many lines.
        """
        axes, metrics = self._sweep.axes, self._sweep.manifest["metrics"]
        if metric not in metrics:
            raise self._error(f"no metric is called {metric!r}", f"there are {', '.join(metrics)}")
        if not axes:
            raise self._error("the experiment has no axis", "give it a [grid.NAME]")
        by = axes[0] if by is None else by
        if by not in axes:
            raise self._error(f"no axis is called {by!r}", f"there are {', '.join(axes)}")
        rows = self._sweep.summary().filter(pl.col("metric") == metric).drop_nulls("mean")
        if not rows.height:
            raise self._error(f"the metric {metric!r} has no value in any run", "look at `metrics` of the sweep")
        others = ["arm", *(axis for axis in axes if axis != by)]
        names = [", ".join(str(part) for part in key if part is not None) or metric for key in rows[others].iter_rows()]
        if (number := len(set(names))) > MOST_LINES:
            raise self._error(
                f"{number} lines in one figure, of {', '.join(others)}", f"at most {MOST_LINES} can be told apart"
            )
        return self._figure(rows.with_columns(pl.Series("series", names)), metric, by)

    def _figure(self, rows: pl.DataFrame, metric: str, by: str) -> Figure:
        labels = rows[by].unique(maintain_order=True).to_list()
        places = _numbers(labels)
        categories = [] if places else labels
        x = dict(zip(labels, places or range(len(labels)), strict=True))
        unit = unit_of(self._sweep.manifest["metrics"], metric)
        scale, unit = (1e-6, "Mbit/s") if unit == "bit/s" else (1.0, unit)
        y_label = f"{metric}, {unit}" if unit else metric
        at = pl.col(by).replace_strict(x, return_dtype=pl.Float64)
        rows = rows.with_columns(pl.col("mean", "low", "high") * scale)
        data = rows.select("series", by, at.alias("x"), pl.col("mean").alias(y_label), "low", "high", "n")
        title = f"Effect of {by} on {metric}"
        note = "means and 95 % intervals of the replicates"
        # A line goes from left to right, also where values are not listed in order.
        return Figure(
            data.sort("x", maintain_order=True) if places else data,
            "x", y_label, title, by, y_label, "points", categories, from_zero=False, note=note,
        )  # fmt: skip

    def _error(self, missing: str, remedy: str) -> EcnlabError:
        return EcnlabError(f"{self._sweep.folder}: no figure `effect`: {missing}; {remedy}")


def unit_of(metrics: dict[str, Any], name: str) -> str:
    """The unit of a metric by its definition: that of its column, "" where it has none or it is not told."""
    asked = metrics[name]
    if "ratio" in asked or asked.get("aggregate") == "jain":
        return "ratio"
    if asked.get("aggregate") == "count" or "column" not in asked:
        return ""
    return units(asked["table"]).get(asked["column"], "")


def _numbers(labels: Sequence[str]) -> list[float]:
    """The labels as numbers; none if one is none."""
    try:
        return [float(label) for label in labels]
    except ValueError:
        return []
