"""What the report draws besides ``sections.toml``: tables of a choice, what is left of the gain, and one run over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.published import Published
from ecnlab.papers.reasons import quantity
from ecnlab.papers.rfc2884.choice import choose
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.samples import at
from ecnlab.report import Chart, Finding, Line, Section, Table
from ecnlab.report.page import Block, Cell


def left_over(points: pl.DataFrame, published: Published) -> Finding:
    """How much of the gain is left when everybody uses ECN."""
    where = {"congestion": "high", "maxp": "0.1"}
    mixed = at(points, "variant_transaction_gain", {**where, "variant": "primary"}).row(0, named=True)
    alike = at(points, "homogeneous_transaction_gain", where).row(0, named=True)
    bulk_mixed = at(points, "window_gain", {**where, "variant": "primary"}).row(0, named=True)
    bulk_alike = at(points, "homogeneous_gain", where).row(0, named=True)
    percent = published.metrics["window_gain"]

    def say(row: Mapping[str, Any]) -> str:
        return blocks.with_interval(row, percent)

    keeps = [row["low"] > 0 for row in (alike, bulk_alike)]
    tone, answer = ("yes", "Yes") if all(keeps) else ("partly", "Partly") if any(keeps) else ("no", "No")
    return Finding(
        answer,
        tone,  # type: ignore[arg-type]
        "Something is gained when every flow uses ECN.",
        f"High congestion, max_p 0.1. Transactions: {say(mixed)} among mixed flows, {say(alike)} when all change over. "
        f"Bulk: {say(bulk_mixed)} and {say(bulk_alike)}. The difference is redistribution.",
    )


def nearest(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Table:
    """For each printed Reno gain, the thresholds whose gain comes nearest, and the range over all."""
    over_thresholds = {
        "bulk_gain": "search_gain",
        "transaction_gain": "envelope_gain",
        "transaction_ecn": "envelope_ecn",
    }
    rows: list[list[Cell | str]] = []
    for row in numbers.filter(pl.col("recovery") == "reno").iter_rows(named=True):
        metric = over_thresholds[row["metric"]]
        over = at(points, metric, {"congestion": row["congestion"], "maxp": row["maxp"]})
        best = over.sort((pl.col("mean") - row["printed"]).abs()).row(0, named=True)
        kind = published.metrics[metric]
        least, most = over.sort("mean")["mean"].to_list()[:: over.height - 1]
        inside = least <= row["printed"] <= most
        rows.append(
            [
                Cell(GRID.place({**row, "recovery": ""}), lead=row["id"]),
                Cell(quantity(row["printed"], kind), True),
                Cell(f"{quantity(least, kind)} to {quantity(most, kind)}", True),
                Cell("within" if inside else "outside", tone="yes" if inside else "no"),
                Cell(best["min_th"], True),
                Cell(blocks.with_interval(best, kind), True),
            ]
        )
    columns = [
        "printed number",
        "printed",
        "means over all thresholds",
        "printed value",
        "nearest min_th",
        "measured there",
    ]
    caption = "Which thresholds come nearest? Reno, max_p 0.02, 0.1 and 0.5; bulk over 300 s."
    return Table(caption, columns, rows, cards=True)


def chosen(points: pl.DataFrame, published: Published, recorded: Mapping[str, Any]) -> Table:
    """What the rule of section 4.4 chooses from these runs, and what the experiments use."""
    share = published.metrics["region_share"]
    found = choose(points)
    rows: list[list[Cell | str]] = [
        [
            row["congestion"],
            Cell(row["min_th"], True),
            Cell(
                blocks.with_interval(row, share),
                True,
            ),
            Cell(recorded["settings"][row["congestion"]]["min_th"], True),
        ]
        for row in found.iter_rows(named=True)
    ]
    return Table(
        "What the rule chooses from the runs of this report, and what the experiments use.",
        ["congestion", "chosen now", "share of time in the region", "used, from red-settings.toml"],
        rows,
    )


def evolution(queue: pl.DataFrame, windows: pl.DataFrame, about: Mapping[str, Any]) -> Section:
    """Queue and windows of one run, to be zoomed into."""
    charts: list[Block] = [
        Chart(
            "The queue at r1",
            f"High congestion, max_p 0.1, seed {about['seed']}; sampled every 100 ms.",
            queue["time_s"].to_list(),
            [
                Line("queue", queue["kilobytes"].to_list(), 2, thin=True),
                Line("RED's average", queue["average_kilobytes"].to_list(), 1),
            ],
            "kilobytes",
            [(about["min_th"] / 1000, "min_th"), (about["max_th"] / 1000, "max_th")],
        ),
        Chart(
            "Congestion windows",
            "The two competing flows, which start at 20 s.",
            windows["time_s"].to_list(),
            [Line("ECN", windows["ecn"].to_list(), 0), Line("non-ECN", windows["plain"].to_list(), 1)],
            "segments",
        ),
    ]
    return Section(
        "evolution",
        "One run, in time",
        "Drag across a chart to look closer, double-click to see all; both follow. The buttons above it do the same "
        "from the keyboard, and on a touch screen they choose what a finger does.",
        charts,
    )
