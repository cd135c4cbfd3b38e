"""Distributions of a run: times in the queue, and completion times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.folder import completion
from ecnlab.folder.columns import QUANTILES as SOJOURN_QUANTILES
from ecnlab.folder.few_samples import with_remarks
from ecnlab.report import Chart, Line, Table
from ecnlab.report.words import counted, table
from ecnlab.results.links import busiest, congested
from ecnlab.stages.registry import stage
from ecnlab.stages.run_queues import of_links

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult

SOJOURNS: Final = ("link", "group", "departed", "sojourn_mean_s", *SOJOURN_QUANTILES, "sojourn_max_s")

MAX_LINES: Final = 6

POINTS: Final = 300
"""Maximum number of points of a distribution."""

SHARE: Final = "share"
"""Unit of the y axis of a distribution."""


@stage("sojourn-quantiles", of="run", needs=("sojourns",))
def sojourn_quantiles(run: RunResult) -> Table:
    """Mean and quantiles of the queueing delay of each flow group."""
    return of_links(run, "sojourns", "Queueing delay of each group of flows", SOJOURNS)


@stage("sojourn-distribution", of="run", needs=("sojourn_bins",))
def sojourn_distribution(run: RunResult) -> list[Chart]:
    """The distribution of queueing delays at each congested link whose queue keeps them, for each flow group."""
    bins = run.table("sojourn_bins").filter(pl.col("class") == "all")
    there = [name for name in busiest(run)["link"] if (bins["link"] == name).any()]
    names = [name for name in congested(run) if name in there] or there[:1]
    return [_sojourns(name, bins.filter(link=name)) for name in names]


def _sojourns(link: str, bins: pl.DataFrame) -> Chart:
    groups = bins.filter(pl.col("group") != "all")["group"].unique(maintain_order=True).to_list()
    shown = groups[:MAX_LINES] if len(groups) > 1 else ["all"]
    ends = bins["to_s"].unique().sort()
    thin = _thinned(ends)
    lines = []
    for style, group in enumerate(shown):
        rows = bins.filter(group=group).sort("to_s")
        share = rows["packets"].cum_sum() / rows["packets"].sum()
        lines.append(Line("all packets" if group == "all" else group, _at(rows["to_s"], share, thin), style))
    caption = "Share of packets that were in the queue at most so long, in the measurement window."
    return Chart(f"Queueing delay at {link}", caption, [1e3 * t for t in thin], lines, SHARE, x="time in the queue, ms")


def _at(ends: pl.Series, share: pl.Series, times: pl.Series) -> list[float]:
    """Return the share up to each of ``times``, for sorted ``ends`` of bins with their cumulated ``share``."""
    steps = pl.DataFrame({"t": ends, "share": share})
    requested = pl.DataFrame({"t": times})
    return requested.join_asof(steps, on="t", strategy="backward")["share"].fill_null(0.0).to_list()


def _thinned(values: pl.Series) -> pl.Series:
    """Return at most about `POINTS` of sorted ``values``, with the first and the last."""
    step = max(math.ceil(values.len() / POINTS), 1)
    return pl.concat([values.gather_every(step), values.tail(1)]).unique().sort()


@stage("completion-times", of="run", needs=("transactions",))
def completion_times(run: RunResult) -> list[Chart | Table]:
    """Quantiles and distribution of the completion times of transactions, for each group."""
    done = run.scan("transactions").filter(pl.col("measured")).select("group", "latency_s").collect()
    return _times(done, "latency_s", "Completion times of transactions")


@stage("object-times", of="run", needs=("objects",))
def object_times(run: RunResult) -> list[Chart | Table]:
    """Quantiles and distribution of the delays of web objects, for each group."""
    done = run.table("objects").filter(pl.col("measured")).drop_nulls("delay_s").select("group", "delay_s")
    return _times(done, "delay_s", "Delays of transferred web objects")


def _times(rows: pl.DataFrame, column: str, caption: str) -> list[Chart | Table]:
    if rows.is_empty():
        return []
    by_group = {
        str(key[0]): group[column].sort() for key, group in rows.sort("group").group_by("group", maintain_order=True)
    }
    times = completion.quantiles(rows.lazy(), column)
    return [
        table(caption, with_remarks(times, times["completed"])),
        _distribution(by_group, rows[column].sort(), caption),
    ]


def _distribution(groups: Mapping[str, pl.Series], all_: pl.Series, title: str) -> Chart:
    """The share of each group's times, sorted, that are at most as long as each of the thinned times of all."""
    times = _thinned(all_)
    shown = list(groups)[:MAX_LINES]
    lines = [
        Line(name, [n / groups[name].len() for n in groups[name].search_sorted(times, "right")], style, steps=True)
        for style, name in enumerate(shown)
    ]
    rest = f" The first {len(shown)} of {counted(len(groups), 'group')}." if len(shown) < len(groups) else ""
    return Chart(title, f"Share that took at most so long.{rest}", times.to_list(), lines, SHARE, x="time, s")
