"""Section of the report: the two readings of the thresholds that the RFC does not print, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.published import Number, Published
from ecnlab.papers.rfc2884 import joint
from ecnlab.papers.rfc2884.choice import MAX_P
from ecnlab.papers.rfc2884.choice import choose as first_choice
from ecnlab.papers.rfc2884.grid import GRID, LOADS
from ecnlab.papers.rfc2884.joint import Choice
from ecnlab.papers.samples import at
from ecnlab.report import Axis, Finding, Group, Section, Table
from ecnlab.report.page import Cell

AGREES: Final = "agrees"

THRESHOLDS: Final = {f"{k} kB": float(k) for k in (5, 7.5, 10, 15, 20, 30, 40, 60)}
THRESHOLD_AXIS: Final = Axis(
    "min_th, kB (max_th is three times as much)", [(v, f"{v:g}") for v in THRESHOLDS.values()], log=True
)


def worth(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Finding:
    """What the joint reading says of the numbers that had no part in it, beside the first reading, and who agrees under which.

    Both are counted over the seeds of the joint reading: with fewer seeds intervals are wider, and hold more.
    """
    smallest = dict(first_choice(points).select("congestion", "min_th").iter_rows())
    told, shares = [], []
    for swapped in (False, True):
        choices = joint.choose(points, published, swapped=swapped)
        judging = [number for number in published.numbers if number.id not in choices[_load(number)].chosen_by]
        taken = {load: choice.min_th for load, choice in choices.items()}
        held = len(_agreeing(points, published, taken, judging))
        before = len(_agreeing(points, published, smallest, judging))
        told.append(
            f"min_th {', '.join(f'{label} at {load}' for load, label in taken.items())} load: of the {len(judging)} numbers that "
            f"had no part in the choice {held} agree, and {before} with the smallest thresholds"
        )
        shares.append(held / len(judging))
    tone, answer = ("yes", "Yes") if min(shares) == 1 else ("partly", "Partly") if max(shares) > 0 else ("no", "No")
    return Finding(
        answer,
        tone,  # type: ignore[arg-type]
        "Thresholds chosen on half of the printed numbers give the other half.",
        f"{told[0]}. With the halves exchanged {told[1]}. {_under_which(points, numbers, published)}",
    )


def _under_which(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> str:
    """Who agrees under both readings, under one of them, and under neither."""
    taken = {load: choice.min_th for load, choice in joint.choose(points, published).items()}
    first = set(numbers.filter(pl.col("verdict") == AGREES)["id"])
    second = _agreeing(points, published, taken, published.numbers)
    known = [number.id for number in published.numbers]
    parts = (
        ("under both readings", first & second),
        ("under the first alone", first - second),
        ("under the joint one alone", second - first),
        ("under neither", set(known) - first - second),
    )
    return f"Of all {len(known)} agree {'; '.join(f'{where} {_names([i for i in known if i in ids])}' for where, ids in parts)}."


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
        for style, load in enumerate(LOADS)
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
    points: pl.DataFrame, published: Published, taken: Mapping[str, str], asked: Sequence[Number]
) -> set[str]:
    """The numbers of ``asked`` that agree where each load has its min_th of ``taken``."""
    return {
        number.id
        for number in asked
        if joint.verdict(joint.measured(points, number, taken[_load(number)]), number, published) == AGREES
    }


def _names(ids: Sequence[str]) -> str:
    return ", ".join(ids) if ids else "none"


def _load(number: Number) -> str:
    return str(number.where["congestion"])
