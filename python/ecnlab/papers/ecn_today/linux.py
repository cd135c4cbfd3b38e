"""ECN today on the Linux kernel: the same experiments in both engines, and the rule by which they agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ecnlab.agreement.means import TONES, WORDS, judge_between
from ecnlab.base.stats import Interval, paired_difference, ratio_of_means
from ecnlab.papers import blocks
from ecnlab.papers.ecn_today.grid import GRID, QUEUES
from ecnlab.papers.engine_rows import KERNEL, SIMULATOR, schema
from ecnlab.papers.judge import pairs, per_seed
from ecnlab.papers.material import Material
from ecnlab.papers.measuring import mean_of
from ecnlab.papers.paper import Step, Tables
from ecnlab.papers.published import Metric
from ecnlab.papers.references import quantity
from ecnlab.report import Table
from ecnlab.report.page import Cell

STEPS: Final = (
    Step("linux-alone", 3, 10),
    Step("linux-fast", 3, 10),
    Step("linux-together", 3, 10),
    Step("linux-transactions", 3, 10, ("transactions",)),
    Step("linux-pages", 3, 10, ("objects",)),
    Step("linux-changing", 3, 10, ("transactions",)),
    Step("linux-load", 3, 10),
    Step("linux-converted", 3, 10),
)
"""The steps of both engines."""

HOSTS: Final = {"ecn": "cubic-ecn", "plain": "cubic"}
"""Kinds of host of the clients that share a queue, by group."""

PLACE: Final = [key for key in GRID.keys if key != "variant"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The engines agree if the 95 % interval of simulator less (or over) kernel lies within ``low`` to ``high``."""

    low: float
    high: float
    ratio: bool
    stated: str
    """The limits as the page states them."""


RULES: Final = {
    "goodput_change": Limits(-0.05, 0.05, False, "5 % of the goodput of the other kind of host"),
    "retransmitted_part": Limits(-0.01, 0.01, False, "1 % of the segments"),
    "bottleneck_p99_ms": Limits(1 / 1.25, 1.25, True, "a factor of 1.25"),
    "share": Limits(-0.05, 0.05, False, "0.05 of the goodput"),
    "client_latency_s": Limits(1 / 1.25, 1.25, True, "a factor of 1.25"),
    "latency_change": Limits(-0.1, 0.1, False, "10 % of the latency without ECN"),
    "moving_latency": Limits(-0.1, 0.1, False, "10 % of the latency without ECN"),
    "page_s": Limits(1 / 1.25, 1.25, True, "a factor of 1.25"),
    "page_change": Limits(-0.1, 0.1, False, "10 % of the time without ECN"),
    "old_change": Limits(-0.05, 0.05, False, "5 % of the goodput where none is converted"),
    "new_over_old": Limits(9 / 11, 11 / 9, True, "a factor of 11/9"),
}
"""Limits by metric. They were committed before the runs.

Latencies and times of pages consist mostly of queueing delay behind the slower links, so that they have its limits. Changes by ECN
have the size from which ``published.toml`` calls an improvement substantial (T03, T13): engines that agree cannot be a whole such
step apart. The goodput of a host that stays has the limit of the change of the goodput, which is also that of T10.old. A converted
host's goodput over an unconverted one's has the limit of the share: equal shares of two hosts, changed by 0.05, are 0.55 and 0.45,
which is 11 to 9.
"""


def on_linux(given: Material) -> str:
    """Return the kernel's version and the rule; without the kernel's results, the command to obtain them."""
    kernel = given.tables.about["linux"]
    if kernel is None:
        files = [f"`{step.name}.toml`" for step in STEPS]
        return (
            "Not run. `ecnlab linux build` builds a kernel without root, in some minutes; then `ecnlab reproduce ecn-today "
            f"--linux` runs {', '.join(files[:-1])} and {files[-1]} in both engines."
        )
    limits = "; ".join(f"{given.metric(name).name}: {rule.stated}" for name, rule in RULES.items())
    return (
        f"The queues and TCP of Linux {kernel['kernel']}, in virtual time, and the simulator with the TCP of Linux 7, with the same "
        f"seeds and start times. Limits, stated before the runs: {limits}. Two engines agree if the 95 % interval of the "
        "difference (for delays, latencies, times of pages and ratios of goodputs the ratio), simulator to kernel, lies within the "
        "limits; they differ if it lies outside; otherwise the runs are inconclusive. Intervals are not corrected for the number of cells. Adaptive RED, Prague, ABE and the "
        "other sections' jitter are not here: the kernel engine has none of them."
    )


