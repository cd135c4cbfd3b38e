"""The guest's output as the tables of a run folder.

The columns are those of the simulator. Values that the kernel does not count are missing; ``docs/linux.md`` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from ecnlab import laws
from ecnlab.base.errors import EcnlabError
from ecnlab.base.quantities import number
from ecnlab.folder.columns import TABLES
from ecnlab.laws.kernel.xstats import XstatsError
from ecnlab.laws.kinds import Counts
from ecnlab.linux import sojourns, web
from ecnlab.linux.changes import mean_rate_bps
from ecnlab.linux.kernel import BUILD
from ecnlab.linux.plan import Plan
from ecnlab.linux.source import PACKAGE
from ecnlab.linux.topology import WIRE

Frames = dict[str, pl.DataFrame]

STATISTICS: Final = {"kind": pl.String, "own": pl.String}
"""The kernel's name of a discipline (TCA_KIND), and its own statistics (TCA_STATS_APP) in hexadecimal digits."""

TEXT: Final = frozenset({"name", "group", "from", "to", "link"})
WHOLE: Final = frozenset({"", "bytes", "count", "packets"})
"""Units of columns with whole numbers, except averages."""

ETHERNET_HEADER: Final = 14
"""Bytes that the kernel counts for a packet on the wire beyond IP's."""


def read(folder: Path, plan: Plan, spec: Mapping[str, Any]) -> Frames:
    """Every table of the run whose guest wrote into ``folder``."""
    queues = _decoded(pl.read_csv(folder / "queues.csv", schema_overrides=STATISTICS), plan)
    run_s, warm_s = plan.duration_ns / 1e9, plan.warmup_ns / 1e9
    queues_run, queues_warm = _split(queues, ["link", "host"], [])
    frames = {
        "queues": _queues(queues_warm, plan),
        "queues_run": _queues(queues_run, plan),
        "links": _links(queues_warm, queues_run, plan, run_s - warm_s),
        "links_run": _links(queues_run, queues_run, plan, run_s),
    }
    if any(link.quantiles for link in plan.links):
        passed = sojourns.read(folder / sojourns.PACKETS, plan.links)
        for name, start_ns in (("links", plan.warmup_ns), ("links_run", 0)):
            frames[name] = sojourns.with_quantiles(frames[name], passed, start_ns)
    if "sample" in spec:
        frames["queue_series"] = _queue_series(pl.read_csv(folder / "queue_series.csv"), plan)
    return in_order({**of_hosts(folder, plan, spec), **{name: _typed(name, frame) for name, frame in frames.items()}})


def of_hosts(folder: Path, plan: Plan, spec: Mapping[str, Any]) -> Frames:
    """Return the tables of flows, which are counted by hosts, for all kinds of links."""
    flows = pl.read_csv(folder / "flows.csv")
    run_s, warm_s = plan.duration_ns / 1e9, plan.warmup_ns / 1e9
    of_the_run = [
        "finished_ns",
        "connections",
        "connections_established",
        "ecn_connections",
        "ecn_fallbacks",
        "min_rtt_us",
    ]
    flows_run, flows_warm = _split(flows, ["flow"], of_the_run)
    frames = {
        "flows": _flows(flows_warm, plan, run_s - warm_s),
        "flows_run": _flows(flows_run, plan, run_s),
        "transactions": _transactions(pl.read_csv(folder / "transactions.csv"), plan),
    }
    if any("web" in flow.drawn for flow in plan.flows):
        rows = pl.read_csv(folder / "objects.csv", schema_overrides=web.TIMES)
        frames["objects"] = web.objects(rows, _named(plan), plan.drawn, plan.warmup_ns)
    if "sample" in spec:
        frames["flow_series"] = _flow_series(pl.read_csv(folder / "flow_series.csv"), plan)
    return {name: _typed(name, frame) for name, frame in frames.items()}


