"""Flows of a run: goodput over time, windows, means of groups, and completion times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.columns import PREDICTION
from ecnlab.folder.congestion import group_means
from ecnlab.folder.ecn_fallback import shown
from ecnlab.report import Chart, Line, Table
from ecnlab.stages.registry import stage
from ecnlab.stages.series import BIN, Bins, along, bins_of
from ecnlab.stages.words import counted, recorded, table

if TYPE_CHECKING:
    from ecnlab.runs.run import Run

FLOWS: Final = (
    *("name", "group", "ecn", "goodput_bps", "retransmits", "timeouts", "fast_recoveries", "ecn_reductions"),
    *("rtt_mean_s", "rtt_min_s", "finish_s", "exchanges"),
)
"""Columns of the table of flows, as far as recorded."""

MOST_FLOWS: Final = 4
"""Windows that are drawn: more hide each other."""

MOST_GROUPS: Final = 6

QUANTILES: Final = {"median": 0.5, "p90": 0.9, "p99": 0.99}
"""Quantiles of completion times, of single values: the least value that at least this share does not exceed."""


@stage("goodput-over-time", of="run", needs=("flow_series", "flows"))
def goodput_over_time(run: Run) -> Chart:
    """Goodput of each flow group in Mb/s: payload delivered in order in each bin."""
    bins = bins_of(run.manifest["spec"])
    found = _gains(run, bins)
    there = run.table("flows")["group"].unique(maintain_order=True).to_list()
    groups = [group for group in there if (found["group"] == group).any()][:MOST_GROUPS]
    numbers = found[BIN].unique().sort().to_list()
    lines = [Line(group, along(found.filter(group=group), "goodput", numbers), i) for i, group in enumerate(groups)]
    rest = f" The first {len(groups)} of {counted(len(there), 'group')}." if len(groups) < len(there) else ""
    caption = f"Payload delivered in order, of all flows of a group together.{rest}{bins.said}"
    return Chart("Goodput of each group", caption, [bins.time(one) for one in numbers], lines, "Mb/s")


def _gains(run: Run, bins: Bins) -> pl.DataFrame:
    """Return the goodput of each group in each bin in Mb/s.

    The last bin may have fewer samples: it ends with the run, and its rate is over the time that it covers.
    """
    delivered = bins.over(
        run.scan("flow_series"), ["flow"], pl.col("delivered_bytes").max().cast(pl.Float64).alias("up_to")
    )
    last = int(delivered[BIN].max())  # type: ignore[arg-type]
    samples = run.scan("flow_series").select(pl.col("time_s").max()).collect().item() / bins.sample_s
    size = pl.when(pl.col(BIN) == last).then(round(samples) + 1 - last * bins.size).otherwise(bins.size)
    groups = run.table("flows").select(pl.col("name").alias("flow"), "group")
    gain = pl.col("up_to") - pl.col("up_to").shift(1, fill_value=0.0).over("flow", order_by=BIN)
    return (
        delivered.with_columns(gain.alias("gain"))
        .join(groups, on="flow", how="left", maintain_order="left")
        .group_by("group", BIN, maintain_order=True)
        .agg(pl.col("gain").sum())
        .with_columns((8e-6 * pl.col("gain") / (size * bins.sample_s)).alias("goodput"))
        .sort("group", BIN)
    )


@stage("windows", of="run", needs=("flow_series", "flows"))
def windows(run: Run) -> Chart | None:
    """Congestion windows of the first flows over time, in kB."""
    bins = bins_of(run.manifest["spec"])
    there = run.table("flows")["name"].to_list()
    rows = run.scan("flow_series").filter(pl.col("flow").is_in(there[:MOST_FLOWS]), pl.col("cwnd_bytes").is_not_null())
    found = bins.over(rows, ["flow"], (pl.col("cwnd_bytes").mean() * 1e-3).alias("mean"))
    names = [name for name in there[:MOST_FLOWS] if (found["flow"] == name).any()]
    if not names:
        return None
    numbers = found[BIN].unique().sort().to_list()
    lines = [Line(name, along(found.filter(flow=name), "mean", numbers), i) for i, name in enumerate(names)]
    rest = f"; the first {len(names)} of {counted(len(there), 'flow')}" if len(names) < len(there) else ""
    caption = f"Congestion windows of single flows{rest}.{bins.said}"
    return Chart("Congestion window", caption, [bins.time(one) for one in numbers], lines, "kB")


@stage("groups", of="run", needs=("flows",))
def groups(run: Run) -> Table:
    """Number and means of the flows of each group."""
    means = group_means(run.table("flows"), FLOWS)
    return table("Groups of flows: means over their flows", recorded(means, means.columns))


@stage("flows", of="run", needs=("flows",))
def flows(run: Run) -> Table:
    """Every flow; folded."""
    rows = run.table("flows")
    return table(f"{counted(rows.height, 'flow')}, one a row", recorded(shown(rows), FLOWS), folded=True)


@stage("completion-times", of="run", needs=("transactions",))
def completion_times(run: Run) -> Table | None:
    """Quantiles of the completion times of transactions, for each group."""
    done = run.scan("transactions").filter(pl.col("measured")).select("group", "latency_s").collect()
    return _times(done, "latency_s", "Completion times of transactions")


@stage("object-times", of="run", needs=("objects",))
def object_times(run: Run) -> Table | None:
    """Quantiles of the delays of web objects, for each group."""
    done = run.table("objects").filter(pl.col("measured")).drop_nulls("delay_s")
    return _times(done, "delay_s", "Delays of web objects that were transferred in the measurement window")


def _times(rows: pl.DataFrame, column: str, caption: str) -> Table | None:
    if rows.is_empty():
        return None
    time = pl.col(column)
    quantiles = [time.quantile(share, "higher").alias(f"{name}_s") for name, share in QUANTILES.items()]
    found = rows.group_by("group", maintain_order=True).agg(
        pl.len().alias("completed"), time.mean().alias("mean_s"), *quantiles, time.max().alias("longest_s")
    )
    return table(caption, found.sort("group"))


@stage("prediction", of="run", needs=("prediction",))
def prediction(run: Run) -> Table:
    """The closed forms' prediction, one row for each flow table of the scenario."""
    rows = run.table("prediction")
    return table("Prediction of the closed forms, for one flow of each row", recorded(rows, list(PREDICTION)))
