"""What the report draws besides ``sections.toml``: the equilibrium, the calibration, the printed tables, one run over time."""

from __future__ import annotations

import math
from typing import Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.kwon_fahmy import choice
from ecnlab.papers.kwon_fahmy.grid import ARMS, AS_IS, GRID, MORE_FTP, MORE_UDP, PRIMARY
from ecnlab.papers.kwon_fahmy.measure import COLUMNS
from ecnlab.papers.layout import Material
from ecnlab.papers.paper import Stored
from ecnlab.papers.published import Published
from ecnlab.papers.samples import at
from ecnlab.papers.written import quantity
from ecnlab.report import Axis, Chart, Figure, Finding, Group, Line, Point, Section, Series, Table
from ecnlab.report.page import Cell, Tone

FLOWS: Final = {label: float(label) for label in ("5", "10", "20", "30", "40")}
FLOWS_AXIS: Final = Axis("flows", [(value, label) for label, value in FLOWS.items()], log=True)
MAX_P: Final = {label: float(label) for label in ("0.05", "0.1", "0.2")}
MAX_P_AXIS: Final = Axis("max_p", [(value, label) for label, value in MAX_P.items()], log=True)
GAINS: Final = [f"{metric}_gain" for metric in COLUMNS]

NEAREST: Final = 10
"""Combinations of the calibration that are shown."""

FITTED_SLIDE: Final = 20


def ordering(numbers: pl.DataFrame) -> Finding:
    """How many printed differences of slide 20, all fifteen, have the sign that was printed, by their intervals."""
    rows = numbers.filter(pl.col("row") == "W11", pl.col("metric").is_in(GAINS))
    sides = rows.select(
        ((pl.col("printed") > 0) & (pl.col("low") > 0) | (pl.col("printed") < 0) & (pl.col("high") < 0)).alias("same"),
        ((pl.col("printed") > 0) & (pl.col("high") < 0) | (pl.col("printed") < 0) & (pl.col("low") > 0)).alias("other"),
    )
    same, other = (int(sides[side].sum()) for side in ("same", "other"))
    tone: Tone = "yes" if same == rows.height else "no" if same < rows.height / 2 else "partly"
    return Finding(
        {"yes": "Yes", "partly": "Mostly", "no": "No"}[tone],
        tone,
        "The differences that slide 20 prints have the printed sign.",
        f"Five columns, three pairs: {same} of {rows.height} decided as printed, {other} the other way, "
        f"{rows.height - same - other} undecided.",
    )


def values(numbers: pl.DataFrame) -> Finding:
    """How many of the values that no calibration has seen are predicted."""
    rows = numbers.filter(pl.col("id").str.contains(".value.", literal=True))
    agree = rows.filter(pl.col("verdict") == "agrees").height
    tone: Tone = "yes" if agree == rows.height else "no" if agree < rows.height / 2 else "partly"
    return Finding(
        {"yes": "Yes", "partly": "Mostly", "no": "No"}[tone],
        tone,
        "Calibrated on Reno's row of slide 20 alone, the network gives the other values of both tables.",
        f"{agree} of {rows.height} within a tenth or inside the interval; the five of the fitted row are not counted.",
    )


def in_settings(given: Material, claim: str, statement: str) -> Finding:
    """A claim of many places as one sentence: in how many it holds, and from where to where the error runs."""
    tests = given.claims.filter(pl.col("id") == claim)
    metric = given.published.metrics[tests["metric"][0]]
    holds = tests.filter(pl.col("outcome") == "yes").height
    by_size = tests.sort(pl.col("mean").abs())["mean"]
    best, worst = (quantity(error, metric) for error in (by_size[0], by_size[-1]))
    answer = tests["answer"][0]
    evidence = f"In {holds} of {tests.height} settings; errors from {best} to {worst}."
    return Finding(answer.capitalize(), blocks.ANSWERS[answer], statement, evidence)


