"""Comparison of both readings of the thresholds, and what remains open when all thresholds are tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from ecnlab.papers import blocks
from ecnlab.papers.material import Material
from ecnlab.papers.published import Number
from ecnlab.papers.references import as_printed, quantity
from ecnlab.papers.rfc2884.grid import GRID, LOADS
from ecnlab.papers.rfc2884.thresholds import HALVES, RESAMPLES, RESAMPLING_SEED, choose, measured, smallest, timeouts
from ecnlab.report import Finding, Table
from ecnlab.report.page import Cell
from ecnlab.scenario.data_files import read_toml

# --------------------------------------------------------------- the summary


FEWEST: Final = 20
"""Minimum number of seeds of the joint reading for a statement in the summary: below it the choice varies between sets
of seeds."""

STATEMENT: Final = "Thresholds chosen on half of the printed numbers give the other half."


def worth(given: Material) -> Finding:
    """Return the verdicts under the joint reading on numbers not used for the choice, compared with the first reading.

    Both are counted over the seeds of the joint reading: with fewer seeds intervals are wider.
    """
    if min(given.at("joint_share")["n"]) < FEWEST:
        return Finding(
            "Undecided",
            "open",
            STATEMENT,
            f"Not counted below {FEWEST} seeds of the joint reading, which the full size has (`--full`).",
        )
    first = {load: row["min_th"] for load, row in smallest(given).items()}
    texts, agree, total = [], 0, 0
    for name, swapped in HALVES.items():
        choices = choose(given, swapped=swapped)
        judging = [number for number in given.published.numbers if number.id not in choices[_load(number)].chosen_by]
        taken = {load: choice.min_th for load, choice in choices.items()}
        held, before = (len(_agreeing(given, labels, judging)) for labels in (taken, first))
        texts.append(
            f"min_th {', '.join(f'{label} at {load}' for load, label in taken.items())} load "
            f"({_how_often(given, name, taken)} of {RESAMPLES} resamples of the seeds): of the {len(judging)} numbers that "
            f"had no part in the choice {held} agree, and {before} with the smallest thresholds"
        )
        agree, total = agree + held, total + len(judging)
    return blocks.counted(
        agree,
        total,
        STATEMENT,
        f"{texts[0]}. With the halves exchanged {texts[1]}. {_under_which(given)}",
    )


def _how_often(given: Material, half: str, taken: Mapping[str, str]) -> str:
    """Return the fractions of the resamples in which the rule chooses these min_th, by load."""
    shares = (
        given.point("joint_choice", variant=half, congestion=load, min_th=label)["mean"]
        for load, label in taken.items()
    )
    return ", ".join(quantity(share, given.metric("joint_choice")) for share in shares)


def _under_which(given: Material) -> str:
    """Return the numbers that agree under both readings, under one of them, and under neither."""
    taken = {load: choice.min_th for load, choice in choose(given).items()}
    first = set(given.numbers.filter(pl.col("verdict") == "agrees")["id"])
    second = _agreeing(given, taken, given.published.numbers)
    known = [number.id for number in given.published.numbers]
    parts = {
        "under both readings": first & second,
        "under the first alone": first - second,
        "under the joint one alone": second - first,
        "under neither": set(known) - first - second,
    }
    texts = (f"{where} {', '.join(i for i in known if i in ids) or 'none'}" for where, ids in parts.items())
    return f"Of all {len(known)} agree {'; '.join(texts)}."


def _agreeing(given: Material, taken: Mapping[str, str], numbers: Sequence[Number]) -> set[str]:
    """Return the numbers of ``numbers`` that agree if each load has its min_th of ``taken``."""
    verdicts = {number.id: measured(given, number, taken[_load(number)])["verdict"] for number in numbers}
    return {name for name, verdict in verdicts.items() if verdict == "agrees"}


def _load(number: Number) -> str:
    return str(number.where["congestion"])


# --------------------------------------------------------------- two readings of the thresholds


def taken(given: Material) -> Table:
    """Return the choice of each reading."""
    first, exchanged = smallest(given), choose(given, swapped=True)
    rows: list[list[Cell | str]] = []
    for load, choice in choose(given).items():
        labels = (first[load]["min_th"], choice.min_th)
        timers = " and ".join(f"{timeouts(given, load, label):.0%}" for label in labels)
        cells = blocks.numeric(*labels, exchanged[load].min_th, timers)
        rows.append([load, *cells, Cell(", ".join(choice.chosen_by))])
    readings = ["min_th, first reading", "joint reading", "halves exchanged", "timeouts, first and joint"]
    return Table("What each reading takes.", ["load", *readings, "chosen by"], rows)


def side_by_side(given: Material) -> Table:
    """Every printed number under both."""
    choices, first = choose(given), {row["id"]: row for row in given.numbers.iter_rows(named=True)}
    rows: list[list[Cell | str]] = []
    for number in given.published.numbers:
        choice, before, metric = choices[_load(number)], first[number.id], given.metric(number.metric)
        both = (before, measured(given, number, choice.min_th))
        rows.append(
            [
                Cell(GRID.place(before), lead=number.id),
                Cell(as_printed(number.value, metric), True),
                *(cell for row in both for cell in (Cell(given.with_interval(row), True), blocks.chip(row["verdict"]))),
                "chose" if number.id in choice.chosen_by else "judges",
            ]
        )
    columns = ["number", "printed", "first reading", "verdict", "joint reading", "its verdict", "part"]
    return Table("Every printed number under both readings.", columns, rows)


def resamples(given: Material) -> Table:
    """Return how often the joint reading chooses each threshold when the seeds are resampled."""
    labels = given.at("joint_choice")["min_th"].unique(maintain_order=True).to_list()
    rows: list[list[Cell | str]] = []
    for load in LOADS:
        for half in HALVES:
            shares = {
                row["min_th"]: row["mean"]
                for row in given.at("joint_choice", congestion=load, variant=half).iter_rows(named=True)
            }
            rows.append(
                [
                    load,
                    half,
                    *blocks.numeric(*(f"{shares[label]:.1%}" if shares.get(label) else "" for label in labels)),
                ]
            )
    caption = (
        f"Which min_th the joint reading takes in {RESAMPLES} resamples of its seeds (drawn with replacement, seed {RESAMPLING_SEED}): "
        "share of the resamples, by load and by which half of the printed numbers chooses."
    )
    return Table(caption, ["load", "halves", *labels], rows)


def misses(given: Material) -> Table:
    """The candidates of the joint reading."""
    exchanged = choose(given, swapped=True)
    rows: list[list[Cell | str]] = []
    for load, choice in choose(given).items():
        for label, score in choice.scores.items():
            other, timers = exchanged[load].scores[label], timeouts(given, load, label)
            rows.append([load, *blocks.numeric(label, f"{timers:.1%}", f"{score:.1f}", f"{other:.1f}")])
    columns = ["load", "min_th", "timeouts over retransmissions", "sum of misses", "halves exchanged"]
    return Table("The candidates and their misses, in margins.", columns, rows, folded=True)


# --------------------------------------------------------------- over all thresholds

OVER_THRESHOLDS = {"bulk_gain": "search_gain", "transaction_gain": "envelope_gain", "transaction_ecn": "envelope_ecn"}
"""The metrics of printed numbers, measured over thresholds."""


def nearest(given: Material) -> Table:
    """Return, for each printed Reno gain, the thresholds with the nearest gain, and the range over all."""
    rows: list[list[Cell | str]] = []
    for row in given.numbers.filter(pl.col("recovery") == "reno").iter_rows(named=True):
        metric, printed = OVER_THRESHOLDS[row["metric"]], row["printed"]
        over = given.at(metric, congestion=row["congestion"], maxp=row["maxp"])
        best = over.sort((pl.col("mean") - printed).abs()).row(0, named=True)
        least, most = min(over["mean"]), max(over["mean"])
        inside = least <= printed <= most
        shown = (quantity(value, given.metric(metric)) for value in (printed, least, most))
        rows.append(
            [
                Cell(GRID.place({**row, "recovery": ""}), lead=row["id"]),
                Cell(next(shown), True),
                Cell(" to ".join(shown), True),
                Cell("within" if inside else "outside", tone="yes" if inside else "no"),
                Cell(best["min_th"], True),
                Cell(given.with_interval(best), True),
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
    return Table(caption, columns, rows)


def chosen(given: Material) -> Table:
    """Return the choice of section 4.4's rule from these runs, and the values used by the experiments."""
    used = read_toml(given.folder / "red-settings.toml")["settings"]
    rows: list[list[Cell | str]] = [
        [load, *blocks.numeric(row["min_th"], given.with_interval(row), used[load]["min_th"])]
        for load, row in smallest(given).items()
    ]
    return Table(
        "What the rule chooses from the runs of this report, and what the experiments use.",
        ["congestion", "chosen now", "least share of time in the region, of all max_p", "used, from red-settings.toml"],
        rows,
    )
