"""Section of the report: the two readings of the thresholds that the RFC does not print, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.published import Number, Published
from ecnlab.papers.rfc2884 import joint
from ecnlab.papers.rfc2884.choice import MAX_P
from ecnlab.papers.rfc2884.choice import choose as first_choice
from ecnlab.papers.rfc2884.gains import LOAD
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.rfc2884.joint import Choice
from ecnlab.papers.rfc2884.sensitivity import THRESHOLD_AXIS, THRESHOLDS
from ecnlab.papers.samples import at
from ecnlab.report import Finding, Group, Section, Table
from ecnlab.report.page import Cell

AGREES: Final = "agrees"


def worth(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Finding:
    """What the joint reading says of the numbers that had no part in it, and the first reading of the same."""
    choices = joint.choose(points, published)
    judged = [number for number in published.numbers if number.id not in choices[_load(number)].chosen_by]
    first, second = _agreeing(numbers, published, points, choices)
    held = [number.id for number in judged if number.id in second]
    before = [number.id for number in judged if number.id in first]
    tone, answer = ("yes", "Yes") if len(held) == len(judged) else ("partly", "Partly") if held else ("no", "No")
    taken = ", ".join(f"{choice.min_th} at {load} load" for load, choice in choices.items())
    return Finding(
        answer,
        tone,  # type: ignore[arg-type]
        "Thresholds chosen on half of the printed numbers give the other half.",
        f"min_th {taken}: of the {len(judged)} numbers that had no part in the choice {len(held)} agree ({_names(held)}); with the "
        f"smallest thresholds {len(before)} of the same ({_names(before)}). Of all {len(published.numbers)}: "
        f"{len(first)} under the first reading and {len(second)} under the joint one; under both {len(first & second)}, "
        f"under neither {len(published.numbers) - len(first | second)} ({_names(_neither(published, first | second))}).",
    )


def readings(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Section:
    """Both readings of every printed number, and how the thresholds of the second were chosen."""
    choices, exchanged = joint.choose(points, published), joint.choose(points, published, swapped=True)
    timers = [
        blocks.series(
            at(points, joint.TIMEOUTS, {"congestion": load, "recovery": "reno", "maxp": MAX_P}),
            "min_th",
            THRESHOLDS,
            f"{load} load",
            style,
        )
        for style, load in enumerate(LOAD)
    ]
    caption = "Reno, max_p 0.1, the 20 MB file; per retransmission. R30 says: hardly any."
    kind = published.metrics[joint.TIMEOUTS]
    everything = points.filter(pl.col("metric").str.starts_with(joint.PREFIX))
    return Section(
        "readings",
        "Two readings of the thresholds",
        "The RFC tuned its thresholds for each load and printed none. The first reading takes the smallest that keep the "
        "average in the region. The joint reading takes, for each load, those that half of the printed numbers and R30 "
        'speak for; the other half judges. Its rule was written down before its runs and stands in "joint-bulk.toml".',
        [
            _chosen(points, choices, exchanged),
            _side_by_side(points, numbers, published, choices),
            Group([blocks.figure("Timeouts over thresholds", caption, THRESHOLD_AXIS, kind, timers, label="share")]),
            _misses(points, choices, exchanged),
            blocks.table_of(
                everything,
                published,
                "All thresholds",
                ["congestion", "maxp", "recovery", "background", "min_th"],
                GRID,
            ),
        ],
    )


def _chosen(points: pl.DataFrame, choices: Mapping[str, Choice], exchanged: Mapping[str, Choice]) -> Table:
    smallest = dict(first_choice(points).select("congestion", "min_th").iter_rows())
    rows: list[list[Cell | str]] = []
    for load, choice in choices.items():
        first = smallest[load]
        timers = (f"{joint.timeouts(points, load, label):.0%}" for label in (first, choice.min_th))
        rows.append(
            [
                load,
                Cell(first, True),
                Cell(choice.min_th, True),
                Cell(exchanged[load].min_th, True),
                Cell(" and ".join(timers), True),
                Cell(", ".join(choice.chosen_by)),
            ]
        )
    columns = [
        "load",
        "min_th, first reading",
        "joint reading",
        "halves exchanged",
        "timeouts, first and joint",
        "chosen by",
    ]
    return Table("What each reading takes.", columns, rows, cards=True)


def _side_by_side(
    points: pl.DataFrame, numbers: pl.DataFrame, published: Published, choices: Mapping[str, Choice]
) -> Table:
    first = {row["id"]: row for row in numbers.iter_rows(named=True)}
    rows: list[list[Cell | str]] = []
    for number in published.numbers:
        choice, before = choices[_load(number)], first[number.id]
        metric = published.metrics[number.metric]
        found = joint.measured(points, number, choice.min_th)
        verdict = joint.verdict(found, number, published)
        now = {"mean": found.mean, "low": found.low, "high": found.high}
        rows.append(
            [
                Cell(GRID.place(before), lead=number.id),
                Cell(blocks.as_printed(number.value, metric), True),
                Cell(blocks.with_interval(before, metric), True),
                Cell(before["verdict"], tone=blocks.VERDICTS[before["verdict"]]),
                Cell(blocks.with_interval(now, metric), True),
                Cell(verdict, tone=blocks.VERDICTS[verdict]),
                "chose" if number.id in choice.chosen_by else "judges",
            ]
        )
    columns = ["number", "printed", "first reading", "verdict", "joint reading", "its verdict", "part"]
    return Table("Every printed number under both readings.", columns, rows, cards=True)


def _misses(points: pl.DataFrame, choices: Mapping[str, Choice], exchanged: Mapping[str, Choice]) -> Table:
    rows: list[list[Cell | str]] = [
        [
            load,
            Cell(label, True),
            Cell(f"{joint.timeouts(points, load, label):.1%}", True),
            Cell(f"{score:.1f}", True),
            Cell(f"{exchanged[load].scores[label]:.1f}", True),
        ]
        for load, choice in choices.items()
        for label, score in choice.scores.items()
    ]
    columns = ["load", "min_th", "timeouts over retransmissions", "sum of misses", "halves exchanged"]
    return Table("The candidates and their misses, in margins.", columns, rows, folded=True)


def _agreeing(
    numbers: pl.DataFrame, published: Published, points: pl.DataFrame, choices: Mapping[str, Choice]
) -> tuple[set[str], set[str]]:
    """The numbers that agree under the first reading, and under the joint one."""
    first = set(numbers.filter(pl.col("verdict") == AGREES)["id"])
    second = {
        number.id
        for number in published.numbers
        if joint.verdict(joint.measured(points, number, choices[_load(number)].min_th), number, published) == AGREES
    }
    return first, second


def _neither(published: Published, either: set[str]) -> list[str]:
    return [number.id for number in published.numbers if number.id not in either]


def _names(ids: list[str]) -> str:
    return ", ".join(ids) if ids else "none"


def _load(number: Number) -> str:
    return str(number.where["congestion"])