def client_latency_s(sweep: Tables) -> pl.LazyFrame:
    """Return the mean latency of the measured transactions of each kind of client, in seconds, as ``value`` of each run and host.

    Where the experiment has no axis of hosts, the client's group names its host.
    """
    rows = sweep.table("transactions").filter(pl.col("measured"))
    if "host" not in rows.collect_schema().names():
        rows = rows.with_columns(host=pl.col("group").replace_strict(HOSTS, return_dtype=pl.String))
    return mean_of(GRID, rows, "latency_s")


def compare(samples: pl.DataFrame, metrics: Mapping[str, Metric]) -> pl.DataFrame:
    """Return one row per metric and place (`ecnlab.papers.engine_rows`): means, the interval of difference or ratio, verdict.

    ``samples`` has both engines as ``variant``. Replicates that only one engine has are left out, and so are cells
    without a common one. ``n`` is the number of common replicates.
    """
    rows = []
    for key, cell in samples.group_by(["metric", *PLACE], maintain_order=True):
        name = str(key[0])
        common = _common(cell, metrics[name])
        if common.height:
            ours, theirs = (per_seed(pairs(common.filter(variant=who)), metrics[name]) for who in (SIMULATOR, KERNEL))
            interval = _interval(ours, theirs, RULES[name])
            neutral = 1.0 if RULES[name].ratio else 0.0
            means = (ours.mean(), theirs.mean(), interval.low, interval.high, neutral)
            rows.append((*key, *means, len(ours), _verdict(interval, name)))
    columns = {name: kind for name, kind in schema(GRID).items() if name != "variant"}
    return pl.DataFrame(rows, schema=columns, orient="row")


def _common(cell: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """The samples of replicates that both engines have, without missing values."""
    needed = ["value"] if metric.kind == "mean" else ["value", "other"]
    whole = cell.drop_nulls(needed)
    return whole.filter(pl.col("variant").n_unique().over("replicate") == 2)


def _interval(ours: np.ndarray, theirs: np.ndarray, rule: Limits) -> Interval:
    """The interval of difference or ratio; without bounds for a ratio to zero."""
    if not rule.ratio:
        return paired_difference(ours, theirs)
    if theirs.mean() == 0.0:
        return Interval(np.nan, -np.inf, np.inf, len(ours))
    return ratio_of_means(ours, theirs)


def _verdict(interval: Interval, metric: str) -> str:
    return judge_between(interval, RULES[metric].low, RULES[metric].high)


def verdict_counts(given: Material) -> list[Table]:
    """Return the number of cells by verdict, for each metric and queue."""
    if given.tables.about["linux"] is None:
        return []
    cells = _compared(given)
    rows: list[list[Cell | str]] = []
    for name in RULES:
        for queue in QUEUES:
            own = cells.filter(metric=name, queue=queue)["verdict"]
            counts = [str((own == verdict).sum()) for verdict in TONES]
            rows.append([given.metric(name).name, Cell(GRID.named(queue)), *blocks.numeric(*counts)])
    return [Table("Cells by verdict.", ["quantity", "queue", *WORDS.values()], rows)]


def compared_cells(given: Material) -> list[Table]:
    """Return a table of all cells for each metric."""
    if given.tables.about["linux"] is None:
        return []
    cells = _compared(given)
    return [_table(given.metric(name), name, cells.filter(metric=name)) for name in RULES]


def _compared(given: Material) -> pl.DataFrame:
    return compare(given.tables["linux_samples"], given.published.metrics)


def _table(metric: Metric, name: str, cells: pl.DataFrame) -> Table:
    what = "ratio" if RULES[name].ratio else "difference"
    columns = ["place", "simulator", "kernel", f"{what}, 95% interval", "n", "verdict"]
    caption = f"{metric.name}, simulator and kernel; within {RULES[name].stated} they agree.".capitalize()
    return Table(caption, columns, list(_rows(metric, cells)), folded=True)


def _rows(metric: Metric, cells: pl.DataFrame) -> Iterator[list[Cell | str]]:
    for row in cells.iter_rows(named=True):
        means = (quantity(row[who], metric) for who in (SIMULATOR, KERNEL))
        yield [
            Cell(GRID.place(row)),
            *blocks.numeric(*means, _span(row), str(row["n"])),
            Cell(WORDS[row["verdict"]], tone=TONES[row["verdict"]]),
        ]


def _span(row: Mapping[str, Any]) -> str:
    scale, unit = (1.0, "") if RULES[row["metric"]].ratio or row["metric"] == "share" else (100.0, " points")
    return f"{scale * row['low']:.3g} to {scale * row['high']:.3g}{unit}"
