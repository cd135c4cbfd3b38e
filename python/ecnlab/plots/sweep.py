"""The figures of a sweep: ``sweep.plot.effect("goodput", by="max_p")`` and the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.columns import TABLES, units
from ecnlab.plots import distribution
from ecnlab.plots.cloud import LEAST, cloud
from ecnlab.plots.figure import MOST_LINES, Figure

if TYPE_CHECKING:
    from ecnlab.runs.sweep_result import Sweep


DRAWN: Final = ("series", "x", "low", "high", "n")
"""Columns of a figure's data whose names do not depend on axes and metrics."""


class SweepPlots:
    """The figures of a sweep. Each raises EcnlabError, with the remedy, if the sweep does not have its data."""

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
        label = _free(by, [*DRAWN, *axes]) if by in DRAWN else by
        rows = self._named(rows.rename({by: label}), metric, "effect", without=by)
        return self._figure(rows, metric, by, label)

    def goodput_over_delay(self, goodput: str | None = None, delay: str | None = None, sigma: float = 1.0) -> Figure:
        """The metric ``goodput`` over the metric ``delay`` of each run, with an ellipse for each arm and point of the grid.

        By default they are the first metric in bit/s and the first in seconds. The ellipse is the contour at ``sigma``
        standard deviations (RFC 7928 §2.7). Raises EcnlabError if there is no such metric, or no three replicates.
        """
        kind = "goodput-over-delay"
        chosen = {"goodput": self._metric(kind, goodput, "bit/s", "flows", "goodput_bps", "sum"),
                  "delay": self._metric(kind, delay, "s", "links", "sojourn_mean_s", "max")}  # fmt: skip
        keys = ["arm", *self._sweep.axes, "replicate"]
        columns = {what: _free(what, keys) for what in chosen}
        wide = [
            self._sweep.metrics.filter(pl.col("metric") == name).select(*keys, pl.col("value").alias(columns[what]))
            for what, name in chosen.items()
        ]
        rows = (
            wide[0]
            .join(wide[1], on=keys, how="inner", nulls_equal=True, maintain_order="left")
            .drop_nulls(list(columns.values()))
        )
        rows = self._named(rows, "all runs", kind)
        x, y = 1e3 * pl.col(columns["delay"]), 1e-6 * pl.col(columns["goodput"])
        points = rows.select("series", x.alias("x"), y.alias("y"))
        series = {
            name: points.filter(series=name).select("x", "y").rows()
            for name in points["series"].unique(maintain_order=True)
        }
        if max(map(len, series.values()), default=0) < LEAST:
            raise self._error(
                f"an ellipse needs {LEAST} replicates with both metrics",
                f"sweep with --replicates {LEAST} or more",
                kind,
            )
        return cloud(series, "a run", "", delay=f"{chosen['delay']}, ms", sigma=sigma)

    def sojourn(self, link: str | None = None, *, tail: bool = False) -> Figure:
        """The distribution (CDF) of the times that packets spent in the queue of ``link``, all replicates together.

        There is a line for each arm and point of the grid. ``tail`` draws the share of packets that were there at least so
        long, on a logarithmic axis. By default the link is that whose mean queue is longest over all runs.
        """
        if "sojourn_bins" not in self._sweep.tables:
            remedy = "set quantiles = true in a queue of the scenario, and sweep with --keep sojourn_bins"
            raise self._error("the sweep has no table `sojourn_bins`", remedy, "sojourn")
        link = self._link(link)
        whole = (pl.col("link") == link) & (pl.col("class") == "all") & (pl.col("group") == "all")
        rows = self._table("sojourn_bins").filter(whole).collect()
        if not rows.height:
            raise self._error(f"no sojourn times of {link} were kept", "set quantiles = true in its queue", "sojourn")
        rows = self._named(rows, link, "sojourn")
        names = rows["series"].unique(maintain_order=True)
        parts = {name: distribution.of_bins(rows.filter(series=name), tail=tail) for name in names}
        return distribution.figure(parts, f"Sojourn times at {link}", tail=tail, exact=False)

    def _table(self, name: str) -> pl.LazyFrame:
        """The table ``name`` with its own columns under their names; see `_axis` for axes."""
        both = [axis for axis in self._sweep.axes if axis in TABLES[name]]
        rows = self._sweep.table(name).rename({axis: _axis(axis) for axis in both})
        return rows.rename({f"{axis}_recorded": axis for axis in both})

    def _link(self, link: str | None) -> str:
        links = self._table("links").group_by("link", maintain_order=True).agg(pl.col("queue_mean_packets").mean())
        means = links.collect()
        if link is None:
            return str(
                means.sort("queue_mean_packets", descending=True, nulls_last=True, maintain_order=True)["link"][0]
            )
        if link not in means["link"]:
            raise self._error(f"no link is called {link!r}", f"there are {', '.join(means['link'][:12])}", "sojourn")
        return link

    def _metric(self, kind: str, name: str | None, unit: str, table: str, column: str, aggregate: str) -> str:
        """The metric ``name``, or the first in ``unit``."""
        metrics = self._sweep.manifest["metrics"]
        there = [metric for metric in metrics if unit_of(metrics, metric) == unit]
        if name is None and there:
            return str(there[0])
        if name is not None and name in there:
            return name
        if name in metrics:
            raise self._error(
                f"the metric {name!r} is not in {unit}", f"name one of {', '.join(there) or 'those'}", kind
            )
        add = f'{{ table = "{table}", column = "{column}", aggregate = "{aggregate}" }}'
        missing = f"no metric is called {name!r}" if name else f"no metric is in {unit}"
        raise self._error(missing, f"there are {', '.join(metrics)}; one may be {add}", kind)

    def _named(self, rows: pl.DataFrame, alone: str, kind: str, without: str = "") -> pl.DataFrame:
        """``rows`` with the column ``series``: arm and axes but ``without``. A single one is called ``alone``."""
        axes = [axis for axis in self._sweep.axes if axis != without]
        keys = ["arm", *(_axis(axis) if _axis(axis) in rows.columns else axis for axis in axes)]
        names = [", ".join(str(part) for part in key if part is not None) or alone for key in rows[keys].iter_rows()]
        if (number := len(set(names))) > MOST_LINES:
            raise self._error(
                f"{number} lines in one figure, of {', '.join(['arm', *axes])}",
                f"at most {MOST_LINES} can be distinguished",
                kind,
            )
        return rows.with_columns(pl.Series("series", names, dtype=pl.String))

    def _figure(self, rows: pl.DataFrame, metric: str, by: str, label: str) -> Figure:
        """The effect of the axis ``by``, whose labels are in the column ``label``, on ``metric``."""
        labels = rows[label].unique(maintain_order=True).to_list()
        places = _numbers(labels)
        categories = [] if places else labels
        x = dict(zip(labels, places or range(len(labels)), strict=True))
        unit = unit_of(self._sweep.manifest["metrics"], metric)
        scale, unit = (1e-6, "Mbit/s") if unit == "bit/s" else (1.0, unit)
        y_label = f"{metric}, {unit}" if unit else metric
        y = _free(y_label, [*DRAWN, label])
        at = pl.col(label).replace_strict(x, return_dtype=pl.Float64)
        rows = rows.with_columns(pl.col("mean", "low", "high") * scale)
        data = rows.select("series", label, at.alias("x"), pl.col("mean").alias(y), "low", "high", "n")
        title = f"Effect of {by} on {metric}"
        note = "means and 95 % intervals of the replicates"
        # A line goes from left to right, even if values are not listed in order.
        return Figure(
            data.sort("x", maintain_order=True) if places else data,
            "x", y, title, by, y_label, "points", categories, from_zero=False, note=note,
        )  # fmt: skip

    def _error(self, missing: str, remedy: str, kind: str = "effect") -> EcnlabError:
        return EcnlabError(f"{self._sweep.folder}: no figure `{kind}`: {missing}; {remedy}")


def _free(name: str, taken: Collection[str]) -> str:
    """``name``, with underscores behind it if it is taken."""
    while name in taken:
        name += "_"
    return name


def _axis(name: str) -> str:
    """Return the column of the axis ``name`` for a table that already has a column of that name."""
    return f"{name} (axis)"


def unit_of(metrics: dict[str, Any], name: str) -> str:
    """Return the unit of a metric from its definition: that of its column, "" if it has none or it is unknown."""
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
