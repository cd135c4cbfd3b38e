"""The figures of a run: ``run.plot.queue()`` and the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ecnlab.errors import EcnlabError
from ecnlab.later import pl
from ecnlab.plots.figure import MOST_LINES, Figure
from ecnlab.quantities import quantity

if TYPE_CHECKING:
    from ecnlab.run import Run

TIME: Final = "time, s"

SAMPLED: Final = ("queue", "cwnd", "goodput")
"""Kinds of figures that are made of what the scenario's ``sample`` records."""

HEADER: Final = ("link", "connection", "from_sender", "protocol", "seq", "ack", "len", "flags")
"""What a packet is known by between its arrival at a queue and its leaving; its ECN field may change there."""

FLOWS: Final = 3
"""Windows that are drawn where no flow is named: more hide each other."""

MOST_POINTS: Final = 2000
"""Of a distribution: more cannot be told apart in print."""


class RunPlots:
    """The figures of a run. Each raises EcnlabError, with the remedy, where the run has not recorded what it shows."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def queue(self, link: str | None = None) -> Figure:
        """The queue of ``link`` over time, in packets, and its discipline's average where it keeps one.

        By default the link is that whose mean queue is longest.
        """
        rows = self._table("queue", "queue_series")
        link = self._link("queue", link)
        rows = rows.filter(pl.col("link") == link)
        parts = [
            _series("queue", rows, "packets"),
            _series("average", rows.drop_nulls("average_packets"), "average_packets"),
        ]
        return self._figure(parts, f"Queue of {link}", "queue, packets", shape="stairs")

    def cwnd(self, flows: Sequence[str] = ()) -> Figure:
        """The congestion windows of ``flows`` over time, in bytes; by default of the first three."""
        rows = self._table("cwnd", "flow_series")
        there = rows["flow"].unique(maintain_order=True).sort().to_list()
        missing = [name for name in flows if name not in there]
        if missing:
            raise self._error("cwnd", f"no flow is called {missing[0]!r}", f"there are {_some(there)}")
        shown = list(flows) or there[:FLOWS]
        if len(shown) > MOST_LINES:
            raise self._error("cwnd", f"{len(shown)} flows in one figure", f"name at most {MOST_LINES}")
        parts = [_series(name, rows.filter(pl.col("flow") == name), "cwnd_bytes", 1e-3) for name in shown]
        note = f"{len(shown)} of {len(there)} flows" if len(shown) < len(there) and not flows else ""
        return self._figure(parts, "Congestion window", "window, kB", shape="stairs", note=note)

    def goodput(self) -> Figure:
        """The goodput of each group of flows over time, in Mbit/s: what was delivered in order since the sample before."""
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
        if len(names) > MOST_LINES:
            raise self._error("goodput", f"{len(names)} groups of flows in one figure", "take them from `flow_series`")
        parts = [_series(name, found.filter(pl.col("group") == name), "goodput") for name in names]
        return self._figure(parts, "Goodput by group of flows", "goodput, Mbit/s", shape="stairs")

    def sojourn(self, link: str | None = None) -> Figure:
        """The distribution (CDF) of the times that packets spent in the queue of ``link``, in ms, from ``warmup`` on.

        By default the link is that whose mean queue is longest. Of packets with equal headers the first to come is
        taken as the first to go. Packets are left out where that is not sure, as one of them was dropped from the queue.
        """
        events = self._table("sojourn", "packets")
        link = self._link("sojourn", link)
        times, unsure = sojourns(events.filter(pl.col("link") == link))
        warmup = quantity(str(self._run.manifest["spec"].get("warmup", "0 s")))
        times = times.filter(pl.col("left_s") >= warmup).sort("sojourn_s")
        if not times.height:
            raise self._error("sojourn", f"no packet left the queue of {link}", "run longer, or shorten `warmup`")
        number = times.height
        share = (pl.int_range(1, number + 1) / number).alias("y")
        points = times.select(pl.lit(link).alias("series"), (1e3 * pl.col("sojourn_s")).alias("x"), share)
        step = -(-number // MOST_POINTS)
        kept = points.filter((pl.int_range(number) % step == 0) | (pl.int_range(number) == number - 1))
        x, y = "sojourn, ms", "share of packets"
        note = f"{unsure} packets left out: which of several equal ones was dropped is not known" if unsure else ""
        title = f"Time in the queue of {link}, {number} packets"
        return Figure(kept.rename({"x": x, "y": y}), x, y, title, "time in the queue, ms", y, "stairs", note=note)

    def _figure(self, parts: Sequence[pl.DataFrame], title: str, y: str, *, shape: str, note: str = "") -> Figure:
        rows = pl.concat([part for part in parts if part.height]).rename({"x": TIME, "y": y})
        return Figure(rows, TIME, y, title, TIME, y, "stairs" if shape == "stairs" else "line", note=note)

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
