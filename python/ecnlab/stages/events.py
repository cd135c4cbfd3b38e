"""Marks and drops of single packets, where the run recorded packet events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.folder.series import Bins
from ecnlab.report import Rug

if TYPE_CHECKING:
    from ecnlab.results.run import RunResult

EVENTS: Final = {
    "mark": ("points with marks", 1),
    "drop": ("points with drops", 4),
    "loss": ("points with losses on the link", 3),
}
"""Name and colour of a rug by the start of the event's name."""


def rugs(run: RunResult, column: str, names: list[str], bins: Bins) -> dict[str, list[Rug]]:
    """Return the marks and drops of each of ``names`` in a ``column`` of `packets`: "link" or "flow".

    There is at most one stroke a bin, at the first event in it. Without the table there is none.
    """
    if "packets" not in run.tables:
        return {}
    kind = pl.col("event").str.split("_").list.first()
    events = run.scan("packets").with_columns(kind.alias("kind"))
    wanted = events.filter(pl.col(column).is_in(names), pl.col("kind").is_in(list(EVENTS)))
    found = bins.over(wanted, [column, "kind"], pl.col("time_s").min())
    return {
        name: [
            Rug(label, rows["time_s"].to_list(), style)
            for event, (label, style) in EVENTS.items()
            if (rows := found.filter(pl.col(column) == name, pl.col("kind") == event)).height
        ]
        for name in names
    }
