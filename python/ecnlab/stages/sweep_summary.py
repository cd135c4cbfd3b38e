"""Summary of a sweep, complete or not: one sentence, and the effects of its arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ecnlab.base.stats import LEVEL
from ecnlab.folder.congestion import group_means
from ecnlab.plots.units import numbers
from ecnlab.report import Finding, Table
from ecnlab.report.words import counted, listed, recorded, share, table
from ecnlab.results.paired import ARM
from ecnlab.results.sweep_data import (
    Effect,
    effect,
    factors,
    interval_words,
    largest_effect,
    levels,
    metrics,
    number,
    reference,
    signed,
    without_values,
)
from ecnlab.stages.registry import stage
from ecnlab.stages.run_flows import FLOWS

if TYPE_CHECKING:
    from ecnlab.results.sweep import SweepResult
    from ecnlab.results.unfinished import Unfinished

MAX_FINDINGS: Final = 24
"""Maximum number of findings on arms."""

MAX_POINTS: Final = 4
"""Maximum number of settings in a sentence."""


@stage("answer", of="sweep")
def answer(sweep: SweepResult) -> str:
    """The number of runs, and the largest effect of an arm or axis: on the primary metric, or on the one that it moves most."""
    arms = f"{counted(len(levels(sweep, ARM)), 'arm')}, " if levels(sweep, ARM) else ""
    points = counted(sweep.runs.select(list(sweep.axes)).unique().height, "point") if sweep.axes else "1 point"
    extent = (
        f"{counted(sweep.runs.height, 'run')} ({arms}{points}, {counted(sweep.manifest['replicates'], 'replicate')})"
    )
    primary = sweep.manifest.get("report", {}).get("primary")
    names = [primary] if primary in metrics(sweep) else metrics(sweep)
    found = [one for name in names for by in factors(sweep) if (one := largest_effect(sweep, name, by))]
    if not found:
        return f"{extent}."
    most = max(found, key=lambda one: (one.decided, one.size))
    return f"{extent}. {_largest(sweep, most)}."


def _largest(sweep: SweepResult, one: Effect) -> str:
    """Return a sentence about the greatest and the least mean of a metric."""
    means = dict(zip((one.first, one.second), one.means, strict=True))
    if one.factor == ARM or not numbers(levels(sweep, one.factor))[0]:
        low, high = sorted(means, key=lambda level: means[level])
        of = "arm" if one.factor == ARM else one.factor
        ends = f"{one.metric} is highest with {of} {high} ({number(sweep, one.metric, means[high])}) and lowest with {low} ({number(sweep, one.metric, means[low])})"
    else:
        ends = f"{one.metric} goes from {number(sweep, one.metric, one.means[0])} at {one.factor} {one.first} to {number(sweep, one.metric, one.means[1])} at {one.second}"
    change = f"{one.second} − {one.first} = {signed(sweep, one.metric, one.interval.mean)} ({interval_words(sweep, one.metric, one.interval)})"
    return f"{ends}: {change}{_over(sweep, one)}{_doubt(one)}"


def _over(sweep: SweepResult, one: Effect) -> str:
    """Return over which settings an effect is a mean, and that it has another sign at some."""
    if len(one.apart) < 2:
        return ""
    means = f", mean over {counted(len(one.apart), 'setting')} of the others"
    return f"{means}, of opposite sign by setting: {_points(sweep, one)}" if one.opposed else means


def _doubt(one: Effect) -> str:
    if one.immaterial:
        return "; no difference that matters"
    return "" if one.decided or one.interval.n < 2 else "; undecided"


def _points(sweep: SweepResult, one: Effect) -> str:
    """Return the effects at single settings, from the least to the greatest."""
    ordered = sorted(one.apart, key=lambda point: point[1].mean)
    shown = ordered if len(ordered) <= MAX_POINTS else [*ordered[: MAX_POINTS // 2], *ordered[-MAX_POINTS // 2 :]]
    words = [f"{signed(sweep, one.metric, interval.mean)} at {name}" for name, interval in shown]
    more = f" and {len(ordered) - len(shown)} between" if len(shown) < len(ordered) else ""
    return ", ".join(words) + more


@stage("effects-of-arms", of="sweep")
def effects_of_arms(sweep: SweepResult) -> list[Finding]:
    """For each metric the paired difference of each arm to the reference, averaged over the grid.

    The findings are one family: with m of them each interval has the confidence 1 - 0.05/m (Bonferroni).
    """
    first, others = reference(sweep)
    requested = [(metric, other) for metric in metrics(sweep) for other in others]
    level = 1.0 - (1.0 - LEVEL) / max(len(requested), 1)
    found = [effect(sweep, metric, ARM, first, other, level) for metric, other in requested[:MAX_FINDINGS]]
    shown = [_finding(sweep, one, len(requested)) for one in found if one]
    if len(requested) > MAX_FINDINGS:
        rest = counted(len(requested) - MAX_FINDINGS, "difference")
        shown.append(Finding("more", "plain", f"{rest} more", "In the table of differences below."))
    return shown + [_absent(metric, names) for metric in metrics(sweep) if (names := without_values(sweep, metric))]


def _absent(metric: str, names: list[str]) -> Finding:
    return Finding("no value", "open", f"{metric}: no value with {listed(names)}", "Not in figures and differences.")


def _finding(sweep: SweepResult, one: Effect, among: int) -> Finding:
    change = f"{signed(sweep, one.metric, one.interval.mean)}"
    relative = (
        f" ({share(one.interval.mean / one.means[0])} of the mean {number(sweep, one.metric, one.means[0])} of {one.first})"
        if one.means[0] > 0
        else ""
    )
    family = f", one of {among} tests" if among > 1 else ""
    over = f"{interval_words(sweep, one.metric, one.interval)}, n = {one.interval.n}{family}."
    points = f"Mean over {counted(max(len(one.apart), 1), 'point')}; "
    if one.opposed:
        return Finding(
            "by setting",
            "open",
            f"{one.metric}: {one.second} − {one.first} has another sign by setting: {_points(sweep, one)}",
            f"{points}{change}; {over}",
        )
    return Finding(
        direction(one),
        "plain" if one.decided or one.immaterial else "open",
        f"{one.metric}: {one.second} − {one.first} = {change}{relative}",
        f"{points}{over}",
    )


def direction(one: Effect) -> str:
    """Return whether the effect is an increase or a decrease, does not matter, or is undecided."""
    if one.immaterial:
        return "no difference"
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
