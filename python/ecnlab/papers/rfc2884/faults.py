"""Section 2 and 2.1.1: tail drop's four faults in all tested settings, and the flows dropped by RED.

The settings are those of ``disciplines.toml`` (the testbed), ``tail-drop.toml`` and ``synchrony.toml`` (made for the
faults), and ``shares.toml``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from ecnlab.base.stats import Answer
from ecnlab.papers import blocks, measuring
from ecnlab.papers.judge import interval, outcome, together
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Tables
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.report import Finding, Table
from ecnlab.report.page import Cell

TESTBED: Final = "testbed"
"""Label of the unchanged testbed in the settings."""

SHARERS: Final = {
    "plain": "TCP, 40 ms",
    "far": "TCP, 200 ms",
    "fast": "UDP, 300 kb/s",
    "smooth": "UDP, 75 kb/s",
    "bursts": "UDP, 75 kb/s in bursts",
    "small": "UDP, 75 kb/s, packets of 500 B",
}
"""Groups of ``shares.toml`` whose drops are compared with their bandwidth, with display names."""


def drop_share(sweep: Tables) -> pl.LazyFrame:
    """Each flow's part of the drops over its part of the bandwidth, in packets."""
    return _drop_share(sweep, "departed")


def drop_share_of_bytes(sweep: Tables) -> pl.LazyFrame:
    """The same in bytes."""
    return _drop_share(sweep, "departed_bytes")


def _drop_share(sweep: Tables, size: str) -> pl.LazyFrame:
    queues, rate = sweep.table("queues").filter(pl.col("link") == "pipe"), pl.col("dropped") / pl.col(size)
    everything = queues.filter(pl.col("group") == "all")
    of_groups = [
        measuring.pair(GRID, queues.filter(pl.col("group") == group), rate, everything, rate).with_columns(
            setting=pl.lit(label)
        )
        for group, label in SHARERS.items()
    ]
    return pl.concat(of_groups)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of tail drop: the claims on the testbed that decide it, and the quantities shown."""

    name: str
    claims: tuple[str, str]
    shown: tuple[str, ...]


FAULTS: Final = (
    Fault("full queue", ("R01.full", "R01.full.red"), ("fault_full",)),
    Fault("global synchronisation", ("R01.synchrony", "R01.utilisation"), ("fault_synchrony", "fault_utilisation")),
    Fault("lock-out", ("R01.lockout", "R01.lockout.red"), ("fault_least",)),
    Fault("bias against bursts", ("R01.bursts", "R01.bursts.red"), ("fault_bursts",)),
)
"""The four faults of section 2. If both claims hold, the fault is present; if one does, partly."""


def by_setting(fault: Fault, given: Material) -> dict[str, Answer]:
    """Return the verdict on the fault for each setting in which both claims can be tested; the testbed comes first."""
    answers: dict[str, list[Answer]] = {}
    for claim in map(given.published.claim, fault.claims):
        where = {key: label for key, label in claim.where.items() if key != "setting"}
        for row in given.at(claim.metric, **where).iter_rows(named=True):
            answers.setdefault(row["setting"], []).append(outcome(claim, interval(row)))
    tested = [setting for setting, found in answers.items() if len(found) == len(fault.claims)]
    ordered = sorted(tested, key=lambda setting: (setting != TESTBED, GRID.score(setting), setting))
    return {setting: _of_both(answers[setting]) for setting in ordered}


def _of_both(answers: Sequence[Answer]) -> Answer:
    """Return the verdict on a fault from those on its claims: partly present if one of them holds."""
    if "yes" in answers:
        return "yes" if set(answers) == {"yes"} else "partly"
    return "no" if set(answers) == {"no"} else "undecided"


def four_faults(given: Material) -> Finding:
    """Which faults the testbed shows, and which only other settings do."""
    texts, answers = [], []
    for fault in FAULTS:
        found = by_setting(fault, given)
        answers.append(found.pop(TESTBED))
        elsewhere = list(found.values()).count("yes")
        texts.append(f"{fault.name} {answers[-1]} ({elsewhere} of {len(found)} other settings)")
    return Finding(
        together(answers).capitalize(),
        blocks.ANSWERS[together(answers)],
        "Tail drop has the four faults that section 2 gives it.",
        f"In the testbed, compared with RED: {'; '.join(texts)}.",
    )


def by_fault(given: Material) -> Table:
    """The settings in which each fault is there."""
    rows: list[list[Cell | str]] = []
    for fault in FAULTS:
        found = by_setting(fault, given)
        here = found.pop(TESTBED)
        named = {answer: ", ".join(where for where, was in found.items() if was == answer) for answer in blocks.ANSWERS}
        undecided = [f"undecided: {named['undecided']}"] if named["undecided"] else []
        nowhere = "; ".join([*([named["no"]] if named["no"] else []), *undecided])
        there = (Cell(named[answer] or "nowhere") for answer in ("yes", "partly"))
        rows.append([fault.name, blocks.chip(here), *there, Cell(nowhere)])
    columns = ["fault", "in the testbed", "there in", "partly in", "not in"]
    return Table("The four faults, by setting.", columns, rows)


def everywhere(given: Material) -> Table:
    """Return the measurements of each fault in each setting."""
    rows: list[list[Cell | str]] = [
        [
            fault.name,
            setting,
            Cell(given.metric(metric).name),
            *(given.cell(metric, variant=queue, setting=setting) for queue in ("tail", "red")),
            blocks.chip(answer),
        ]
        for fault in FAULTS
        for setting, answer in by_setting(fault, given).items()
        for metric in fault.shown
    ]
    columns = ["fault", "setting", "quantity", "tail drop", "RED", "there"]
    return Table("The four faults in every setting.", columns, rows, folded=True)
