"""The network, which the slides do not specify: the one nearest to the fitted row of slide 20, Reno's.

Once with RED that drops above max_th (slide 7), once with gentle RED (slide 15). The nearer one is used for the
verdicts.
"""

from __future__ import annotations

import math
from typing import Final

import polars as pl

from ecnlab.papers.kwon_fahmy.grid import GENTLE, GRID, SLIDE_7
from ecnlab.papers.material import Material
from ecnlab.papers.references import quantity
from ecnlab.report import Table
from ecnlab.report.page import Cell

KEYS: Final = ("object_size", "inter_session", "min_th", "maxp", "udp_rate")
"""Keys varied in calibration.toml and calibration-drop.toml."""

FITTED: Final = {"delay": 14.260, "web": 1.509, "udp": 2.855, "ftp": 38.772, "drops": 0.01637}
"""Reno's row of slide 20: s, Mb/s three times, share."""

FITTED_RATE: Final = {"reno-ecn": 2.830, "ecn-ab": 2.881}
"""UDP goodput in the other rows of slide 20, Mb/s: UDP keeps the fitted rate, independent of TCP."""

CHOSEN: Final = {
    SLIDE_7: {"object_size": "64 kB", "inter_session": "2 s", "min_th": "10", "maxp": "0.02", "udp_rate": "580 kbps"},
    GENTLE: {"object_size": "128 kB", "inter_session": "4 s", "min_th": "3", "maxp": "0.02", "udp_rate": "580 kbps"},
}
"""The nearest combinations of the full size: gfc2.toml has the first, which is nearer; above.toml the second."""

SHOWN: Final = 10
"""Combinations in the table."""


def ranked(given: Material, above: str) -> pl.DataFrame:
    """Return the combinations of `KEYS` with RED's ``above``, nearest first: their five columns and ``distance``.

    ``distance`` is the root mean square of the logarithms of measured over printed.
    """
    points = given.points.filter(pl.col("above") == above, pl.col("metric").is_in(list(FITTED)))
    table = points.pivot(on="metric", index=KEYS, values="mean")
    squares = [(pl.col(metric) / printed).log() ** 2 for metric, printed in FITTED.items()]
    distance = (pl.sum_horizontal(squares) / len(FITTED)).sqrt()
    return table.with_columns(distance.alias("distance")).sort("distance", *KEYS)


def calibrated(given: Material) -> list[Table]:
    """Return fitted values, targets and fit error for each RED: 10% means an error of 10% in each column."""
    return [
        _calibrated(given, SLIDE_7, "RED drops above max_th; the network of the runs that are judged"),
        _calibrated(given, GENTLE, "Gentle RED; the network of above.toml"),
    ]


def _calibrated(given: Material, above: str, what: str) -> Table:
    nearest = list(ranked(given, above).iter_rows(named=True))
    rows: list[list[Cell | str]] = [
        ["printed (Reno, slide 20)", *("" for _ in KEYS[1:]), *(_value(given, m, x) for m, x in FITTED.items()), ""]
    ]
    for row in nearest[:SHOWN]:
        off_by = f"{math.exp(row['distance']) - 1.0:.0%}"
        settings = (Cell(GRID.on_axis(key, row[key])) for key in KEYS)
        rows.append([*settings, *(_value(given, metric, row[metric]) for metric in FITTED), Cell(off_by, True)])
    chosen = next(i for i, row in enumerate(nearest, 1) if all(row[key] == CHOSEN[above][key] for key in KEYS))
    columns = [*KEYS, *(given.metric(metric).name for metric in FITTED), "off by"]
    return Table(
        f"{what} is number {chosen} of {len(nearest)} by the seeds of this size",
        columns,
        rows,
    )


def _value(given: Material, metric: str, value: float) -> Cell:
    return Cell(quantity(value, given.metric(metric)), True)