def equilibrium(points: pl.DataFrame, published: Published, tables: Stored) -> Section:
    """Slide 17."""
    load, settings = points.filter(pl.col("flows") != ""), points.filter(pl.col("min_th") != "")
    figures = []
    for metric, label in (("queue", "average queue, packets"), ("signals", "marked or dropped")):
        curves = [
            blocks.series(
                at(load, f"{metric}_{side}", {"arm": arm}), "flows", FLOWS, f"{GRID.named(arm)}, {side}", style
            )
            for style, (arm, side) in enumerate(
                (arm, side) for arm in ("reno", "ecn-ab") for side in ("measured", "predicted")
            )
        ]
        figures.append(
            blocks.figure(
                f"Equilibrium: {label}",
                "Lines and markers by arm and side; max_p 0.1, thresholds 28 and 84 packets.",
                FLOWS_AXIS,
                published.metrics[f"{metric}_measured"],
                curves,
                label=label,
            )
        )
    errors = [
        blocks.series(
            at(settings, "queue", {"arm": arm, "min_th": min_th}),
            "maxp",
            MAX_P,
            f"{GRID.named(arm)}, min_th {min_th}",
            style,
        )
        for style, (arm, min_th) in enumerate((arm, th) for arm in ("reno", "ecn-ab") for th in ("14", "28"))
    ]
    figures.append(
        blocks.figure(
            "Error of the queue over RED's settings", "20 flows.", MAX_P_AXIS, published.metrics["queue"], errors
        )
    )
    names = ["queue", "queue_measured", "queue_predicted", "signals", "signals_measured", "signals_predicted"]
    everything = points.filter(pl.col("metric").is_in(names))
    return Section(
        "equilibrium",
        "The equilibrium",
        "Where n flows of the model fill the link and gentle RED signals as often as they need, against the run. The model "
        "uses no measurement. Its senders are too fast where windows are small (above), so it asks for more signals than "
        "the run needs; because RED's p rises steeply, an error of p is a much smaller one of the queue.",
        [
            Group([*(_crossing(points, tables["control"], arm) for arm in PRIMARY), *figures]),
            blocks.table_of(everything, published, "All settings", ["arm", "flows", "min_th", "maxp"], GRID),
        ],
    )


def _crossing(points: pl.DataFrame, control: pl.DataFrame, arm: str) -> Figure:
    """The control curves of queue and senders, where they cross, and where the run was."""
    here = control.filter(pl.col("arm") == arm)
    curves = [
        Series(
            name,
            [Point(row["queue"], row["p"]) for row in here.filter(pl.col("curve") == curve).iter_rows(named=True)],
            style,
        )
        for style, (curve, name) in enumerate(
            (("queue", "gentle RED, p = H(q)"), ("senders", "20 senders that fill the link"))
        )
    ]
    where = {"arm": arm, "flows": "20"}
    x, y = (at(points, f"{metric}_measured", where).row(0, named=True) for metric in ("queue", "signals"))
    run = Point(x["mean"], y["mean"], y["low"], y["high"], y["n"])
    return Figure(
        f"Control curves: {GRID.named(arm)}",
        "Slide 17. The curves cross at the equilibrium; 20 flows, thresholds 28 and 84 packets, max_p 0.1.",
        Axis("average queue, packets"),
        Axis("marked or dropped"),
        [*curves, Series("the run", [run], len(curves))],
    )


def calibration(points: pl.DataFrame, published: Published) -> Section:
    """What was fitted, to what, and how well."""
    ranked = choice.ranked(points)
    rows: list[list[Cell | str]] = [
        [
            *(Cell(GRID.on_axis(key, row[key])) for key in choice.KEYS),
            *(Cell(quantity(row[metric], published.metrics[metric]), True) for metric in choice.FITTED),
            Cell(f"{choice.off_by(row['distance']):.0%}", True),
        ]
        for row in ranked.head(NEAREST).iter_rows(named=True)
    ]
    printed = [quantity(value, published.metrics[metric]) for metric, value in choice.FITTED.items()]
    rows.insert(
        0, [Cell("printed (Reno, slide 20)"), *("" for _ in choice.KEYS[1:]), *(Cell(x, True) for x in printed), ""]
    )
    chosen = next(
        place
        for place, row in enumerate(ranked.iter_rows(named=True), 1)
        if all(row[key] == choice.CHOSEN[key] for key in choice.KEYS)
    )
    columns = [*choice.KEYS, *(published.metrics[metric].name for metric in choice.FITTED), "off by"]
    caption = (
        f"The nearest of {ranked.height}; the network of all other runs is number {chosen} by the seeds of this size"
    )
    return Section(
        "calibration",
        "The network, calibrated on one row",
        "The slides state neither web traffic nor thresholds nor the rate of UDP. The combination of calibration.toml that is "
        "nearest to Reno's row of slide 20 with five seeds, by the root mean square of logarithms, is the network of the "
        "runs below. This row is fitted, and says nothing about the reading of the columns; no other row has a part in it.",
        [Table(caption, columns, rows)],
    )


