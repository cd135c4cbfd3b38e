"""Summaries of stored tables: the congested links first, and means of flow groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ecnlab.base.lazy_imports import pl

LOSSES: Final = ("marks", "early_drops", "forced_drops", "tail_drops", "dropped")
"""Columns that show where there was congestion."""


def busiest_first(table: pl.DataFrame, links: pl.DataFrame | None) -> pl.DataFrame:
    """Return ``table`` of links with congested ones first: by marks and drops, then by the utilisation in ``links``."""
    if links is None or "link" not in table.columns or "utilisation" not in links.columns:
        return table
    losses = [pl.col(name).cast(pl.Float64).fill_null(0) for name in LOSSES if name in table.columns]
    used = links.select("link", "utilisation").unique("link")
    load = table.select("link").join(used, on="link", how="left", maintain_order="left")["utilisation"]
    order = [pl.sum_horizontal(losses)] if losses else []
    return table.sort([*order, load], descending=True, nulls_last=True, maintain_order=True)


def group_means(flows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return the number of flows of each group, and the means of those of ``columns`` that are numbers."""
    numeric = [name for name in columns if name in flows.columns and flows[name].dtype.is_numeric()]
    return flows.group_by("group", maintain_order=True).agg(
        pl.len().alias("flows"), *(pl.col(name).cast(pl.Float64).mean() for name in numeric)
    )
