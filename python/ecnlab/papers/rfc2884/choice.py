"""RFC 2884 section 4.4 as a rule: the RED thresholds that keep the average in the region."""

from __future__ import annotations

from typing import Final

import polars as pl

from ecnlab.papers.samples import at

SHARE: Final = 0.9
"""The share of time in the region that settings must reach."""

MAX_P: Final = "0.1"
"""The max_p at which they are chosen: the one value the RFC prints numbers of for every load."""


def choose(points: pl.DataFrame) -> pl.DataFrame:
    """The point of the search that the rule takes at each congestion level.

    The smallest min_th whose mean share of time in [min_th, max_th) reaches `SHARE`, else the one with the largest
    share. No gain enters.
    """
    found = at(points, "search_share", {"maxp": MAX_P})
    sized = found.with_columns(pl.col("min_th").str.strip_suffix(" kB").cast(pl.Float64).alias("size"))
    chosen = []
    for _, load in sized.group_by(["congestion"], maintain_order=True):
        enough = load.filter(pl.col("mean") >= SHARE)
        chosen.append(load.sort("mean").tail(1) if enough.is_empty() else enough.sort("size").head(1))
    return pl.concat(chosen).drop("size")
