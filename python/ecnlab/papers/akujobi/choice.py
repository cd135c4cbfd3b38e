"""Which of the settings that the paper leaves open comes nearest to what it printed of ECN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from ecnlab.papers.samples import at

KEYS: Final = ("above", "spacing", "mean_packet", "tick", "timer")

STATED: Final = {"tick": "100 ms"}
"""What the paper says of them (section V-A): no combination without it is chosen."""

GAIN: Final = 0.3458
LOSS: Final = 0.57
"""Printed of ECN at 46 flows (section VI-A, figures 3 and 4), the loss in percent."""


def choose(points: pl.DataFrame, stated: Mapping[str, str] = STATED) -> pl.DataFrame:
    """The combinations of `KEYS` with what is ``stated``, nearest first; by ECN alone, no other scheme enters.

    ``distance`` is the sum of the relative distances of gain and loss.
    """
    ecn = {"scheme": "ecn"}
    gain = at(points, "variant_gain", {**stated, **ecn}).select(*KEYS, pl.col("mean").alias("gain"))
    loss = at(points, "variant_loss", ecn).select(*KEYS, pl.col("mean").alias("loss"))
    off = (pl.col("gain") / GAIN - 1.0).abs() + (pl.col("loss") / LOSS - 1.0).abs()
    blank = [pl.lit("").alias(key) for key in ("scheme", "flows", "loss_", "pages", "settings")]
    ranked = gain.join(loss, on=KEYS).with_columns(off.alias("distance")).sort("distance", *KEYS)
    return ranked.rename({"loss": "measured_loss"}).with_columns(blank).rename({"loss_": "loss"})
