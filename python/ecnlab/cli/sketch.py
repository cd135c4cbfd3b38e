"""A run in the terminal: the queue trees of its congested links, and sparklines of queues, marks, drops and goodput."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ecnlab.api.run import Run
from ecnlab.base.lazy_imports import pl
from ecnlab.base.readable import number
from ecnlab.cli import console
from ecnlab.folder.series import BIN, Bins, along, bins_of, gained, goodput
from ecnlab.results.links import busiest, congested
from ecnlab.scenario.links import queue_of
from ecnlab.scenario.words import queue_line

BLOCKS: Final = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS: Final = "_.-:=+*#"
"""The levels of a sparkline, and those for a terminal that cannot encode the first."""

BRANCHES: Final = ("├─ ", "│  ", "└─ ", "   ")
ASCII_BRANCHES: Final = ("|- ", "|  ", "`- ", "   ")
"""Before a class that has others after it, before its classes, and the same for the last class."""

NARROW: Final = 10
WIDE: Final = 80
"""Minimum and maximum length of a sparkline."""

MAX_GROUPS: Final = 6

DROPS: Final = ("early_drops", "forced_drops", "tail_drops")


class Spark(NamedTuple):
    """A line: its name, its values in equal intervals (NaN for none), and the unit of the largest."""

    name: str
    values: Sequence[float]
    unit: str


def show_sketch(run: Run) -> None:
    """Print the trees and sparklines of ``run``; nothing for a run without links."""
    for link in congested(run):
        console.say_table(f"queue of {link}", [*_tree(run, link), *drawn(_of_queue(run, link), console.width())])
    if groups := list(_of_groups(run)):
        console.say_table("goodput", drawn(groups, console.width()))


def _tree(run: Run, link: str) -> list[str]:
    """Return the link with its rate and delay, then its queue with its classes."""
    queue = queue_of(run.manifest["spec"], link)
    row = busiest(run).filter(pl.col("link") == link).row(0, named=True)
    rate = "unlimited rate" if row["rate_bps"] is None else f"{number(row['rate_bps'] / 1e6)} Mb/s"
    return [f"{rate}, {number(1e3 * row['delay_s'])} ms", *(tree(queue) if queue else [])]


def tree(queue: Mapping[str, Any]) -> list[str]:
    """Return a line for ``queue``, as resolved, and one for each of its classes, with their main parameters."""
    branches = BRANCHES if console.encodes("".join(BRANCHES)) else ASCII_BRANCHES
    return [queue_line(queue), *_classes(queue, "", branches)]


def _classes(queue: Mapping[str, Any], before: str, branches: Sequence[str]) -> Iterator[str]:
    classes = queue.get("class", {})
    for i, (name, inner) in enumerate(classes.items()):
        own, below = branches[2:] if i == len(classes) - 1 else branches[:2]
        yield f"{before}{own}{name}: {queue_line(inner)}"
        yield from _classes(inner, before + below, branches)


def _bins(run: Run) -> Bins:
    return bins_of(run.manifest["spec"], WIDE - 1)


def _of_queue(run: Run, link: str) -> list[Spark]:
    """The mean queue length, and the marks and drops in each interval; those that were not recorded or are 0 are left out."""
    if "queue_series" not in run.tables:
        return []
    bins = _bins(run)
    rows = run.scan("queue_series").filter(pl.col("link") == link)
    there = rows.collect_schema().names()
    counts = {"marks": ["marks"], "drops": list(DROPS)}
    sums = {
        name: pl.sum_horizontal(pl.col(one).cast(pl.Float64) for one in columns).max().alias(name)
        for name, columns in counts.items()
        if set(columns) <= set(there)
    }
    found = bins.over(rows, ["link"], pl.col("packets").mean().alias("queue"), *sums.values())
    found = found.with_columns(gained(name, "link") for name in sums)
    numbers = found[BIN].to_list()
    interval = f"in {number(bins.size * bins.sample_s)} s"
    lines = [Spark("queue", along(found, "queue", numbers), "packets")]
    lines += [Spark(name, along(found, name, numbers), interval) for name in sums if (found[name] > 0).any()]
    return lines


def _of_groups(run: Run) -> Iterator[Spark]:
    """The goodput of the first groups with TCP flows."""
    if not {"flow_series", "flows"} <= set(run.tables):
        return
    bins, flows = _bins(run), run.table("flows")
    if run.scan("flow_series").select(pl.len()).collect().item() == 0:
        return
    found = goodput(run.scan("flow_series"), flows, bins)
    numbers = found[BIN].unique().sort().to_list()
    sampled = [group for group in flows["group"].unique(maintain_order=True) if (found["group"] == group).any()]
    for group in sampled[:MAX_GROUPS]:
        yield Spark(str(group), along(found.filter(group=group), "goodput", numbers), "Mb/s")


def drawn(lines: Sequence[Spark], width: int) -> list[str]:
    """Return ``lines`` with their names and largest values, at most ``width`` wide."""
    names = max((len(line.name) for line in lines), default=0)
    notes = [f"at most {number(_largest(line.values))} {line.unit}" for line in lines]
    room = max(width - names - 4 - max(map(len, notes), default=0), NARROW)
    return [
        f"{line.name:<{names}}  {sparkline(line.values, room)}  {note}" for line, note in zip(lines, notes, strict=True)
    ]


def _largest(values: Sequence[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=0.0)


def sparkline(values: Sequence[float], width: int) -> str:
    """Return ``values`` as characters from 0 to the largest, at most ``width``: each shows the mean of as many values.

    Only 0 has the lowest level, and NaN is a space.
    """
    levels = BLOCKS if console.encodes(BLOCKS) else ASCII_BLOCKS
    size = max(math.ceil(len(values) / width), 1)
    parts = [_mean(values[i : i + size]) for i in range(0, len(values), size)]
    top = _largest(parts)
    return "".join(" " if math.isnan(part) else levels[_level(part, top, len(levels) - 1)] for part in parts)


def _level(value: float, top: float, highest: int) -> int:
    return max(math.ceil(value / top * highest), 1) if value > 0 else 0


def _mean(values: Sequence[float]) -> float:
    there = [value for value in values if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan
