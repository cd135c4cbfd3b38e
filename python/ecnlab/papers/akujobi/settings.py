"""The sections on what the paper leaves open: what was tried, and whether what the paper claims depends on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeVar

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.akujobi.choice import KEYS, choose
from ecnlab.papers.akujobi.grid import GRID
from ecnlab.papers.judge import judge_claims, judge_numbers
from ecnlab.papers.layout import Material
from ecnlab.papers.published import Claim, Number, Published
from ecnlab.papers.samples import at
from ecnlab.report import Section, Table
from ecnlab.report.page import Cell

NEAREST: Final = {"settings": "nearest"}

ORDERS: Final = (
    ("variant_gain_over_ecn", "eb40", "ECN+BECN (40 kB) gains more than ECN", 1),
    ("variant_gain_over_ecn", "eb20", "ECN+BECN (20 kB) gains more than ECN", 1),
    ("variant_gain_over_ecn", "becn", "BECN gains more than ECN", 1),
    ("variant_gain_over_eb40", "eb20", "ECN+BECN (20 kB) gains more than ECN+BECN (40 kB)", 1),
    ("variant_gain_over_eb40", "becn", "BECN gains more than ECN+BECN (40 kB)", 1),
    ("variant_loss_to_ecn", "eb40", "ECN+BECN (40 kB) loses less than ECN", -1),
    ("variant_loss_to_ecn", "eb20", "ECN+BECN (20 kB) loses less than ECN", -1),
    ("variant_loss_to_ecn", "becn", "BECN loses less than ECN", -1),
    ("variant_loss_to_eb40", "eb20", "ECN+BECN (20 kB) loses less than ECN+BECN (40 kB)", -1),
    ("variant_loss_to_eb40", "becn", "BECN loses less than ECN+BECN (40 kB)", -1),
)
"""The paper's orders of the schemes at 46 flows: metric, scheme, statement, and the side of no effect that it names."""


def variants(points: pl.DataFrame, published: Published) -> Section:
    """What the paper leaves open."""
    keys = list(KEYS)
    ranked = choose(points).head(10)
    by_ecn = points.filter(pl.col("metric").is_in(["variant_gain", "variant_loss"]), pl.col("scheme") == "ecn")
    nearest = by_ecn.join(ranked.select(keys).with_row_index("rank"), on=keys).sort("rank", "metric")
    everything = points.filter(pl.col("metric").str.starts_with("variant_"))
    return Section(
        "variants",
        "What the paper leaves open",
        "The schemes at 46 mixed flows over every combination. Of those with the printed clock the rule takes the one with "
        "the least sum of relative distances from ECN's printed gain (34.58%) and loss (0.57%); no other scheme enters. In "
        f"these runs it takes {_first(ranked)}; were the clock free too, it would take {_first(choose(points, {}))}. The files "
        "of the networks, and of the nearest settings below, have what twenty seeds took.",
        [
            orders(points, published),
            blocks.table_of(nearest, published, "The ten nearest for ECN, nearest first", keys, GRID, False),
            blocks.table_of(everything, published, "All combinations", [*keys, "scheme"], GRID),
        ],
    )


def _first(ranked: pl.DataFrame) -> str:
    return GRID.place({**ranked.row(0, named=True), "scheme": ""})


def orders(points: pl.DataFrame, published: Published) -> Table:
    """On how many combinations each order of the schemes holds, by its 95% interval."""
    rows: list[list[Cell | str]] = []
    for metric, scheme, statement, side in ORDERS:
        neutral = published.metrics[metric].neutral or 0.0
        found = at(points, metric, {"scheme": scheme})
        above, below = found.filter(pl.col("low") > neutral).height, found.filter(pl.col("high") < neutral).height
        holds, reverse = (above, below) if side > 0 else (below, above)
        counts = (holds, reverse, found.height - holds - reverse)
        rows.append([Cell(statement), *(Cell(str(count), True) for count in counts)])
    return Table(
        "The paper's orders at 46 flows: on how many of all combinations each holds, is reversed, or is undecided by its 95% "
        "interval.",
        ["order", "holds", "reversed", "undecided"],
        rows,
    )


def nearest(given: Material) -> Section:
    """Every number and claim that was measured again under the settings nearest of all, beside those of the networks."""
    published, points = given.published, given.points
    there = replace(
        published,
        numbers=tuple(_elsewhere(number) for number in published.numbers if _is_there(number, points)),
        claims=tuple(_elsewhere(claim) for claim in published.claims if _is_there(claim, points)),
    )
    of_numbers = judge_numbers(there, points, GRID)
    of_claims = judge_claims(there, given.tables["samples"], points, GRID)
    alike = _alike(given.claims, of_claims)
    return Section(
        "nearest",
        "The same under the nearest settings of all",
        "With the clock free, uniform spacing, a clock of 10 ms and a least timeout of 0.2 s come nearest to what is printed "
        "of ECN. The paper says 100 ms; whether its claims depend on that is asked here: all four experiments again. Of "
        f"{len(there.claims)} claims {alike} have the same answer.",
        [_numbers_beside(given, of_numbers), _claims_beside(given, of_claims, there)],
    )


T = TypeVar("T", Number, Claim)


def _elsewhere(entry: T) -> T:
    return replace(entry, where={**entry.where, **NEAREST})


def _is_there(entry: T, points: pl.DataFrame) -> bool:
    """Whether an entry was measured under the nearest settings, too, and at all of its places."""
    places = [at(points, entry.metric, one.where).height for one in (entry, _elsewhere(entry))]
    return places[0] == places[1] > 0


def _alike(here: pl.DataFrame, there: pl.DataFrame) -> int:
    answers = here.unique("id").join(there.unique("id"), on="id", suffix="_there")
    return int((answers["answer"] == answers["answer_there"]).sum())


def _numbers_beside(given: Material, there: pl.DataFrame) -> Table:
    rows: list[list[Cell | str]] = []
    for row in there.iter_rows(named=True):
        metric = given.published.metrics[row["metric"]]
        here = given.numbers.row(by_predicate=pl.col("id") == row["id"], named=True)
        place = GRID.place({**row, "settings": ""})
        rows.append(
            [
                Cell(f"{metric.name}: {place}", lead=row["id"]),
                Cell(blocks.as_printed(row["printed"], metric), True),
                Cell(blocks.with_interval(here, metric)),
                Cell(here["verdict"], tone=blocks.VERDICTS[here["verdict"]]),
                Cell(blocks.with_interval(row, metric)),
                Cell(row["verdict"], tone=blocks.VERDICTS[row["verdict"]]),
            ]
        )
    columns = ["row", "printed", "measured", "verdict", "nearest settings", "verdict there"]
    return Table("Printed numbers, under the networks' settings and the nearest.", columns, rows, cards=True)


def _claims_beside(given: Material, there: pl.DataFrame, published: Published) -> Table:
    rows: list[list[Cell | str]] = []
    for claim in published.claims:
        cells = [Cell(claim.statement, lead=claim.id)]
        for tests in (given.claims, there):
            own = tests.filter(pl.col("id") == claim.id)
            answer = own["answer"][0]
            cells.append(Cell(blocks.evidence(own, published.metrics[claim.metric], claim.test)))
            cells.append(Cell(answer, tone=blocks.ANSWERS[answer]))
        rows.append([*cells])
    columns = ["claim", "evidence, with 95% intervals", "holds", "nearest settings", "holds there"]
    return Table("Claims, under the networks' settings and the nearest.", columns, rows, cards=True)
