"""Settings that the paper does not specify: candidates, the nearest one, and their effect on the claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Final, TypeVar

import polars as pl
from msgspec import structs

from ecnlab.papers import blocks
from ecnlab.papers.akujobi.grid import GRID
from ecnlab.papers.judge import at, judge_claims, judge_numbers
from ecnlab.papers.material import Material
from ecnlab.papers.published import Claim, Number, Published
from ecnlab.papers.references import as_printed
from ecnlab.report import Table
from ecnlab.report.page import Cell

KEYS: Final = ("above", "spacing", "mean_packet", "tick", "timer")

STATED: Final = {"tick": "100 ms"}
"""Values that the paper states (section V-A): only combinations with them are chosen."""

ORDERS: Final = (
    ("variant_gain_over", "gains more than", 1),
    ("variant_loss_to", "loses less than", -1),
)
"""The paper's orders of the schemes at 46 flows: metric, words, and the side of no effect that they name."""

PAIRS: Final = (("eb40", "ecn"), ("eb20", "ecn"), ("becn", "ecn"), ("eb20", "eb40"), ("becn", "eb40"))
"""Which schemes it orders."""


def choose(given: Material, stated: Mapping[str, str] = STATED) -> pl.DataFrame:
    """Return the combinations of `KEYS` with the ``stated`` values, nearest first, from results with ECN alone.

    ``distance`` is the sum of the relative distances from the printed gain and loss (section VI-A, figures 3 and 4).
    """
    gain = given.at("variant_gain", **stated, scheme="ecn").select(*KEYS, gain="mean")
    loss = given.at("variant_loss", scheme="ecn").select(*KEYS, measured_loss="mean")
    off = [
        (pl.col(column) / given.published.number(name).value - 1.0).abs()
        for column, name in (("gain", "A13.1"), ("measured_loss", "A14.1"))
    ]
    return gain.join(loss, on=KEYS).with_columns(distance=off[0] + off[1]).sort("distance", *KEYS)


def chosen(given: Material) -> str:
    """Return the combination chosen by the rule."""
    return GRID.place(choose(given).row(0, named=True))


def chosen_with_any_clock(given: Material) -> str:
    """Return the combination that the rule would choose if the clock were free as well."""
    return GRID.place(choose(given, {}).row(0, named=True))


def orders(given: Material) -> Table:
    """Return the number of combinations in which each order of the schemes holds, by its 95% interval."""
    rows: list[list[Cell | str]] = []
    for (start, words, side), (scheme, other) in product(ORDERS, PAIRS):
        metric = f"{start}_{other}"
        neutral, found = given.metric(metric).neutral or 0.0, given.at(metric, scheme=scheme)
        above, below = found.filter(pl.col("low") > neutral).height, found.filter(pl.col("high") < neutral).height
        holds, reverse = (above, below) if side > 0 else (below, above)
        counts = (holds, reverse, found.height - holds - reverse)
        statement = f"{GRID.named(scheme)} {words} {GRID.named(other)}"
        rows.append([Cell(statement), *blocks.numeric(*map(str, counts))])
    return Table(
        "The paper's orders at 46 flows: on how many of all combinations each holds, is reversed, or is undecided by its 95% "
        "interval.",
        ["order", "holds", "reversed", "undecided"],
        rows,
    )


def ten_nearest(given: Material) -> Table:
    """Return the ten combinations that the rule ranks first."""
    ranked = choose(given).head(10).select(KEYS).with_row_index("rank")
    ecn = at(given.points, ["variant_gain", "variant_loss"], {**given.published.where, "scheme": "ecn"})
    nearest = ecn.join(ranked, on=KEYS).sort("rank", "metric")
    return blocks.table_of(nearest, given.published, "The ten nearest for ECN, nearest first", KEYS, GRID, False)


# --------------------------------------------------------------- the same under the nearest settings of all

T = TypeVar("T", bound=Number | Claim)


def elsewhere(given: Material) -> Published:
    """Every number and claim that was measured again under the settings nearest of all."""
    return replace(
        given.published,
        numbers=tuple(_there(number) for number in given.published.numbers if is_there(number, given.points)),
        claims=tuple(_there(claim) for claim in given.published.claims if is_there(claim, given.points)),
    )


def _there(entry: T) -> T:
    return structs.replace(entry, where={**entry.where, "settings": "nearest"})


def is_there(entry: Number | Claim, points: pl.DataFrame) -> bool:
    """Return whether an entry was also measured under the nearest settings, at all of its places."""
    places = [at(points, entry.metric, one.where).height for one in (entry, _there(entry))]
    return places[0] == places[1] > 0


def _answers(given: Material) -> pl.DataFrame:
    return judge_claims(elsewhere(given), given.tables["samples"], given.points, GRID)


def tested_again(given: Material) -> str:
    """Return the number of claims tested under both settings."""
    return str(len(elsewhere(given).claims))


def answered_alike(given: Material) -> str:
    """How many of them have the same answer."""
    answers = given.claims.unique("id").join(_answers(given).unique("id"), on="id", suffix="_there")
    return str(answers.filter(pl.col("answer") == pl.col("answer_there")).height)


def numbers_beside(given: Material) -> Table:
    """Printed numbers under both settings."""
    rows: list[list[Cell | str]] = []
    for row in judge_numbers(elsewhere(given), given.points, GRID).iter_rows(named=True):
        metric = given.metric(row["metric"])
        here = given.numbers.row(by_predicate=pl.col("id") == row["id"], named=True)
        rows.append(
            [
                Cell(f"{metric.name}: {GRID.place({**row, 'settings': ''})}", lead=row["id"]),
                Cell(as_printed(row["printed"], metric), True),
                *(
                    cell
                    for one in (here, row)
                    for cell in (Cell(given.with_interval(one)), blocks.chip(one["verdict"]))
                ),
            ]
        )
    columns = ["row", "printed", "measured", "verdict", "nearest settings", "verdict there"]
    return Table("Printed numbers, under the networks' settings and the nearest.", columns, rows)


def claims_beside(given: Material) -> Table:
    """Claims under both settings."""
    there, rows = _answers(given), []
    for claim in elsewhere(given).claims:
        cells: list[Cell | str] = [Cell(claim.statement, lead=claim.id)]
        for tests in (given.claims, there):
            own = tests.filter(pl.col("id") == claim.id)
            text = blocks.evidence(own, given.metric(claim.metric), claim.test, GRID)
            cells += [Cell(text), blocks.chip(own["answer"][0])]
        rows.append(cells)
    columns = ["claim", "evidence, with 95% intervals", "holds", "nearest settings", "holds there"]
    return Table("Claims, under the networks' settings and the nearest.", columns, rows)
