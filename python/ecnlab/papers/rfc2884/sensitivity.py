"""Sections of the report: what the RFC left open, and what its comparison hides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.published import Published
from ecnlab.papers.reasons import quantity
from ecnlab.papers.rfc2884.choice import SHARE, choose
from ecnlab.papers.rfc2884.gains import LOAD, LOAD_AXIS, MAX_P, MAX_P_AXIS
from ecnlab.papers.rfc2884.grid import GRID
from ecnlab.papers.samples import at
from ecnlab.report import Axis, Figure, Finding, Group, Section, Table
from ecnlab.report.page import Cell

THRESHOLDS: Final = {f"{k} kB": float(k) for k in (5, 7.5, 10, 15, 20, 30, 40, 60)}
THRESHOLD_AXIS: Final = Axis(
    "min_th, kB (max_th is three times as much)", [(v, f"{v:g}") for v in THRESHOLDS.values()], log=True
)
VARIANTS: Final = ("primary", "20 ms round trip", "modern TCP", "marks spaced as ns-2", "chance per byte")


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


def redistribution(points: pl.DataFrame, published: Published) -> Section:
    """All flows ECN against all flows not, and who pays in the mixed case."""
    figures: list[Figure] = []
    for title, mixed, alike, kind in (
        ("Bulk", "window_gain", "homogeneous_gain", "bulk"),
        ("Transactions of 5 KB", "variant_transaction_gain", "homogeneous_transaction_gain", "transaction"),
    ):
        where: dict[str, str | list[str]] = {"congestion": "high"}
        curves = [
            blocks.series(
                at(points, mixed, {**where, "variant": "primary"}), "maxp", MAX_P, "ECN over non-ECN, mixed", 0
            ),
            blocks.series(at(points, alike, where), "maxp", MAX_P, "all ECN over none", 2),
        ]
        against = [
            blocks.series(at(points, f"{kind}_{side}_against_nobody", where), "maxp", MAX_P, f"{name} client", style)
            for style, (side, name) in enumerate((("ecn", "ECN"), ("plain", "non-ECN")))
        ]
        figures.append(
            blocks.figure(
                f"{title}: mixed and alike", "High congestion, Reno.", MAX_P_AXIS, published.metrics[mixed], curves
            )
        )
        figures.append(
            blocks.figure(
                f"{title}: who pays",
                "Each client among mixed flows, against the same client and seed where nobody uses ECN; "
                "high congestion.",
                MAX_P_AXIS,
                published.metrics[f"{kind}_ecn_against_nobody"],
                against,
            )
        )
    names = ["homogeneous_gain", "homogeneous_total_gain", "homogeneous_transaction_gain"]
    sides = [f"{kind}_{side}_against_nobody" for kind in ("bulk", "transaction") for side in ("ecn", "plain")]
    everything = points.filter(pl.col("metric").is_in([*names, *sides]))
    return Section(
        "redistribution",
        "How much is redistribution?",
        "The RFC lets ECN and non-ECN flows share one queue, and most flows are non-ECN. An ECN flow may then "
        "gain what the others "
        "lose. Here every flow uses ECN in one arm and none in the other, under the same seeds.",
        [Group(figures), blocks.table_of(everything, published, "All loads and max_p", ["congestion", "maxp"], GRID)],
    )


def envelope(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Section:
    """The gain over the thresholds the RFC may have used."""
    share = "share of time in the region"
    figures = [
        _over_thresholds("Bulk gain", "search_gain", points, published),
        _over_thresholds("Bulk: the RED region", "search_share", points, published, label=share, ceiling=1.0),
        _over_thresholds("Transaction gain", "envelope_gain", points, published),
        _over_thresholds(
            "Transaction rate", "envelope_ecn", points, published, label="transactions per second, ECN client"
        ),
    ]
    return Section(
        "envelope",
        "Over all thresholds",
        "The RFC's thresholds are not printed and were tuned for each load, so its percentages have no single "
        "reproduction. "
        "This is the gain over thresholds from 5 to 60 kB, and the settings that come nearest to each printed gain.",
        [Group(figures), _nearest(points, numbers, published)],
    )


def _over_thresholds(
    title: str, metric: str, points: pl.DataFrame, published: Published, label: str = "", ceiling: float = math.inf
) -> Figure:
    curves = [
        blocks.series(at(points, metric, {"congestion": "high", "maxp": p}), "min_th", THRESHOLDS, f"max_p {p}", style)
        for style, p in enumerate(("0.02", "0.1", "0.5"))
    ]
    kind = published.metrics[metric]
    caption = "High congestion, Reno."
    return blocks.figure(title, caption, THRESHOLD_AXIS, kind, curves, label=label, ceiling=ceiling)


def _nearest(points: pl.DataFrame, numbers: pl.DataFrame, published: Published) -> Table:
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


def variants(points: pl.DataFrame, published: Published) -> Section:
    """Readings of the RFC and clocks, one change at a time."""
    figures = []
    for title, metric in (("Bulk", "window_gain"), ("Transactions of 5 KB", "variant_transaction_gain")):
        where: dict[str, str | list[str]] = {"congestion": "high"}
        curves = [
            blocks.series(at(points, metric, {**where, "variant": v}), "maxp", MAX_P, v, style)
            for style, v in enumerate(VARIANTS)
        ]
        figures.append(blocks.figure(title, "High congestion.", MAX_P_AXIS, published.metrics[metric], curves))
    both = [
        blocks.series(
            at(points, metric, {"congestion": "high", "recovery": ["", "reno"], "variant": ["", "primary"]}),
            "maxp",
            MAX_P,
            name,
            style,
        )
        for style, (metric, name) in enumerate(
            (("variant_transaction_gain", "both at once"), ("alone_gain", "one client at a time"))
        )
    ]
    figures.append(
        blocks.figure(
            "One client at a time",
            "Transactions of 5 KB, high congestion. The RFC does not say whether its two clients ran together.",
            MAX_P_AXIS,
            published.metrics["alone_gain"],
            both,
        )
    )
    everything = points.filter(
        pl.col("metric").is_in(
            [
                "window_gain",
                "window_share",
                "variant_transaction_gain",
                "variant_transaction_ecn",
                "variant_transaction_plain",
                "alone_gain",
            ]
        )
    )
    return Section(
        "variants",
        "Other readings, other clocks",
        '"20 ms" may be one way or there and back. The hosts\' timers are those of 1999: the same with '
        "today's. RED spaces its signals "
        "evenly as in the 1993 paper: the same as ns-2 spaces them, and with a chance in proportion to bytes.",
        [
            Group(figures),
            blocks.table_of(everything, published, "All variants", ["variant", "congestion", "maxp"], GRID),
        ],
    )


def region(points: pl.DataFrame, published: Published, recorded: Mapping[str, Any]) -> Section:
    """Section 4.4: where RED's average was."""
    curves = [
        blocks.series(
            at(points, "search_share", {"congestion": load, "maxp": "0.1"}),
            "min_th",
            THRESHOLDS,
            f"{load} load",
            style,
        )
        for style, load in enumerate(LOAD)
    ]
    shares = [
        blocks.series(
            at(points, "region_share", {"recovery": "reno", "maxp": p}), "congestion", LOAD, f"max_p {p}", style
        )
        for style, p in enumerate(("0.02", "0.1", "0.5"))
    ]
    share = published.metrics["region_share"]
    figures = [
        blocks.figure("The search", "At max_p 0.1.", THRESHOLD_AXIS, share, curves, ceiling=1.0),
        blocks.figure(
            "What the bulk runs saw", "Reno, at the chosen thresholds.", LOAD_AXIS, share, shares, ceiling=1.0
        ),
    ]
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
    table = Table(
        "What the rule chooses from the runs of this report, and what the experiments use.",
        ["congestion", "chosen now", "share of time in the region", "used, from red-settings.toml"],
        rows,
    )
    kept = points.filter(pl.col("metric").is_in(["region_share", "transaction_region_share", "search_share"]))
    return Section(
        "region",
        "The RED region",
        f"The rule, fixed before any gain was looked at: at max_p 0.1 the smallest min_th whose average stays "
        f"{SHARE:.0%} of the time in "
        "[min_th, max_th), else the one with the largest share. Settings are chosen by load, not by the answer.",
        [
            Group(figures),
            table,
            blocks.table_of(
                kept,
                published,
                "Share of time in the region, everywhere",
                ["congestion", "maxp", "recovery", "min_th"],
                GRID,
            ),
        ],
    )
