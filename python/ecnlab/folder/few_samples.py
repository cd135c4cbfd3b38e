"""Quantiles of too few samples: those of fewer than 1/(1 - q) have none above the quantile q, and state their number."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.readable import cell

QUANTILE: Final = re.compile(r"(?:^|_)p(\d+)(?:_s)?$")
"""End of the name of a column or an aggregate that is a quantile: "sojourn_p999_s" has q = 0.999."""


def needed(name: str) -> int | None:
    """Return the least number of samples for the quantile q of a column or aggregate, 1/(1 - q) rounded up; None if it is none."""
    if name.removesuffix("_s") == "median":
        return 2
    found = QUANTILE.search(name)
    if not found:
        return None
    share = Fraction(int(found[1]), 10 ** len(found[1]))
    return math.ceil(1 / (1 - share))


def remark(name: str, samples: int | None) -> str:
    """Return " of N samples" if ``name`` is a quantile of fewer than it needs; "" otherwise, or if N is not known."""
    least = needed(name)
    if samples is None or least is None or samples >= least:
        return ""
    return f" of {samples} sample{'' if samples == 1 else 's'}"


def with_remarks(frame: pl.DataFrame, samples: pl.Series) -> pl.DataFrame:
    """Return ``frame`` with each quantile of too few samples as text with its remark; ``samples`` has a count for each row."""
    found = []
    for name in frame.columns:
        rows = list(zip(frame[name], samples, strict=True))
        if any(value is not None and remark(name, n) for value, n in rows):
            texts = [cell(name, value) + (remark(name, n) if value is not None else "") for value, n in rows]
            found.append(pl.Series(name, texts, dtype=pl.String))
    return frame.with_columns(found)


def sojourns_of(frame: pl.DataFrame, queues: pl.DataFrame | None) -> pl.Series:
    """Return the number of sojourn times in each row of `links`, `classes` or `sojourns`: the packets that departed.

    Those of `links` are in ``queues``; null if they are not recorded.
    """
    if "departed" in frame.columns:
        return frame["departed"]
    if queues is None or "link" not in frame.columns:
        return pl.Series([None] * frame.height, dtype=pl.Int64)
    counts = queues.filter(pl.col("group") == "all").select("link", "departed")
    return frame.select("link").join(counts, on="link", how="left", maintain_order="left")["departed"]
