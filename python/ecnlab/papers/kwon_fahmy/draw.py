"""What the report draws besides means: windows of one run, and the control curves of queue and senders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from ecnlab.papers.kwon_fahmy import measure
from ecnlab.papers.kwon_fahmy.grid import PRIMARY
from ecnlab.papers.paper import Drawn
from ecnlab.sweep import Sweep

FLOW: Final = "bulk[0]"
"""The flow whose window is drawn."""

SEGMENT_BYTES: Final = 1000.0

FLOWS: Final = 20.0
QUEUES: Final = np.linspace(0.0, 120.0, 61)
"""Average queues at which the control curves are drawn, packets."""


def draw(sweeps: Mapping[str, Sweep]) -> Drawn:
    """One flow's windows under each response, and the control curves of slide 17."""
    sweep = sweeps["evolution"]
    windows = (
        sweep.table("flow_series")
        .filter(pl.col("flow") == FLOW, pl.col("replicate") == 0)
        .select("arm", "time_s", window=pl.col("cwnd_bytes") / SEGMENT_BYTES)
    )
    return Drawn(
        {"drawn_windows": windows.collect(), "control": control_curves()}, {"drawn_seed": sweep.runs["seed"][0]}
    )


def control_curves() -> pl.DataFrame:
    """Columns ``arm``, ``curve``, ``queue`` (packets), ``p``.

    ``queue`` is H(q) of gentle RED-ECN; ``senders`` the p at which so many senders fill the link, whose round trip has the
    queue's delay (slide 14; docs/models.md).
    """
    curves = []
    for arm in PRIMARY:
        law = measure.control_law(arm)
        fills = [measure.filling_p(arm, float(queue), FLOWS) for queue in QUEUES]
        for curve, p in (("queue", law.probability(QUEUES)), ("senders", pl.Series(fills, dtype=pl.Float64))):
            frame = pl.DataFrame({"queue": QUEUES, "p": p})
            curves.append(frame.select(pl.lit(arm).alias("arm"), pl.lit(curve).alias("curve"), "queue", "p"))
    return pl.concat(curves).drop_nulls()
