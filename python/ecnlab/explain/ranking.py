"""Two engines' measurements compared: the largest difference relative to its noise first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import polars as pl

KEYS: Final = ("group", "place", "quantity", "unit")

RESOLUTION_S: Final = 1e-6
"""Resolution of compared times: a hundredth of a packet's transmission time at 100 Mb/s."""


def rank(simulator: pl.DataFrame, linux: pl.DataFrame, by: Sequence[str] = ()) -> pl.DataFrame:
    """Return one row per cell (columns ``by``), group and quantity of two measurements, by decreasing ``score`` in each cell.

    ``simulator`` and ``linux`` are means over flows (or connections, or queues) and replicates, ``ratio`` the first by the
    second, and ``score`` the distance of the means in standard errors of their difference. The squared standard error of
    a mean is the larger of its variance among flows and that of Poisson events, mean**2 / events; that of times includes
    ``RESOLUTION_S``. Where neither is known, the score is missing, and the row comes last. Quantities that neither engine has are left out.
    """
    keys = [*by, *KEYS]
    both = _means(simulator, keys).join(
        _means(linux, keys), on=keys, how="full", coalesce=True, suffix="_linux", nulls_equal=True
    )
    resolution = pl.when(pl.col("unit") == "s").then(pl.lit(RESOLUTION_S)).otherwise(pl.lit(0.0))
    noise = (pl.col("variance") + pl.col("variance_linux") + resolution**2).sqrt()
    distance = (pl.col("mean") - pl.col("mean_linux")).abs()
    ranked = both.filter((pl.col("mean").fill_null(0) != 0) | (pl.col("mean_linux").fill_null(0) != 0)).with_columns(
        score=pl.when(noise > 0).then(distance / noise),
        ratio=pl.when(pl.col("mean_linux") != 0).then(pl.col("mean") / pl.col("mean_linux")),
    )
    return ranked.sort(
        *by,
        pl.col("score").fill_null(-math.inf),
        "group",
        "place",
        "quantity",
        descending=[*[False] * len(by), True, *[False] * 3],
    ).select(
        *keys,
        pl.col("mean").alias("simulator"),
        pl.col("mean_linux").alias("linux"),
        "ratio",
        "score",
        n=pl.col("n"),
        n_linux="n_linux",
    )


def _means(measured: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Return the mean of each quantity and the variance of this mean; missing where unknown."""
    value, n, events = pl.col("value"), pl.len(), pl.col("events").sum()
    return (
        measured.drop_nulls("value")
        .group_by(keys, maintain_order=True)
        .agg(
            n=n,
            mean=value.mean(),
            among=value.var() / n,
            poisson=pl.when(pl.col("events").is_not_null().all() & (events > 0)).then(value.mean() ** 2 / events),
            none=pl.col("events").is_not_null().all() & (events == 0),
        )
        .with_columns(variance=pl.when("none").then(pl.lit(0.0)).otherwise(pl.max_horizontal("among", "poisson")))
        .select(*keys, "n", "mean", "variance")
    )
