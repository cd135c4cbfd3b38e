"""Links of a run: the congested ones, and their queues in the scenario."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ecnlab import laws
from ecnlab.base.lazy_imports import pl
from ecnlab.folder.congestion import LOSSES, busiest_first

if TYPE_CHECKING:
    from ecnlab.runs.run import Run

REVERSE: Final = "~reverse"
INDEX: Final = re.compile(r"\[\d+\]")

MOST: Final = 3
"""Maximum number of links with a chart of their own."""


def busiest(run: Run) -> pl.DataFrame:
    """Return the rows of `links` with the congested ones first; counters of `queues` for all groups where recorded."""
    links = run.table("links") if "links" in run.tables else pl.DataFrame()
    if "queues" not in run.tables or links.is_empty():
        return links
    counts = run.table("queues").filter(pl.col("group") == "all").drop("group")
    both = links.join(counts, on="link", how="left", maintain_order="left")
    return busiest_first(both, links)


def congested(run: Run) -> list[str]:
    """Return the names of the busiest link and of others that marked or dropped packets, at most `MOST`."""
    rows = busiest(run)
    if rows.is_empty():
        return []
    losses = [pl.col(name).cast(pl.Float64).fill_null(0) for name in LOSSES if name in rows.columns]
    total = rows.select(pl.sum_horizontal(losses)).to_series() if losses else pl.Series([0.0] * rows.height)
    names = rows["link"].to_list()
    return [name for i, name in enumerate(names[:MOST]) if i == 0 or total[i] > 0]


def queue_of(spec: Mapping[str, Any], link: str) -> Mapping[str, Any]:
    """Return the resolved ``[queue.NAME]`` in front of a ``link`` of the tables; empty if the scenario has no such link."""
    table = spec["link"].get(INDEX.sub("", link.removesuffix(REVERSE)), {})
    side = table.get("reverse", {}) if link.endswith(REVERSE) else table
    found: Mapping[str, Any] = spec["queue"].get(side.get("queue"), {})
    return found


def law_of(spec: Mapping[str, Any], link: str) -> str:
    """Return the name in reports of the discipline in front of a ``link``; "the queue" if it is unknown."""
    queue = queue_of(spec, link)
    return laws.label("queue", queue["discipline"]) if queue else "the queue"