def printed_tables(points: pl.DataFrame, published: Published, numbers: pl.DataFrame) -> Section:
    """Slides 20 and 21, value by value."""
    here = points.filter(pl.col("metric").is_in([*COLUMNS, "web_complete"]))
    gains = points.filter(pl.col("test") == AS_IS, pl.col("metric").is_in(GAINS))
    return Section(
        "table",
        "The tables of slides 20 and 21",
        "Each value beside the printed one; Reno's row of slide 20 is the fitted one. Arms in whole packets are judged, "
        "that with real windows stands beside them.",
        [
            _table(here, published, numbers, AS_IS, "Slide 20", 20),
            _table(here, published, numbers, MORE_FTP, "Slide 21, ten more FTP sessions", 21),
            _table(here, published, numbers, MORE_UDP, "Slide 21, ten more UDP sources", 21),
            blocks.table_of(
                gains, published, "Slide 20, compared under the same seeds", ["arm", "against"], GRID, folded=False
            ),
        ],
    )


def _table(
    points: pl.DataFrame, published: Published, numbers: pl.DataFrame, test: str, caption: str, slide: int
) -> Table:
    """A printed table: a row a response, in each cell the printed value and the measured one."""
    rows: list[list[Cell | str]] = []
    for arm in ARMS:
        cells: list[Cell | str] = [Cell(GRID.named(arm))]
        for metric in COLUMNS:
            found = at(points, metric, {"test": test, "arm": arm}).row(0, named=True)
            measured = blocks.with_interval(found, published.metrics[metric])
            cells.append(Cell(f"{_printed(numbers, published, slide, arm, metric)}: {measured}"))
        rows.append(cells)
    return Table(caption, ["response", *(published.metrics[metric].name for metric in COLUMNS)], rows, cards=True)


def _printed(numbers: pl.DataFrame, published: Published, slide: int, arm: str, metric: str) -> str:
    """What a table has there: a value, the fitted one, or none."""
    if arm not in PRIMARY:
        return "not printed"
    if slide == FITTED_SLIDE and arm == "reno":
        return f"{quantity(choice.FITTED[metric], published.metrics[metric])} (fitted)"
    row = numbers.filter(pl.col("metric") == metric, pl.col("arm") == arm, pl.col("row") == f"W{slide - 9}")
    return blocks.as_printed(row["printed"].item(), published.metrics[metric])


def evolution(tables: Stored) -> Section:
    """Slides 10 and 12."""
    drawn = tables["drawn_windows"]
    wide = drawn.pivot(on="arm", index="time_s", values="window").sort("time_s").fill_null(math.nan)
    lines = [Line(GRID.named(arm), wide[arm].to_list(), style) for style, arm in enumerate(ARMS) if arm in wide.columns]
    return Section(
        "windows",
        "Windows over time",
        "One of five flows at 10 Mb/s, where windows are tens of packets, with a wire that loses one packet in 2000: on a mark "
        "ECN(α, β) keeps 7/8 and then climbs by 0.2 packets a round trip; on a loss it halves and climbs by one again.",
        [
            Chart(
                "Window evolution",
                f"Slides 10 and 12. Seed {tables.about['drawn_seed']}.",
                wide["time_s"].to_list(),
                lines,
                "segments",
            )
        ],
    )
