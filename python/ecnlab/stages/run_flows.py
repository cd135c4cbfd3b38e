"""Flows of a run: goodput over time, windows, means of groups, and completion times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.quantities import quantity
from ecnlab.folder.columns import PREDICTION
from ecnlab.folder.congestion import group_means
from ecnlab.folder.ecn_fallback import shown
from ecnlab.folder.series import BIN, Bins, along, bins_of, goodput, reported_marks
from ecnlab.report import Chart, Line, Multiples, Rug, Table
from ecnlab.report.words import counted, listed, meaning, recorded, table
from ecnlab.stages.events import rugs
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult

FLOWS: Final = (
    *("name", "group", "ecn", "goodput_bps", "retransmits", "timeouts", "fast_recoveries", "ecn_reductions"),
    *("rtt_mean_s", "rtt_min_s", "finish_s", "exchanges"),
)
"""Columns of the table of flows, as far as recorded."""

MAX_FLOWS: Final = 4
"""Flows with charts of their own: the first."""

MAX_GROUPS: Final = 6

SHARES: Final = ("alpha", "prague_alpha")
"""Columns of window laws that estimate the marked share of their data."""


@stage("goodput-over-time", of="run", needs=("flow_series", "flows"))
def goodput_over_time(run: RunResult) -> Chart:
    """Goodput of each flow group in Mb/s: payload delivered in order in each bin."""
    bins = bins_of(run.manifest["spec"])
    found = goodput(run.scan("flow_series"), run.table("flows"), bins)
    there = run.table("flows")["group"].unique(maintain_order=True).to_list()
    sampled = [group for group in there if (found["group"] == group).any()]
    groups = sampled[:MAX_GROUPS]
    numbers = found[BIN].unique().sort().to_list()
    lines = [Line(group, along(found.filter(group=group), "goodput", numbers), i) for i, group in enumerate(groups)]
    rest = f" The first {len(groups)} of {counted(len(sampled), 'group')}." if len(groups) < len(sampled) else ""
    without = [group for group in there if group not in sampled]
    rest += f" Not sampled, as only TCP is: {listed(without)}." if without else ""
    caption = f"Payload delivered in order, of all flows of a group together.{rest}{bins.note}"
    return Chart("Goodput of each group", caption, [bins.time(one) for one in numbers], lines, "Mb/s")


@stage("windows", of="run", needs=("flow_series", "flows"))
def windows(run: RunResult) -> Multiples | None:
    """Congestion windows of the first flows over time, with their marks and drops where packet events were recorded."""
    bins = bins_of(run.manifest["spec"])
    first = _first(run)
    begin = _begin(run, first)
    events = {flow: _from(rugs_, begin) for flow, rugs_ in rugs(run, "flow", first, bins).items()}
    drawn = _small(run, pl.col("cwnd_bytes") * 1e-3, "window", "kB", bins, events, begin)
    dense = " Strokes: marks and drops, at most one of a kind in each point of time." if events else ""
    after = f" After the warm-up of {begin:g} s." if begin else ""
    return Multiples("Congestion windows", f"{_which(run, drawn)}{after}{bins.note}{dense}", drawn) if drawn else None


def _begin(run: RunResult, flows: list[str]) -> float:
    """Return the end of the warm-up in s; 0 if one of ``flows`` with samples has none from there on."""
    warmup = quantity(str(run.manifest["spec"]["warmup"]))
    of = run.scan("flow_series").filter(pl.col("flow").is_in(flows), pl.col("cwnd_bytes").is_not_null())
    last = of.group_by("flow").agg(pl.col("time_s").max()).collect()["time_s"]
    return warmup if (last >= warmup).all() else 0.0


def _from(events: list[Rug], begin: float) -> list[Rug]:
    """Return the events from ``begin`` on, in s, without kinds that have none."""
    kept = [replace(one, times=[time for time in one.times if time >= begin]) for one in events]
    return [one for one in kept if one.times]


@stage("marked-share", of="run", needs=("flow_series", "flows"))
def marked_share(run: RunResult) -> list[Multiples]:
    """The estimates of the marked share (alpha) of the first flows, of window laws that keep one."""
    bins = bins_of(run.manifest["spec"])
    types = run.manifest["tables"]["flow_series"]["types"]
    found = []
    for name in (one for one in SHARES if one in types):
        if drawn := _small(run, pl.col(name), name, "ratio", bins, {}):
            caption = f"{meaning('flow_series', name)}. {_which(run, drawn)}{bins.note}"
            found.append(Multiples(f"Estimate of the marked share: {name}", caption, drawn))
    return found


@stage("marks-per-rtt", of="run", needs=("flow_series", "flows"))
def marks_per_rtt(run: RunResult) -> Multiples | None:
    """Marks that ACKs reported per round trip, of the first flows whose feedback counts marks; none without a mark."""
    if "bytes_marked" not in run.manifest["tables"]["flow_series"]["types"]:  # a folder of an older version
        return None
    bins = bins_of(run.manifest["spec"])
    found = reported_marks(run.scan("flow_series").filter(pl.col("flow").is_in(_first(run))), run.table("flows"), bins)
    if not (found["marks"] > 0).any():
        return None
    drawn = _charts(run, found.rename({"marks": "mean"}), "marks", "segments", bins, {})
    caption = (
        "Increase of bytes_marked, in segments of the flow's mean payload (bytes_sent ÷ data_segments_sent), "
        f"× srtt_s ÷ time between samples. {_which(run, drawn)}{bins.note}"
    )
    return Multiples("Marks per round trip", caption, drawn)


def _first(run: RunResult) -> list[str]:
    return run.table("flows")["name"].head(MAX_FLOWS).to_list()


def _which(run: RunResult, drawn: list[Chart]) -> str:
    there = run.table("flows").height
    return "Every flow." if len(drawn) == there else f"{len(drawn)} of {counted(there, 'flow')}."


def _small(
    run: RunResult,
    column: pl.Expr,
    name: str,
    unit: str,
    bins: Bins,
    events: Mapping[str, list[Rug]],
    begin: float = 0.0,
) -> list[Chart]:
    """A small chart of a ``column`` of `flow_series`, from ``begin`` on, for each of the first flows that have it."""
    of_flow = pl.col("flow").is_in(_first(run))
    rows = run.scan("flow_series").filter(of_flow, column.is_not_null(), pl.col("time_s") >= begin)
    return _charts(run, bins.over(rows, ["flow"], column.mean().alias("mean")), name, unit, bins, events)


def _charts(
    run: RunResult, found: pl.DataFrame, name: str, unit: str, bins: Bins, events: Mapping[str, list[Rug]]
) -> list[Chart]:
    """A small chart of the column ``mean`` of ``found`` for each of the first flows in it; ``found`` has bins of flows."""
    charts = []
    for flow in (one for one in _first(run) if (found["flow"] == one).any()):
        own = found.filter(flow=flow)
        line = Line(name, own["mean"].to_list())
        times = [bins.time(one) for one in own[BIN]]
        charts.append(Chart(flow, "", times, [line], unit, rugs=events.get(flow, []), height=150))
    return charts


@stage("groups", of="run", needs=("flows",))
def groups(run: RunResult) -> Table:
    """Number and means of the flows of each group."""
    means = group_means(run.table("flows"), FLOWS)
    return table("Groups of flows: means over their flows", recorded(means, means.columns))


@stage("flows", of="run", needs=("flows",))
def flows(run: RunResult) -> Table:
    """Every flow; folded."""
    rows = run.table("flows")
    return table(f"{counted(rows.height, 'flow')}, one a row", recorded(shown(rows), FLOWS), folded=True)


@stage("prediction", of="run", needs=("prediction",))
def prediction(run: RunResult) -> Table:
    """The closed forms' prediction, one row for each flow table of the scenario."""
    rows = run.table("prediction")
    return table("Prediction of the closed forms, for one flow of each row", recorded(rows, list(PREDICTION)))
