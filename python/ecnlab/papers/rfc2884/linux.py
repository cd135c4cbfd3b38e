"""RFC 2884 on a current Linux kernel, compared with the simulator and the printed numbers."""

from __future__ import annotations

from typing import Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.engine_rows import KERNEL, SIMULATOR
from ecnlab.papers.judge import at
from ecnlab.papers.material import Material
from ecnlab.papers.paper import Step
from ecnlab.papers.references import as_printed
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.report import Table
from ecnlab.report.page import Cell

PLACE: Final = ("congestion", "maxp", "background")

THEN: Final = {"bulk_gain": "reno", "transaction_gain": "reno", "jain": ""}
"""The simulator's recovery that corresponds to the kernel of the RFC, by metric."""

STEPS: Final = (
    Step("linux-fairness", 5, 20),
    Step("linux-transactions", 5, 20),
    Step("linux-bulk", 3, 10),
)
"""The steps of both engines."""


def on_linux(given: Material) -> str:
    """Return the kernel's results; without them, the command to obtain them."""
    kernel = given.tables.about["linux"]
    if kernel is None:
        return (
            "Not asked. `ecnlab linux build` builds a kernel without root, in some minutes; then `ecnlab reproduce rfc2884 "
            "--linux` puts bulk transfers, transactions and fairness on its TCP and its RED here."
        )
    return (
        f"The same testbed on Linux {kernel['kernel']}, its TCP and its RED, in virtual time. The simulator is asked twice: with "
        "Linux 2.0, as in the rest of this page, and with the TCP of Linux 7, as the kernel has it. Between these two "
        "are 25 years of TCP. `ecnlab docs fidelity` states where the simulator with Linux 7 differs from the kernel, and why."
    )


def beside_the_kernel(given: Material) -> list[Table]:
    """The three experiments on both engines."""
    return [] if given.tables.about["linux"] is None else [_table(given, metric) for metric in THEN]


def _table(given: Material, name: str) -> Table:
    metric, both = given.metric(name), at(given.tables["linux"], name, {})
    rows: list[list[Cell | str]] = []
    for kernel in both.filter(pl.col("variant") == KERNEL).iter_rows(named=True):
        where = {key: kernel[key] for key in PLACE}
        printed = at(given.numbers, name, {**where, "recovery": THEN[name]})
        cells = [as_printed(value, metric) for value in printed["printed"]] or ["–"]
        then, now = given.at(name, **where, recovery=THEN[name]), at(both, name, {**where, "variant": SIMULATOR})
        for frame in (then, now):
            cells += [given.with_interval(row) for row in frame.head(1).iter_rows(named=True)] or ["–"]
        rows.append([Cell(GRID.place(where)), *blocks.numeric(*cells, given.with_interval(kernel), str(kernel["n"]))])
    columns = ["settings", "printed", "simulator, Linux 2.0", "simulator, Linux 7", "kernel", "n"]
    return Table(f"{metric.name}, with 95% intervals.".capitalize(), columns, rows)
