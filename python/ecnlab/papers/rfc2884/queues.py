"""Sections of the report: tail drop's faults, whom RED drops, and RED as flows grow (RFC 2884 sections 2, 2.1.1 and 4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.judge import outcome, together
from ecnlab.papers.published import Published
from ecnlab.papers.rfc2884.faults import SHARERS, TESTBED
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.samples import at
from ecnlab.report import Axis, Finding, Group, Section, Table
from ecnlab.report.page import Cell
from ecnlab.stats import Answer, Interval

NAMES: Final = {"red": "RED", "front": "drop front", "random": "random drop", "tail": "tail drop"}


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of tail drop: the claims of the testbed that decide it, and what is shown of it."""

    name: str
    claims: tuple[str, str]
    shown: tuple[str, ...]


FAULTS: Final = (
    Fault("full queue", ("R01.full", "R01.full.red"), ("fault_full",)),
    Fault("global synchronisation", ("R01.synchrony", "R01.utilisation"), ("fault_synchrony", "fault_utilisation")),
    Fault("lock-out", ("R01.lockout", "R01.lockout.red"), ("fault_least",)),
    Fault("bias against bursts", ("R01.bursts", "R01.bursts.red"), ("fault_bursts",)),
)
"""The four of section 2. Both claims hold: the fault is there; one does: partly."""

FLOWS: Final = {f"{n} flows": float(n) for n in (2, 5, 10, 20, 40, 80)}
FLOWS_AXIS: Final = Axis("congesting flows", [(n, label.split()[0]) for label, n in FLOWS.items()], log=True)


def four_faults(points: pl.DataFrame, published: Published) -> Finding:
    """Which faults the testbed shows, and which only other settings do."""
    said, answers = [], []
    for fault in FAULTS:
        found = by_setting(fault, points, published)
        answers.append(found[TESTBED])
        elsewhere = sum(answer == "yes" for setting, answer in found.items() if setting != TESTBED)
        others = len(found) - 1
        said.append(f"{fault.name} {found[TESTBED]} ({elsewhere} of {others} other settings)")
    answer = together(answers)
    return Finding(
        answer.capitalize(),
        blocks.ANSWERS[answer],
        "Tail drop has the four faults that section 2 gives it.",
        f"In the testbed, beside RED: {'; '.join(said)}.",
    )


def tail_drop(points: pl.DataFrame, published: Published) -> Section:
    """Section 2: tail drop, its two relatives, and RED; and the four faults wherever they were looked for."""
    return Section(
        "disciplines",
        "Tail drop and its faults",
        "Section 2 of the RFC names a full queue, global synchronisation and lock-out, section 2.1.1 a bias against bursts. Tail "
        "drop stands beside RED, same seeds and buffer, in the testbed and in settings made for its faults. A fault is there "
        "if both of its tests hold, and partly there if one does; limits and settings were written down before the runs, but "
        "for the Tahoe settings with a round trip in their name, which a search found and other seeds tested.",
        [
            _verdicts(points, published),
            _disciplines(points, published),
            _everywhere(points, published),
            _shares(points, published),
        ],
    )


def crowded(points: pl.DataFrame, published: Published) -> Section:
    """Section 4.4: RED as congesting flows grow."""
    figures = [
        blocks.figure(
            title,
            "Thresholds 5 and 15 kB, Reno, endless transfers.",
            FLOWS_AXIS,
            published.metrics[metric],
            [
                blocks.series(at(points, metric, {"maxp": p}), "setting", FLOWS, f"max_p {p}", style)
                for style, p in enumerate(("0.02", "0.1"))
            ],
            label=label,
        )
        for title, metric, label in (
            ("Above max_th", "degenerate_above", "share of time"),
            ("What ECN gains", "degenerate_gain", ""),
        )
    ]
    everything = points.filter(pl.col("metric").str.starts_with("degenerate_"))
    return Section(
        "crowded",
        "RED as flows grow",
        "Section 4.4: with more congesting flows the average is said to exceed max_th most of the time, so that RED becomes tail "
        "drop and the advantage of ECN diminishes.",
        [Group(figures), blocks.table_of(everything, published, "All flows and max_p", ["setting", "maxp"], GRID)],
    )


