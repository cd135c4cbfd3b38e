"""The figures of a run: ``run.plot.queue()`` and the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ecnlab.base.errors import EcnlabError
from ecnlab.base.lazy_imports import pl
from ecnlab.base.quantities import quantity
from ecnlab.folder.verified import StoredTables
from ecnlab.plots import distribution
from ecnlab.plots.cloud import cloud
from ecnlab.plots.figure import TIME, Figure, with_only_name
from ecnlab.plots.look import MAX_LINES, MAX_PANELS, panel_height

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult

AVERAGE: Final = "average_packets"
"""The column of laws that keep an average of the queue."""

SAMPLED: Final = ("queue", "cwnd", "goodput")
"""Kinds of figures that need the scenario's ``sample``."""

HEADER: Final = ("link", "connection", "from_sender", "protocol", "seq", "ack", "len", "flags")
"""Columns that identify a packet between its arrival at a queue and its departure; its ECN field may change there."""

QUEUE_DROPS: Final = ("drop_early", "drop_forced", "drop_tail")
"""Events of packets that a queue drops."""

FLOW_DROPS: Final = (*QUEUE_DROPS, "loss", "drop_box", "drop_tunnel")
"""Events of packets that do not arrive."""

NO_TRANSACTION: Final = 'it needs flows with traffic = "crr" that complete requests'

PANELS: Final = 12
"""Windows that are drawn as small multiples where no flow is named."""

FLOWS: Final = 3
"""Windows that are drawn where no flow is named: more hide each other."""

By: TypeAlias = Literal["group", "class"]
"""Keys with a line of their own in a distribution."""