def in_order(frames: Frames) -> Frames:
    """``frames`` in the order of runs; others behind them."""
    return {name: frames[name] for name in (*TABLES, *frames) if name in frames}


def counts(law: str, kind: str, drops: int, own: bytes) -> Counts:
    """Return the counts of the kernel's discipline ``kind``, which implements the queue ``law`` of a scenario.

    Raises EcnlabError, with the expectation, for a discipline other than that of the law, and for unknown statistics.
    """
    known = laws.discipline(law)
    if kind not in known.kernel:
        raise EcnlabError(
            f"the kernel's discipline for `{law}` is {' or '.join(known.kernel) or 'not known'}, got `{kind}`"
        )
    try:
        return known.counts(drops, own)
    except XstatsError as error:
        remedy = f"use the source of Linux {PACKAGE[13:]} (`{BUILD}`)"
        raise EcnlabError(f"the kernel's statistics of `{law}` are not those expected: {error}; {remedy}") from error


def _decoded(rows: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """``rows`` with the counts of each queue in front of a link instead of its discipline's own statistics."""
    found: list[Counts | None] = [
        counts(plan.links[row["link"]].law, row["kind"], row["drops"], bytes.fromhex(row["own"] or ""))
        if row["host"] != WIRE
        else None
        for row in rows.iter_rows(named=True)
    ]
    columns = [
        pl.Series(name, [one and getattr(one, name) for one in found], dtype=pl.Int64) for name in Counts._fields
    ]
    return rows.drop(STATISTICS).with_columns(columns)


def _split(rows: pl.DataFrame, keys: list[str], states: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the counters at the end of the run, and their increase since the warm-up. ``states`` are no counters."""
    end, warm = (rows.filter(pl.col("phase") == phase).drop("phase").sort(keys) for phase in ("end", "warm"))
    counters = [name for name in end.columns if name not in (*keys, *states)]
    if warm.is_empty():
        return end, end
    return end, end.with_columns(end[name] - warm[name] for name in counters)


def _typed(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return ``frame`` with the columns of ``table``, in order and with the simulator's types; missing ones are null.

    It has the law columns that the kernel reports.
    """
    columns, of_laws = [], laws.columns(table.removesuffix("_run"))
    for name, column in TABLES[table].items():
        if name in of_laws and name not in frame.columns:
            continue
        kind: pl.DataType | type[pl.DataType] = pl.Float64
        if name in TEXT or (table == "flow_series" and name == "flow"):
            kind = pl.String
        elif name in ("ecn", "measured", "complete"):
            kind = pl.Boolean
        elif name in ("flow", "index", "session", "page"):
            kind = pl.UInt32
        elif column.unit in WHOLE and not column.fraction and "mean" not in name and "share" not in name:
            kind = pl.UInt64
        value = frame[name] if name in frame.columns else pl.Series(name, [None] * frame.height)
        columns.append(value.cast(kind).rename(name))
    return pl.DataFrame(columns)


def _named(plan: Plan) -> pl.DataFrame:
    """Return one row per flow with the values known in advance."""
    nodes = plan.drawn["nodes"]
    rows = [
        {
            "flow": i,
            "name": flow.drawn["name"],
            "group": flow.table["group"],
            "from": nodes[flow.drawn["from"]],
            "to": nodes[flow.drawn["to"]],
            "start_s": flow.drawn["start_ps"] / 1e12,
            "request_bytes": number(flow.table["traffic"].get("request", "0 B")),
            "response_bytes": number(flow.table["traffic"].get("response", "0 B")),
        }
        for i, flow in enumerate(plan.flows)
    ]
    return pl.DataFrame(rows)


def _flows(rows: pl.DataFrame, plan: Plan, span_s: float) -> pl.DataFrame:
    seconds = pl.col("finished_ns").cast(pl.Float64) / 1e9
    return (
        _named(plan)
        .join(rows, on="flow", maintain_order="left")
        .with_columns(
            finish_s=seconds,
            ecn=pl.col("ecn_connections") > 0,
            bytes_delivered="delivered",
            goodput_bps=pl.col("delivered") * 8.0 / span_s,
            segments_sent="segs_out",
            data_segments_sent="data_segs_out",
            ce_received="received_ce",
            rtt_min_s=pl.col("min_rtt_us").cast(pl.Float64) / 1e6,
        )
    )


def _transactions(rows: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    if rows.is_empty():
        return pl.DataFrame()
    times = {f"{what}_s": pl.col(f"{what}_ns") / 1e9 for what in ("start", "established", "end")}
    return (
        rows.with_columns(
            **times,
            latency_s=(pl.col("end_ns") - pl.col("start_ns")) / 1e9,
            measured=pl.col("end_ns") >= plan.warmup_ns,
        )
        .join(_named(plan).drop("start_s"), on="flow", maintain_order="left")
        .sort("end_ns", "flow", maintain_order=True)
    )


def _of_queues(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of the queues in front of links, one a link, in their order."""
    return rows.filter(pl.col("host") != WIRE).sort("link")


def _queues(rows: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """The kernel counts packets, not flows: there is the group of all only."""
    own = _of_queues(rows)
    return pl.DataFrame(
        {
            "link": [plan.links[i].name for i in own["link"]],
            "group": ["all"] * own.height,
            "arrived": own["packets"] + own["drops"] + own["qlen"],
            "departed": own["packets"],
            "departed_bytes": own["bytes"],
            "dropped": own["drops"],
            **{name: own[name] for name in Counts._fields},
        }
    )


def _links(rows: pl.DataFrame, run: pl.DataFrame, plan: Plan, span_s: float) -> pl.DataFrame:
    own, wire = _of_queues(rows), rows.filter(pl.col("host") == WIRE).sort("link")
    own_run, wire_run = _of_queues(run), run.filter(pl.col("host") == WIRE).sort("link")
    nodes, links = plan.drawn["nodes"], [plan.links[i] for i in own["link"]]
    end, start = plan.duration_ns, plan.duration_ns - round(span_s * 1e9)
    rate = pl.Series([mean_rate_bps(link, start, end) for link in links], dtype=pl.Float64)
    mean = own["sum_packets"] / own["samples"]
    departed = own["packets"]
    return pl.DataFrame(
        {
            "link": [link.name for link in links],
            "from": [nodes[link.origin] for link in links],
            "to": [nodes[link.target] for link in links],
            "rate_bps": rate,
            "delay_s": [link.delay_ps / 1e12 for link in links],
            "entered": departed + own["drops"] + own["qlen"],
            "delivered": wire["packets"],
            "delivered_bytes": wire["bytes"] - ETHERNET_HEADER * wire["packets"],
            "lost": wire["drops"],
            "held": own_run["qlen"] + own_run["packets"] - wire_run["packets"] - wire_run["drops"],
            "utilisation": own["bytes"] * 8.0 / (rate * span_s),
            "queue_mean_packets": mean,
            "queue_mean_bytes": own["sum_bytes"] / own["samples"],
            "queue_var_packets": own["sum_squares"] / own["samples"] - mean**2,
            "sojourn_mean_s": mean * span_s / departed,
        }
    ).with_columns(pl.col(pl.Float64).fill_nan(None))


def _queue_series(rows: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    return rows.with_columns(
        time_s=pl.col("time_ns") / 1e9, link=pl.Series([plan.links[i].name for i in rows["link"]], dtype=pl.String)
    )


def _flow_series(rows: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    return rows.with_columns(
        time_s=pl.col("time_ns") / 1e9,
        flow=pl.Series([plan.flows[i].drawn["name"] for i in rows["flow"]], dtype=pl.String),
        srtt_s=pl.col("srtt_us").cast(pl.Float64) / 1e6,
        rto_s=pl.col("rto_us").cast(pl.Float64) / 1e6,
        delivered_bytes="delivered",
    )
