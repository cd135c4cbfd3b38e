"""Which of the networks that the slides leave open comes nearest to the row of slide 20 that is fitted: Reno's."""

from __future__ import annotations

import math
from typing import Final

import polars as pl

from ecnlab.papers.samples import at

KEYS: Final = ("object_size", "inter_session", "min_th", "maxp", "udp_rate")
"""What calibration.toml varies."""

FITTED: Final = {"delay": 14.260, "web": 1.509, "udp": 2.855, "ftp": 38.772, "drops": 0.01637}
"""Reno's row of slide 20: s, Mb/s three times, share."""

CHOSEN: Final = {"object_size": "128 kB", "inter_session": "4 s", "min_th": "3", "maxp": "0.02", "udp_rate": "580 kbps"}
"""The nearest combination of the full size; gfc2.toml has it."""


def ranked(points: pl.DataFrame) -> pl.DataFrame:
    """The combinations of `KEYS`, nearest first: their five columns and ``distance``.

    ``distance`` is the root mean square of the logarithms of measured over printed.
    """
    calibrated = points.filter(pl.col("object_size") != "")
    columns = [at(calibrated, metric, {}).select(*KEYS, pl.col("mean").alias(metric)) for metric in FITTED]
    table = columns[0]
    for column in columns[1:]:
        table = table.join(column, on=KEYS)
    squares = [(pl.col(metric) / printed).log() ** 2 for metric, printed in FITTED.items()]
    distance = (pl.sum_horizontal(squares) / len(FITTED)).sqrt()
    return table.with_columns(distance.alias("distance")).sort("distance", *KEYS)


def off_by(distance: float) -> float:
    """The factor less one that stands for a distance of logarithms: 0.1 for 10% on each column."""
    return math.exp(distance) - 1.0