class RunPlots:
    """The figures of a run. Each raises EcnlabError, with the remedy, if the run has not recorded its data."""

    def __init__(self, run: RunResult) -> None:
        self._run = run

    def queue(self, link: str | None = None) -> Figure:
        """The queue of ``link`` over time, in packets, and its discipline's average where it keeps one.

        If packet events were recorded, ticks below the axis show when the queue marked and dropped packets, with their
        numbers.
        By default the link is that whose mean queue is longest.
        """
        rows = self._table("queue", "queue_series")
        link = self._link("queue", link)
        rows = rows.filter(pl.col("link") == link)
        parts = [_series("queue", rows, "packets")]
        if AVERAGE in rows.columns:
            parts.append(_series("average", rows.drop_nulls(AVERAGE), AVERAGE))
        rugs = self._rugs(pl.col("link") == link, QUEUE_DROPS)
        figure = self._figure(parts, f"Queue of {link}", "queue, packets", shape="stairs")
        return replace(figure, rugs=None if rugs is None else rugs.drop("flow"))

    def cwnd(self, flows: Sequence[str] = (), *, panels: bool = False) -> Figure:
        """The congestion windows of ``flows`` over time, in kB (1000 bytes); by default of the first three.

        The figure begins at the end of the scenario's ``warmup``, unless a flow has no sample from there on;
        ``with_(start=0)`` shows all.
        ``panels`` draws each flow in a panel of its own, by default the first twelve, with shared axes. If packet events
        were recorded, a panel shows when the flow's data was marked and dropped or lost, with their numbers.
        """
        rows = self._table("cwnd", "flow_series")
        there = rows["flow"].unique(maintain_order=True).sort().to_list()
        missing = [name for name in flows if name not in there]
        if missing:
            raise self._error("cwnd", f"no flow is called {missing[0]!r}", f"there are {_some(there)}")
        shown = list(flows) or there[: PANELS if panels else FLOWS]
        most = MAX_PANELS if panels else MAX_LINES
        if len(shown) > most:
            also = "" if panels else f", or draw up to {MAX_PANELS} with --panels (panels=True)"
            raise self._error("cwnd", f"{len(shown)} flows in one figure", f"name at most {most}{also}")
        note = f"{len(shown)} of {len(there)} flows" if len(shown) < len(there) and not flows else ""
        if panels:
            return self._windows(rows, shown, note).from_(self._warmup)
        parts = [_series(name, rows.filter(pl.col("flow") == name), "cwnd_bytes", 1e-3) for name in shown]
        return self._figure(parts, "Congestion window", "window, kB", shape="stairs", note=note).from_(self._warmup)

    @property
    def _warmup(self) -> float:
        """The start of the measurement window in s."""
        return quantity(str(self._run.manifest["spec"]["warmup"]))

    def _windows(self, rows: pl.DataFrame, flows: Sequence[str], note: str) -> Figure:
        """The windows of ``flows`` as small multiples."""
        parts = []
        for name in flows:
            part = _series("window", rows.filter(pl.col("flow") == name), "cwnd_bytes", 1e-3)
            parts.append(part.select(pl.lit(name).alias("flow"), "series", "x", "y"))
        rugs = self._rugs(pl.col("flow").is_in(list(flows)) & pl.col("from_sender"), FLOW_DROPS)
        figure = self._figure(parts, "Congestion window", "window, kB", shape="stairs", note=note)
        return replace(figure, panel="flow", rugs=rugs, height=panel_height(len(flows)))

    def _rugs(self, which: pl.Expr, drops: Sequence[str]) -> pl.DataFrame | None:
        """When packets were marked, and dropped with one of the events ``drops``; None if no packet events are recorded."""
        if "packets" not in self._run.tables:
            return None
        name = pl.when(pl.col("event") == "mark").then(pl.lit("marks")).otherwise(pl.lit("drops")).alias("series")
        chosen = self._run_events().filter(which & pl.col("event").is_in(["mark", *drops]))
        found = chosen.select("flow", name, pl.col("time_s").alias(TIME)).collect()
        return found.sort("series", descending=True, maintain_order=True)

    def _run_events(self) -> pl.LazyFrame:
        """The table ``packets``; one in a folder is not loaded as a whole."""
        tables = self._run._tables
        if isinstance(tables, StoredTables):
            return pl.scan_parquet(tables.path("packets"))
        return self._run.table("packets").lazy()

    def goodput(self) -> Figure:
        """Return the goodput of each flow group over time, in Mbit/s: data delivered in order since the last sample."""
        rows = self._table("goodput", "flow_series")
        groups = self._run.table("flows").select(pl.col("name").alias("flow"), "group")
        before = pl.col("delivered_bytes").shift(1, fill_value=0).over("flow", order_by="time_s")
        interval = quantity(str(self._run.manifest["spec"]["sample"]))
        found = (
            rows.with_columns((pl.col("delivered_bytes").cast(pl.Float64) - before.cast(pl.Float64)).alias("gain"))
            .join(groups, on="flow", how="left")
            .group_by("group", "time_s")
            .agg((pl.col("gain").sum() * 8e-6 / interval).alias("goodput"))
            .sort("group", "time_s")
        )
        names = found["group"].unique(maintain_order=True).to_list()
        if len(names) > MAX_LINES:
            raise self._error("goodput", f"{len(names)} groups of flows in one figure", "take them from `flow_series`")
        parts = [_series(name, found.filter(pl.col("group") == name), "goodput") for name in names]
        return self._figure(parts, "Goodput by group of flows", "goodput, Mbit/s", shape="stairs")

    def sojourn(self, link: str | None = None, by: By | None = None, *, tail: bool = False) -> Figure:
        """The distribution (CDF) of the times that packets spent in the queue of ``link``, in ms, from ``warmup`` on.

        ``tail`` draws the share of packets that were there at least so long, on a logarithmic axis. ``by`` has a line for
        each flow ``"group"`` or ``"class"``. By default the link is that whose mean queue is longest. Times are those of the
        single packets, where packet events were recorded and ``by`` is not given; else of the histograms of ``quantiles``.
        """
        link = self._link("sojourn", link)
        title = f"Sojourn times at {link}"
        if by is None and "packets" in self._run.tables:
            times, unsure = self._times(link)
            part = distribution.of_times(times, tail=tail)
            note = f"{unsure} packets left out: which of several equal ones was dropped is not known" if unsure else ""
            title = f"{title}: {times.len():,} packets"
            return distribution.figure({link: part}, title, tail=tail, exact=True, note=note)
        bins = self._bins(link, by)
        if len(bins) > MAX_LINES:
            raise self._error("sojourn", f"{len(bins)} lines in one figure", "take them from `sojourn_bins`")
        parts = {name: distribution.of_bins(rows, tail=tail) for name, rows in bins.items()}
        return with_only_name(distribution.figure(parts, title, tail=tail, exact=False))

    def completion(self, *, tail: bool = False) -> Figure:
        """The distribution (CDF) of the completion times of transactions in the measurement window, in ms.

        It is the time from the client's SYN to the end of the response. There is a line for each group of flows. ``tail``
        draws the share of transactions that took at least so long, on a logarithmic axis.
        """
        there = "transactions" in self._run.tables
        rows = self._run.table("transactions").filter(pl.col("measured")).drop_nulls("latency_s") if there else None
        if rows is None or not rows.height:
            raise self._error("completion", "no transaction ended in the measurement window", NO_TRANSACTION)
        if (number := rows["group"].n_unique()) > MAX_LINES:
            raise self._error("completion", f"{number} groups of flows in one figure", "take `transactions`")
        return with_only_name(distribution.completion(rows.rename({"group": "series"}), tail=tail))

    def goodput_over_delay(self, sigma: float = 1.0) -> Figure:
        """Goodput of each flow over its queueing delay, with an ellipse for each group of flows (RFC 7928 §2.7).

        The delay is the mean of the flow's round-trip samples in excess of the least. Flows without them are left out.
        """
        flows = self._run.table("flows").drop_nulls(["rtt_mean_s", "rtt_min_s"]).filter(pl.col("goodput_bps") > 0)
        if not flows.height:
            raise self._error(
                "goodput-over-delay", "no flow has round-trip samples", "it needs TCP flows that send data"
            )
        groups = flows["group"].unique(maintain_order=True).to_list()
        if len(groups) > MAX_LINES:
            raise self._error("goodput-over-delay", f"{len(groups)} groups of flows in one figure", "take `flows`")
        delay = (1e3 * (pl.col("rtt_mean_s") - pl.col("rtt_min_s"))).alias("x")
        points = flows.select("group", delay, (pl.col("goodput_bps") * 1e-6).alias("y"))
        series = {group: points.filter(group=group).select("x", "y").rows() for group in groups}
        label = "mean round trip above the least, ms"
        return with_only_name(cloud(series, "a flow", "", delay=label, sigma=sigma))

    def _times(self, link: str) -> tuple[pl.Series, int]:
        """The single times in s, from ``warmup`` on, and of how many packets they are not sure."""
        times, unsure = sojourns(self._table("sojourn", "packets").filter(pl.col("link") == link))
        warmup = quantity(str(self._run.manifest["spec"].get("warmup", "0 s")))
        found = times.filter(pl.col("left_s") >= warmup)["sojourn_s"]
        if not found.len():
            raise self._error("sojourn", f"no packet left the queue of {link}", "run longer, or shorten `warmup`")
        return found, unsure

    def _bins(self, link: str, by: By | None) -> dict[str, pl.DataFrame]:
        """The bins of each line."""
        if "sojourn_bins" not in self._run.tables:
            has = "no table `sojourn_bins`" if by else "neither the table `packets` nor `sojourn_bins`"
            also = "" if by else "run with --events, or "
            raise self._error(
                "sojourn", f"the run has {has}", f"{also}set quantiles = true in the link's queue, and run again"
            )
        rows = self._run.table("sojourn_bins").filter(pl.col("link") == link)
        if not rows.height:
            kept = self._run.table("sojourn_bins")["link"].unique(maintain_order=True).to_list()
            remedy = f"set quantiles = true in its queue; there are {_some(kept)}" if kept else "run longer"
            raise self._error("sojourn", f"no sojourn times of {link} were kept", remedy)
        if by is None:
            return {link: rows.filter(pl.col("class") == "all", pl.col("group") == "all")}
        other = "group" if by == "class" else "class"
        lines = rows.filter(pl.col(by) != "all", pl.col(other) == "all")
        names = lines[by].unique(maintain_order=True).to_list()
        if not names:
            raise self._error("sojourn", f"the queue of {link} has no classes", "draw it by group, or as a whole")
        return {name: lines.filter(pl.col(by) == name) for name in names}

    def _figure(self, parts: Sequence[pl.DataFrame], title: str, y: str, *, shape: str, note: str = "") -> Figure:
        rows = pl.concat([part for part in parts if part.height]).rename({"x": TIME, "y": y})
        return with_only_name(
            Figure(rows, TIME, y, title, TIME, y, "stairs" if shape == "stairs" else "line", note=note)
        )

    def _table(self, kind: str, name: str) -> pl.DataFrame:
        if name not in self._run.tables:
            remedy = (
                'set sample = "100 ms" in the scenario'
                if kind in SAMPLED
                else ("run with --events (events=True), or set packets = true in the scenario")
            )
            raise self._error(kind, f"the run has no table `{name}`", f"{remedy}, and run again")
        rows = self._run.table(name)
        if not rows.height:
            raise self._error(kind, f"the table `{name}` has no rows", "run longer")
        return rows

    def _link(self, kind: str, link: str | None) -> str:
        links = self._run.table("links")
        names = links["link"].to_list()
        if link is None:
            return str(
                links.sort("queue_mean_packets", descending=True, nulls_last=True, maintain_order=True)["link"][0]
            )
        if link not in names:
            raise self._error(kind, f"no link is called {link!r}", f"there are {_some(names)}")
        return link

    def _error(self, kind: str, missing: str, remedy: str) -> EcnlabError:
        where = self._run.folder or self._run.manifest["title"]
        return EcnlabError(f"{where}: no figure `{kind}`: {missing}; {remedy}")