def by_setting(fault: Fault, points: pl.DataFrame, published: Published) -> dict[str, Answer]:
    """Whether the fault is there, by setting where both of its claims can be asked; the testbed comes first."""
    claims = [next(claim for claim in published.claims if claim.id == name) for name in fault.claims]
    answers: dict[str, list[Answer]] = {}
    for claim in claims:
        where = {key: label for key, label in claim.where.items() if key != "setting"}
        for row in at(points, claim.metric, where).iter_rows(named=True):
            found = Interval(row["mean"], row["low"], row["high"], row["n"])
            answers.setdefault(row["setting"], []).append(outcome(claim, found))
    asked = [setting for setting, given in answers.items() if len(given) == len(claims)]
    ordered = sorted(asked, key=lambda setting: (setting != TESTBED, GRID.score(setting), setting))
    return {setting: together(answers[setting]) for setting in ordered}


def _verdicts(points: pl.DataFrame, published: Published) -> Table:
    rows: list[list[Cell | str]] = []
    for fault in FAULTS:
        found = by_setting(fault, points, published)
        named = {
            answer: ", ".join(setting for setting, given in found.items() if given == answer and setting != TESTBED)
            for answer in ("yes", "partly", "no", "undecided")
        }
        rows.append(
            [
                fault.name,
                Cell(found[TESTBED], tone=blocks.ANSWERS[found[TESTBED]]),
                Cell(named["yes"] or "nowhere"),
                Cell(named["partly"] or "nowhere"),
                Cell(
                    "; ".join(
                        part
                        for part in (named["no"], named["undecided"] and f"undecided: {named['undecided']}")
                        if part
                    )
                ),
            ]
        )
    columns = ["fault", "in the testbed", "there in", "partly in", "not in"]
    return Table("The four faults, by setting.", columns, rows, cards=True)


def _disciplines(points: pl.DataFrame, published: Published) -> Table:
    names = ["discipline_queue", "discipline_utilisation", "discipline_jain", "discipline_synchrony"]
    rows: list[list[Cell | str]] = []
    for label in ("tail", "random", "front", "red"):
        here = {
            row["metric"]: row
            for row in points.filter(pl.col("variant") == label, pl.col("metric").is_in(names)).iter_rows(named=True)
        }
        values = [Cell(blocks.with_interval(here[name], published.metrics[name]), True) for name in names]
        rows.append([NAMES[label], *values])
    columns = ["when full", "mean queue, packets", "utilisation", "Jain's index", "correlation of windows"]
    caption = "Who is dropped when the queue is full, against RED: the testbed, twelve non-ECN flows."
    return Table(caption, columns, rows, cards=True)


def _everywhere(points: pl.DataFrame, published: Published) -> Table:
    rows: list[list[Cell | str]] = [
        [
            fault.name,
            setting,
            Cell(published.metrics[metric].name),
            *(Cell(_one(points, published, metric, queue, setting), True) for queue in ("tail", "red")),
            Cell(answer, tone=blocks.ANSWERS[answer]),
        ]
        for fault in FAULTS
        for setting, answer in by_setting(fault, points, published).items()
        for metric in fault.shown
    ]
    columns = ["fault", "setting", "quantity", "tail drop", "RED", "there"]
    return Table("The four faults in every setting.", columns, rows, cards=True, folded=True)


def _one(points: pl.DataFrame, published: Published, metric: str, queue: str, setting: str) -> str:
    row = at(points, metric, {"variant": queue, "setting": setting}).row(0, named=True)
    return blocks.with_interval(row, published.metrics[metric])


def _shares(points: pl.DataFrame, published: Published) -> Table:
    asked = (("drop_share", "red"), ("drop_share", "tail"), ("drop_share_of_bytes", "red"))
    rows: list[list[Cell | str]] = [
        [label, *(Cell(_one(points, published, metric, queue, label), True) for metric, queue in asked)]
        for label in SHARERS.values()
    ]
    columns = ["flow", "RED, in packets", "tail drop, in packets", "RED, in bytes"]
    caption = "A flow's share of the drops over its share of the bandwidth: 1 where they are in proportion."
    return Table(caption, columns, rows, cards=True)
