"""RFC 2884 on the Linux kernel of today: bulk, transactions and fairness, beside the simulator and the printed numbers."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.paper import KERNEL, SIMULATOR, Step, Stored
from ecnlab.papers.published import Metric, Published
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.samples import at
from ecnlab.report import Section, Table
from ecnlab.report.page import Cell

PLACE: Final = ("congestion", "maxp", "background")

THEN: Final = {"bulk_gain": "reno", "transaction_gain": "reno", "jain": ""}
"""The recovery with which the simulator stands for the kernel of the RFC, by metric."""


STEPS: Final = (
    Step("linux-fairness", 5, 20),
    Step("linux-transactions", 5, 20),
    Step("linux-bulk", 3, 10),
)
"""What both engines are asked."""


def section(tables: Stored, points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Section:
    """The three experiments on both engines; without a kernel's results, how to get them."""
    kernel = tables.about["linux"]
    if kernel is None:
        how = (
            "Not asked. `ecnlab linux build` builds a kernel without root, in some minutes; then `ecnlab reproduce rfc2884 "
            "--linux` puts bulk transfers, transactions and fairness on its TCP and its RED here."
        )
        return Section("linux", "On Linux", how, [])
    intro = (
        f"The same testbed on Linux {kernel['kernel']}, its TCP and its RED, in virtual time. The simulator is asked twice: with "
        "Linux 2.0, as in the rest of this page, and with the TCP of Linux 7, as the kernel has it. Between these two "
        "are 25 years of TCP. docs/fidelity.md says where the simulator with Linux 7 differs from the kernel, and why."
    )
    both = tables["linux"]
    blocks_ = [
        _table(at(both, metric, {}), at(points, metric, {}), at(numbers, metric, {}), published.metrics[metric])
        for metric in THEN
    ]
    return Section("linux", "On Linux", intro, blocks_)


def _table(both: pl.DataFrame, points: pl.DataFrame, numbers: pl.DataFrame, metric: Metric) -> Table:
    rows: list[list[Cell | str]] = []
    for kernel in both.filter(pl.col("variant") == KERNEL).iter_rows(named=True):
        where = {key: kernel[key] for key in PLACE}
        then = {**where, "recovery": THEN[kernel["metric"]]}
        cells = [_found(points, then, metric), _found(both, {**where, "variant": SIMULATOR}, metric)]
        rows.append(
            [
                Cell(GRID.place(where | {key: "" for key in GRID.keys if key not in PLACE})),
                Cell(_printed(numbers, then, metric), True),
                *(Cell(cell, True) for cell in cells),
                Cell(blocks.with_interval(kernel, metric), True),
                Cell(str(kernel["n"]), True),
            ]
        )
    columns = ["settings", "printed", "simulator, Linux 2.0", "simulator, Linux 7", "kernel", "n"]
    return Table(f"{metric.name}, with 95% intervals.".capitalize(), columns, rows)


def _row(frame: pl.DataFrame, where: dict[str, str]) -> dict[str, Any] | None:
    found = frame.filter(*(pl.col(key) == label for key, label in where.items()))
    return found.row(0, named=True) if found.height else None


def _found(points: pl.DataFrame, where: dict[str, str], metric: Metric) -> str:
    row = _row(points, where)
    return blocks.with_interval(row, metric) if row else "–"


def _printed(numbers: pl.DataFrame, where: dict[str, str], metric: Metric) -> str:
    row = _row(numbers, where)
    return blocks.as_printed(row["printed"], metric) if row else "–"