def sojourns(events: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """When each packet left the queue (``left_s``), how long it was there (``sojourn_s``); and how many are left out.

    ``events`` are those of one link, in their order.
    """
    place = pl.int_range(pl.len()).over([*HEADER, "event"])
    of = events.with_columns(place.alias("place"))
    came, left = (of.filter(pl.col("event") == name) for name in ("enqueue", "dequeue"))
    kinds = events.group_by(list(HEADER)).agg(
        (pl.col("event") == "enqueue").sum().alias("came"),
        (pl.col("event") == "dequeue").sum().alias("left"),
        pl.col("event").str.starts_with("drop_").any().alias("dropped"),
    )
    sure = kinds.filter(~pl.col("dropped") | (pl.col("came") <= 1) | (pl.col("came") == pl.col("left")))
    pairs = left.join(came, on=[*HEADER, "place"], suffix="_came").join(sure, on=list(HEADER), how="semi")
    waited = (pl.col("time_ps").cast(pl.Int64) - pl.col("time_ps_came").cast(pl.Int64)) / 1e12
    return pairs.select(pl.col("time_s").alias("left_s"), waited.alias("sojourn_s")), left.height - pairs.height


def _series(name: str, rows: pl.DataFrame, column: str, factor: float = 1.0) -> pl.DataFrame:
    y = pl.col(column).cast(pl.Float64) * factor
    return rows.select(pl.lit(name).alias("series"), pl.col("time_s").alias("x"), y.alias("y"))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
