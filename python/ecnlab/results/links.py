"""The congested links of a run."""

from __future__ import annotations

from typing import Final

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.congestion import LOSSES, busiest_first
from ecnlab.results.run import RunResult

MAX_CHARTS: Final = 3
"""Maximum number of links with a chart of their own."""


def busiest(run: RunResult) -> pl.DataFrame:
    """Return the rows of `links` with the congested ones first; counters of `queues` for all groups where recorded."""
    links = run.table("links") if "links" in run.tables else pl.DataFrame()
    if "queues" not in run.tables or links.is_empty():
        return links
    counts = run.table("queues").filter(pl.col("group") == "all").drop("group")
    both = links.join(counts, on="link", how="left", maintain_order="left")
    return busiest_first(both, links)


def congested(run: RunResult) -> list[str]:
    """Return the names of the busiest link and of others that marked or dropped packets, at most `MAX_CHARTS`."""
    rows = busiest(run)
    if rows.is_empty():
        return []
    losses = [pl.col(name).cast(pl.Float64).fill_null(0) for name in LOSSES if name in rows.columns]
    total = rows.select(pl.sum_horizontal(losses)).to_series() if losses else pl.Series([0.0] * rows.height)
    names = rows["link"].to_list()
    return [name for i, name in enumerate(names[:MAX_CHARTS]) if i == 0 or total[i] > 0]
