"""Queues of a run over time, their counters, and the times that packets spent in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.columns import QUANTILES, TABLES
from ecnlab.folder.congestion import busiest_first
from ecnlab.folder.few_samples import sojourns_of, with_remarks
from ecnlab.folder.series import BIN, Bins, along, bins_of
from ecnlab.report import Chart, Line, Rug, Table
from ecnlab.report.words import meaning, recorded, table
from ecnlab.results.links import congested
from ecnlab.scenario.links import law_of
from ecnlab.stages.events import rugs
from ecnlab.stages.registry import stage

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult

AVERAGE: Final = "average_packets"
"""The column of laws that keep an average of the queue."""

LINKS: Final = (
    *("link", "rate_bps", "utilisation", "queue_mean_packets", "sojourn_mean_s", *QUANTILES, "sojourn_max_s"),
    *("delivered", "lost"),
)
QUEUES: Final = ("link", "group", "arrived", "marks", "early_drops", "forced_drops", "tail_drops", "departed")
CLASSES: Final = ("link", "class", "departed", "marks", "dropped", "queue_mean_packets", "sojourn_mean_s", *QUANTILES)

OPEN: Final = 6
"""Rows of the table of links that is not folded."""

ROWS: Final = 200
"""Maximum number of rows of any other table."""

MAX_CLASSES: Final = 6
"""Maximum number of lines of one chart."""


@stage("queue-over-time", of="run", needs=("queue_series",))
def queue_over_time(run: RunResult) -> list[Chart]:
    """The queue length of each congested link in packets, with the law's average queue where it keeps one."""
    bins = bins_of(run.manifest["spec"])
    names = congested(run)
    rows = run.scan("queue_series").filter(pl.col("link").is_in(names))
    averages = AVERAGE in run.manifest["tables"]["queue_series"]["types"]
    wanted = [pl.col("packets").mean().alias("mean"), pl.col("packets").max().alias("largest")]
    wanted += [pl.col(AVERAGE).mean().alias("average")] if averages else []
    found = bins.over(rows, ["link"], *wanted)
    law = {name: law_of(run.manifest["spec"], name) for name in names}
    events = rugs(run, "link", names, bins)
    return [
        _queue_chart(name, law[name], found.filter(link=name), bins, events.get(name, []))
        for name in names
        if (found["link"] == name).any()
    ]


def _queue_chart(link: str, law: str, rows: pl.DataFrame, bins: Bins, events: list[Rug]) -> Chart:
    numbers = rows[BIN].to_list()
    lines = [Line("queue" if bins.exact else "mean queue", along(rows, "mean", numbers))]
    if not bins.exact:
        lines.append(Line("largest sample", along(rows, "largest", numbers), 2, thin=True))
    if "average" in rows.columns and rows["average"].null_count() < rows.height:
        lines.append(Line(f"average of {law}", along(rows, "average", numbers), 1))
    caption = f"Queue length over time.{bins.note}"
    times = [bins.time(one) for one in numbers]
    return Chart(f"Queue of {link} ({law})", caption, times, lines, "packets", rugs=events)


@stage("classes-over-time", of="run", needs=("class_series",))
def classes_over_time(run: RunResult) -> list[Chart]:
    """The queue length of each class of the congested links."""
    bins = bins_of(run.manifest["spec"])
    names = congested(run)
    rows = run.scan("class_series").filter(pl.col("link").is_in(names), pl.col("class") != "all")
    found = bins.over(rows, ["link", "class"], pl.col("packets").mean().alias("mean"))
    return [
        _lines(f"Classes of {name}", "Queue length of each class", found.filter(link=name), "class", "packets", bins)
        for name in names
        if (found["link"] == name).any()
    ]


@stage("law-over-time", of="run", needs=("queue_series",))
def law_over_time(run: RunResult) -> list[Chart]:
    """Probabilities that the laws of the congested links keep, such as PIE's drop probability."""
    bins = bins_of(run.manifest["spec"])
    types = run.manifest["tables"]["queue_series"]["types"]
    columns = [name for name, column in TABLES["queue_series"].items() if name in types and column.unit == "ratio"]
    names = congested(run)
    if not columns:
        return []
    rows = run.scan("queue_series").filter(pl.col("link").is_in(names))
    found = bins.over(rows, ["link"], *(pl.col(name).mean() for name in columns))
    charts = []
    for link in names:
        one = found.filter(link=link)
        varied = [name for name in columns if one[name].n_unique() > 1]
        long = one.unpivot(varied, index=["link", BIN], variable_name="column", value_name="mean").drop_nulls("mean")
        if varied:
            caption = "; ".join(f"{name}: {meaning('queue_series', name)}" for name in varied)
            charts.append(_lines(f"State of the law at {link}", caption, long, "column", "probability", bins))
    return charts


def _lines(title: str, caption: str, rows: pl.DataFrame, by: str, unit: str, bins: Bins) -> Chart:
    """A line for each of the first values of ``by``."""
    there = rows[by].unique(maintain_order=True).to_list()
    shown = there[:MAX_CLASSES]
    numbers = rows[BIN].unique().sort().to_list()
    lines = [Line(str(one), along(rows.filter(pl.col(by) == one), "mean", numbers), i) for i, one in enumerate(shown)]
    rest = f" {len(shown)} of {len(there)}." if len(shown) < len(there) else ""
    return Chart(title, f"{caption}.{rest}{bins.note}", [bins.time(one) for one in numbers], lines, unit)


@stage("links", of="run", needs=("links",))
def links(run: RunResult) -> list[Table]:
    """The busiest links; folded, all of them."""
    first = of_links(run, "links", "Links, in the measurement window", LINKS, most=OPEN)
    if run.table("links").height <= OPEN:
        return [first]
    return [first, of_links(run, "links", "All links", LINKS, folded=True)]


@stage("queues", of="run", needs=("queues",))
def queues(run: RunResult) -> Table:
    """Packets at each queue, marks, and drops by cause; folded."""
    return of_links(
        run, "queues", "Queues: packets, marks, and drops by cause, for each group of flows", QUEUES, folded=True
    )


@stage("classes", of="run", needs=("classes",))
def classes(run: RunResult) -> Table:
    """Packets and delays of each class; folded."""
    return of_links(run, "classes", "Classes: packets, marks, drops and delays", CLASSES, folded=True)


def of_links(
    run: RunResult, name: str, caption: str, columns: Sequence[str], *, folded: bool = False, most: int = ROWS
) -> Table:
    """Return the table ``name`` with congested links first, with those of ``columns`` that have values."""
    rows = run.table(name)
    ordered = busiest_first(rows, run.table("links") if "links" in run.tables else None)
    queues = run.table("queues") if "queues" in run.tables else None
    remarked = with_remarks(ordered, sojourns_of(ordered, queues))
    return table(caption, recorded(remarked, columns), folded=folded, most=most)
