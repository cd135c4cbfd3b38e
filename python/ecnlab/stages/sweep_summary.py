"""Summary of a sweep, complete or not: one sentence, and the effects of its arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ecnlab.folder.congestion import group_means
from ecnlab.report import Finding, Table
from ecnlab.stages.paired import ARM
from ecnlab.stages.registry import stage
from ecnlab.stages.run_flows import FLOWS
from ecnlab.stages.sweep_data import (
    Effect,
    effect,
    factors,
    interval_words,
    largest_effect,
    levels,
    metrics,
    number,
    signed,
)
from ecnlab.stages.words import counted, recorded, share, table

if TYPE_CHECKING:
    from ecnlab.runs.sweep_result import Sweep, Unfinished

MOST: Final = 8
"""Maximum number of findings on arms."""


@stage("answer", of="sweep")
def answer(sweep: Sweep) -> str:
    """The number of runs, and the largest effect of an arm or axis on the first metric: of those with a decided sign, if any."""
    arms = f"{counted(len(levels(sweep, ARM)), 'arm')}, " if levels(sweep, ARM) else ""
    points = counted(sweep.runs.select(list(sweep.axes)).unique().height, "point") if sweep.axes else "1 point"
    said = f"{counted(sweep.runs.height, 'run')} ({arms}{points}, {counted(sweep.manifest['replicates'], 'replicate')})"
    there = metrics(sweep)
    found = [one for name in factors(sweep) if (one := largest_effect(sweep, there[0], name))] if there else []
    if not found:
        return f"{said}."
    most = max(found, key=lambda one: (one.decided, abs(one.interval.mean)))
    return f"{said}. {_largest(sweep, most, len(found))}."


def _largest(sweep: Sweep, one: Effect, among: int) -> str:
    what = "the arm" if one.factor == ARM else one.factor
    most = (
        f"Of the arms and axes, {what} changes {one.metric} most" if among > 1 else f"Effect of {what} on {one.metric}"
    )
    change = f"{signed(sweep, one.metric, one.interval.mean)} ({interval_words(sweep, one.metric, one.interval)})"
    where = f", averaged over {one.points} other settings" if one.points > 1 else ""
    sign = "" if one.decided or one.interval.n < 2 else "; its sign is undecided"
    return f"{most}: {change} from {one.first} to {one.second}{where}{sign}"


@stage("effects-of-arms", of="sweep")
def effects_of_arms(sweep: Sweep) -> list[Finding]:
    """For each metric the paired difference of each arm to the first, averaged over the grid."""
    first, *others = levels(sweep, ARM) or [""]
    found = [effect(sweep, metric, ARM, first, other) for metric in metrics(sweep) for other in others]
    return [_finding(sweep, one) for one in found if one][:MOST]


def _finding(sweep: Sweep, one: Effect) -> Finding:
    change = f"{signed(sweep, one.metric, one.interval.mean)}"
    relative = (
        f" ({share(one.interval.mean / one.base)} of the mean {number(sweep, one.metric, one.base)} of {one.first})"
        if one.base > 0
        else ""
    )
    over = f"Mean over {counted(one.points, 'point')}; {interval_words(sweep, one.metric, one.interval)}, n = {one.interval.n}."
    return Finding(
        direction(one),
        "plain" if one.decided else "open",
        f"{one.metric}: {one.second} − {one.first} = {change}{relative}",
        over,
    )


def direction(one: Effect) -> str:
    """Return whether the effect is an increase or a decrease, or undecided at 95 %."""
    return ("higher" if one.interval.mean > 0 else "lower") if one.decided else "undecided"


@stage("answer", of="unfinished")
def _answer_of_unfinished(result: Unfinished) -> str:
    all_ = result.finished + result.missing
    if not result.missing:
        return f"All {counted(all_, 'run')} are finished, but their tables are not joined. The command that began the sweep joins them."
    return (
        f"The sweep is not complete: {result.finished} of {counted(all_, 'run')} are finished and {result.missing} are missing. "
        "The command that began it continues it."
    )


@stage("groups", of="unfinished", needs=("flows",))
def _groups_of_unfinished(result: Unfinished) -> Table | None:
    if result.flows is None:
        return None
    means = group_means(result.flows, FLOWS)
    return table("Groups of flows: means over the flows of the finished runs", recorded(means, means.columns))
