"""The network that the slides leave open: which one comes nearest to the row of slide 20 that is fitted, Reno's."""

from __future__ import annotations

import math
from typing import Final

import polars as pl

from ecnlab.papers.kwon_fahmy.grid import GRID
from ecnlab.papers.material import Material
from ecnlab.papers.written import quantity
from ecnlab.report import Table
from ecnlab.report.page import Cell

KEYS: Final = ("object_size", "inter_session", "min_th", "maxp", "udp_rate")
"""What calibration.toml varies."""

FITTED: Final = {"delay": 14.260, "web": 1.509, "udp": 2.855, "ftp": 38.772, "drops": 0.01637}
"""Reno's row of slide 20: s, Mb/s three times, share."""

CHOSEN: Final = {"object_size": "128 kB", "inter_session": "4 s", "min_th": "3", "maxp": "0.02", "udp_rate": "580 kbps"}
"""The nearest combination of the full size; gfc2.toml has it."""

SHOWN: Final = 10
"""Combinations in the table."""


def ranked(given: Material) -> pl.DataFrame:
    """The combinations of `KEYS`, nearest first: their five columns and ``distance``.

    ``distance`` is the root mean square of the logarithms of measured over printed.
    """
    points = given.points.filter(pl.col("object_size") != "", pl.col("metric").is_in(list(FITTED)))
    table = points.pivot(on="metric", index=KEYS, values="mean")
    squares = [(pl.col(metric) / printed).log() ** 2 for metric, printed in FITTED.items()]
    distance = (pl.sum_horizontal(squares) / len(FITTED)).sqrt()
    return table.with_columns(distance.alias("distance")).sort("distance", *KEYS)


def calibrated(given: Material) -> Table:
    """What was fitted, to what, and how well: an error of 10% is one that each column has."""
    nearest = list(ranked(given).iter_rows(named=True))
    rows: list[list[Cell | str]] = [
        ["printed (Reno, slide 20)", *("" for _ in KEYS[1:]), *(_value(given, m, x) for m, x in FITTED.items()), ""]
    ]
    for row in nearest[:SHOWN]:
        off_by = f"{math.exp(row['distance']) - 1.0:.0%}"
        settings = (Cell(GRID.on_axis(key, row[key])) for key in KEYS)
        rows.append([*settings, *(_value(given, metric, row[metric]) for metric in FITTED), Cell(off_by, True)])
    chosen = next(i for i, row in enumerate(nearest, 1) if all(row[key] == CHOSEN[key] for key in KEYS))
    columns = [*KEYS, *(given.metric(metric).name for metric in FITTED), "off by"]
    return Table(
        f"The nearest of {len(nearest)}; the network of all other runs is number {chosen} by the seeds of this size",
        columns,
        rows,
    )


def _value(given: Material, metric: str, value: float) -> Cell:
    return Cell(quantity(value, given.metric(metric)), True)
