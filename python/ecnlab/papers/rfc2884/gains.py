"""Sections of the report: what the RFC measured itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.published import Published
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.samples import at
from ecnlab.report import Axis, Chart, Figure, Group, Line, Section, Series
from ecnlab.report.page import Block

LOAD: Final = {"low": 1.0, "moderate": 2.0, "high": 3.0}
LOAD_AXIS: Final = Axis("background transfers", [(1.0, "low: 2"), (2.0, "moderate: 5"), (3.0, "high: 10")])
MAX_P: Final = {label: float(label) for label in ("0.02", "0.05", "0.1", "0.2", "0.3", "0.5")}
MAX_P_AXIS: Final = Axis("max_p", [(value, label) for label, value in MAX_P.items()], log=True)
SIZE: Final = {f"{size} KB": float(size) for size in (5, 8, 10, 20, 40, 80, 160)}
SIZE_AXIS: Final = Axis("response", [(value, label) for label, value in SIZE.items()], log=True)


def bulk(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Section:
    """Section 5.2."""
    main = points.filter(pl.col("recovery").is_in(["reno", "fack"]))
    retransmitted = [
        _by(at(points, f"retransmits_{side}", {"recovery": "reno", "congestion": "high"}), "maxp", name, style)
        for style, (side, name) in enumerate((("ecn", "ECN"), ("plain", "non-ECN")))
    ]
    timers = [
        _by(at(points, metric, {"recovery": "reno", "congestion": "high"}), "maxp", name, style)
        for style, (metric, name) in enumerate(
            (("timeouts_plain", "timer expiries counted"), ("timeouts_inferred", "the RFC's inference"))
        )
    ]
    figures = [
        *_gains("Bulk gain", ("max_p 0.1.", "High congestion."), "bulk_gain", main, numbers, published),
        blocks.figure(
            "Retransmissions against max_p",
            "Reno, high congestion; share of the segments sent.",
            MAX_P_AXIS,
            published.metrics["retransmits_plain"],
            retransmitted,
            label="retransmitted share of segments",
        ),
        blocks.figure(
            "Timeouts of the non-ECN flow",
            "Reno, high congestion; per retransmission. The inference counts every "
            "retransmission that no third duplicate ACK started.",
            MAX_P_AXIS,
            published.metrics["timeouts_plain"],
            timers,
        ),
    ]
    everything = points.filter(pl.col("metric").is_in(["bulk_gain", "bulk_gain_together", "bulk_ecn", "bulk_plain"]))
    return Section(
        "bulk",
        "Bulk transfers",
        "A 20 MB file to an ECN client and one to a non-ECN client, beside 2, 5 or 10 non-ECN background "
        "transfers. Throughput is "
        "size over transfer time; the client that finishes first leaves the other with less competition, so the "
        "gain while both run is larger "
        "(bulk_gain_together in the table).",
        [
            Group(figures),
            blocks.table_of(
                everything, published, "All loads, max_p and recoveries", ["recovery", "congestion", "maxp"], GRID
            ),
        ],
    )


def transactions(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Section:
    """Section 5.3."""
    main = points.filter(pl.col("recovery").is_in(["reno", "fack"]))
    where = {"recovery": "reno", "congestion": "high"}
    rates = [
        _by(at(points, "transaction_ecn", where), "maxp", "ECN client", 0),
        _by(at(points, "transaction_plain", where), "maxp", "non-ECN client", 1),
    ]
    sizes = [
        _by(at(points, "size_gain", {"congestion": "high", "maxp": p}), "size", f"max_p {p}", style, SIZE)
        for style, p in enumerate(("0.02", "0.1", "0.5"))
    ]
    sizes.append(_by(at(points, "longer_gain", {}), "size", "max_p 0.1, to 160 KB", 3, SIZE))
    printed = blocks.printed(at(numbers, "transaction_ecn", {}), "maxp", MAX_P, "printed, ECN client", 0)
    figures = [
        *_gains(
            "Transaction gain",
            ("5 KB, max_p 0.1.", "5 KB, high congestion."),
            "transaction_gain",
            main,
            numbers,
            published,
        ),
        blocks.figure(
            "Transaction rate against max_p",
            "5 KB, Reno, high congestion; transactions per second.",
            MAX_P_AXIS,
            published.metrics["transaction_ecn"],
            rates,
            printed,
            label="transactions per second",
        ),
        blocks.figure(
            "Transaction gain against size", "Reno, high congestion.", SIZE_AXIS, published.metrics["size_gain"], sizes
        ),
    ]
    wanted = ["transaction_gain", "transaction_ecn", "transaction_plain", "size_gain", "size_ecn", "size_plain"]
    everything = points.filter(pl.col("metric").is_in(wanted))
    return Section(
        "transactions",
        "Transactions",
        "Connect, send a request of 1 KB, receive the response, close, begin again; three minutes a test. Both "
        "clients run at once.",
        [
            Group(figures),
            blocks.table_of(
                everything,
                published,
                "All loads, max_p, recoveries and sizes",
                ["recovery", "congestion", "maxp", "size"],
                GRID,
            ),
        ],
    )


def fairness(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Section:
    """Section 5.1."""
    low = [
        _by(at(points, "jain", {"congestion": "low", "background": side}), "maxp", GRID.named(side), style)
        for style, side in enumerate(("ecn", "plain"))
    ]
    scale = {label: MAX_P[label] for label in ("0.02", "0.05", "0.1", "0.2")}
    axis = Axis("max_p", [(value, label) for label, value in scale.items()], log=True)
    printed = [
        marks
        for style, side in enumerate(("ecn", "plain"))
        for marks in blocks.printed(
            at(numbers, "jain", {"background": side}), "maxp", scale, f"printed, {GRID.named(side)}", style
        )
    ]
    signals = [
        _by(at(points, metric, {"congestion": "high"}), "maxp", name, style)
        for style, (metric, name) in enumerate(
            (("marks_to_drops", "by count"), ("mark_rate_to_drop_rate", "per arriving packet"))
        )
    ]
    figures = [
        blocks.figure(
            "Fairness",
            "Low congestion, over all four flows, 300 s.",
            axis,
            published.metrics["jain"],
            low,
            printed,
            zero=False,
        ),
        blocks.figure(
            "Marks over drops",
            "Six ECN and six non-ECN flows. RED is even-handed per packet that arrives.",
            MAX_P_AXIS,
            published.metrics["mark_rate_to_drop_rate"],
            signals,
            label="marks of ECN packets over drops of non-ECN packets",
        ),
    ]
    everything = points.filter(
        pl.col("metric").is_in(["jain", "jain_difference", "marks_to_drops", "mark_rate_to_drop_rate"])
    )
    return Section(
        "fairness",
        "Fairness",
        "Jain's index is 1 when all flows have equal goodput and 1/n when one has everything.",
        [
            Group(figures),
            blocks.table_of(everything, published, "All loads and max_p", ["congestion", "maxp", "background"], GRID),
        ],
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


def _gains(
    title: str,
    captions: tuple[str, str],
    metric: str,
    points: pl.DataFrame,
    numbers: pl.DataFrame,
    published: Published,
) -> list[Figure]:
    """A gain along either axis for the two stacks the RFC printed numbers of: at max_p 0.1, and at high congestion."""
    figures = []
    for along, where, axis, scale, drawn, caption in (
        ("congestion", {"maxp": "0.1"}, "congestion", LOAD, LOAD_AXIS, captions[0]),
        ("max_p", {"congestion": "high"}, "maxp", MAX_P, MAX_P_AXIS, captions[1]),
    ):
        curves, marks = [], []
        for style, recovery in enumerate(("reno", "fack")):
            here = {**where, "recovery": recovery}
            name = GRID.named(recovery)
            curves.append(blocks.series(at(points, metric, here), axis, scale, name, style))
            marks += blocks.printed(at(numbers, metric, here), axis, scale, f"printed, {name}", style)
        figures.append(
            blocks.figure(f"{title} against {along}", caption, drawn, published.metrics[metric], curves, marks)
        )
    return figures


def _by(points: pl.DataFrame, axis: str, name: str, style: int, scale: Mapping[str, float] = MAX_P) -> Series:
    return blocks.series(points, axis, scale, name, style)
