"""The figures of a sweep: ``sweep.plot.effect("goodput", by="max_p")`` and the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.columns import TABLES
from ecnlab.plots import distribution, effect, grids
from ecnlab.plots.cloud import MIN_POINTS, cloud
from ecnlab.plots.figure import Figure, with_only_name
from ecnlab.plots.keys import absent, axis_column, free, missing, named, names, part_of, readable, refused
from ecnlab.plots.run import NO_TRANSACTION
from ecnlab.scenario.metrics import unit_of

if TYPE_CHECKING:
    from ecnlab.results.sweep import SweepResult


class SweepPlots:
    """The figures of a sweep. Each raises EcnlabError, with the remedy, if the sweep does not have its data."""

    def __init__(self, sweep: SweepResult) -> None:
        self._sweep = sweep

    def effect(
        self, metric: str | Sequence[str], by: str | None = None, against: str | None = None, *, panels: bool = False,
        ratio: bool = False, panel: str | None = None,
    ) -> Figure:  # fmt: skip
        """The mean of ``metric`` along the axis ``by`` (default: the first), with its 95 % interval (Student's t).

        There is a line for each arm and each point of the other axes. Without axes, the arms stand along the x axis; so
        they do with ``by="arm"``. ``against`` draws the paired differences of the other arms to this one
        (`Sweep.differences`), and with ``ratio`` their paired ratios to it (`Sweep.ratios`). ``panels`` draws small
        multiples with shared axes: a panel for each point of the other axes with a line for each arm, or else a panel for
        each line. ``panel`` names an axis, or "arm", with a panel for each of its labels. Several metrics are the rows of
        a grid, with the panels as columns. Raises EcnlabError if there is no such metric, axis or arm, if there are too
        many lines, or if a ratio has a value that is not positive.
        """
        if panels and panel:
            raise self._error("both --panels and --panel (panels=, panel=)", "leave out one", "effect")
        if panel and panel == by:
            raise self._error(
                f"{by!r} is both the axis and that of panels", "choose another --panel (panel=)", "effect"
            )

        def of_metric(one: str) -> Figure:
            def draw(sweep: SweepResult) -> Figure:
                return effect.figure(sweep, one, by, against, panels=panels, ratio=ratio)

            return grids.by_label(self._sweep, "effect", panel, draw) if panel else draw(self._sweep)

        if isinstance(metric, str):
            return self._titled(of_metric(metric))
        figures = {one: of_metric(one) for one in dict.fromkeys(metric)}
        if len(figures) == 1:
            return self._titled(next(iter(figures.values())))
        return self._titled(grids.by_metric(figures, f"Effect of {next(iter(figures.values())).x_label.split(',')[0]}"))

    def goodput_over_delay(
        self, goodput: str | None = None, delay: str | None = None, sigma: float = 1.0, *, panel: str | None = None
    ) -> Figure:
        """The metric ``goodput`` over the metric ``delay`` of each run, with an ellipse for each arm and point of the grid.

        By default they are the first metric in bit/s and the first in seconds. The ellipse is the contour at ``sigma``
        standard deviations (RFC 7928 §2.7). ``panel`` names an axis, or "arm", with a panel for each of its labels. Raises
        EcnlabError if there is no such metric, or no three replicates.
        """
        return self._by_panel(
            "goodput-over-delay", panel, lambda plots: plots._goodput_over_delay(goodput, delay, sigma)
        )

    def _goodput_over_delay(self, goodput: str | None, delay: str | None, sigma: float) -> Figure:
        kind = "goodput-over-delay"
        chosen = {"goodput": self._metric(kind, goodput, "bit/s", "flows", "goodput_bps", "sum"),
                  "delay": self._metric(kind, delay, "s", "links", "sojourn_mean_s", "max")}  # fmt: skip
        keys = ["arm", *self._sweep.axes, "replicate"]
        columns = {what: free(what, keys) for what in chosen}
        wide = [
            self._sweep.metrics.filter(pl.col("metric") == name).select(*keys, pl.col("value").alias(columns[what]))
            for what, name in chosen.items()
        ]
        rows = (
            wide[0]
            .join(wide[1], on=keys, how="inner", nulls_equal=True, maintain_order="left")
            .drop_nulls(list(columns.values()))
        )
        lacking = missing(self._sweep, rows)
        rows = named(self._sweep, rows, "all runs", kind)
        x, y = 1e3 * pl.col(columns["delay"]), 1e-6 * pl.col(columns["goodput"])
        points = rows.select("series", x.alias("x"), y.alias("y"))
        series = {
            name: points.filter(series=name).select("x", "y").rows()
            for name in points["series"].unique(maintain_order=True)
        }
        if max(map(len, series.values()), default=0) < MIN_POINTS:
            raise self._error(
                f"an ellipse needs {MIN_POINTS} replicates with both metrics",
                f"sweep with --replicates {MIN_POINTS} or more",
                kind,
            )
        series |= {name: [] for name in names(self._sweep, lacking, "all runs") if name not in series}
        values = f"run with values of both {readable(chosen['goodput'])} and {readable(chosen['delay'])}"
        absent_ = absent(self._sweep, lacking, values)
        figure = cloud(series, "a run", absent_, delay=f"{readable(chosen['delay'])}, ms", sigma=sigma)
        return replace(figure, y_label=f"{readable(chosen['goodput'])}, Mbit/s")

    def _by_panel(self, kind: str, panel: str | None, draw: Callable[[SweepPlots], Figure]) -> Figure:
        """Return the figure that ``draw`` makes, with a panel for each label of the axis ``panel`` if it is given."""
        if panel is None:
            return self._titled(draw(self))
        return self._titled(grids.by_label(self._sweep, kind, panel, lambda part: draw(SweepPlots(part))))

    def sojourn(self, link: str | None = None, *, tail: bool = False, panel: str | None = None) -> Figure:
        """The distribution (CDF) of the times that packets spent in the queue of ``link``, all replicates together.

        There is a line for each arm and point of the grid. ``tail`` draws the share of packets that were there at least so
        long, on a logarithmic axis. By default the link is that whose mean queue is longest over all runs. ``panel`` names
        an axis, or "arm", with a panel for each of its labels.
        """
        if "sojourn_bins" not in self._sweep.tables:
            remedy = "set quantiles = true in a queue of the scenario, and sweep with --keep sojourn_bins"
            raise self._error("the sweep has no table `sojourn_bins`", remedy, "sojourn")
        of = self._link(link)
        return self._by_panel("sojourn", panel, lambda plots: plots._sojourn(of, tail=tail))

    def _sojourn(self, link: str, *, tail: bool) -> Figure:
        whole = (pl.col("link") == link) & (pl.col("class") == "all") & (pl.col("group") == "all")
        rows = self._table("sojourn_bins").filter(whole).collect()
        if not rows.height:
            raise self._error(f"no sojourn times of {link} were kept", "set quantiles = true in its queue", "sojourn")
        lacking = missing(self._sweep, rows)
        rows = named(self._sweep, rows, link, "sojourn")
        lines = rows["series"].unique(maintain_order=True)
        parts = {name: distribution.of_bins(rows.filter(series=name), tail=tail) for name in lines}
        figure = distribution.figure(parts, f"Sojourn times at {link}", tail=tail, exact=False)
        return self._with_absent(figure, lacking, f"sojourn times at {link}")

    def completion(self, *, tail: bool = False, panel: str | None = None) -> Figure:
        """The distribution (CDF) of the completion times of transactions in the measurement window, all replicates together.

        There is a line for each arm, point of the grid and group of flows. ``tail`` draws the share of transactions that
        took at least so long, on a logarithmic axis. ``panel`` names an axis, or "arm", with a panel for each of its labels.
        """
        if "transactions" not in self._sweep.tables:
            remedy = "sweep with --keep transactions"
            raise self._error("the sweep has no table `transactions`", remedy, "completion")
        figure = self._by_panel("completion", panel, lambda plots: plots._completion(tail=tail))
        return figure if panel is None else self._titled(replace(figure, title="Completion times of transactions"))

    def _completion(self, *, tail: bool) -> Figure:
        rows = self._table("transactions").filter(pl.col("measured")).drop_nulls("latency_s").collect()
        if not rows.height:
            raise self._error("no transaction ended in the measurement window", NO_TRANSACTION, "completion")
        groups = ["group"] if rows["group"].n_unique() > 1 else []
        lacking = missing(self._sweep, rows)
        rows = named(self._sweep, rows, "all", "completion", also=groups)
        figure = distribution.completion(rows, tail=tail)
        return self._with_absent(figure, lacking, "transaction that ended in the measurement window")

    def _with_absent(self, figure: Figure, lacking: pl.DataFrame, what: str) -> Figure:
        """Return ``figure`` with a row of nulls for each of the points ``lacking`` of the sweep, which have no ``what``."""
        rows = pl.DataFrame({"series": names(self._sweep, lacking, "all runs")}, schema={"series": pl.String})
        rows = pl.concat([figure.rows, rows], how="diagonal")
        return replace(figure, rows=rows, absent=absent(self._sweep, lacking, what))

    def _titled(self, figure: Figure) -> Figure:
        """Return ``figure`` with the part of the sweep in its title."""
        part = part_of(self._sweep)
        return with_only_name(replace(figure, title=f"{figure.title} ({part})") if part else figure)

    def _table(self, name: str) -> pl.LazyFrame:
        """The table ``name`` with its own columns under their names; see `axis_column` for axes."""
        both = [axis for axis in self._sweep.axes if axis in TABLES[name]]
        rows = self._sweep.table(name).rename({axis: axis_column(axis) for axis in both})
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

    def _error(self, missing: str, remedy: str, kind: str) -> EcnlabError:
        return refused(self._sweep, kind, missing, remedy)
