"""The sums over all connections of a capture in words, and the bytes that the capture lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ecnlab.base.lazy_imports import pl
from ecnlab.base.readable import cell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecnlab.trace import Trace

GAP: Final = "gap"
"""Column of the summary with the bytes that the capture lacks."""


def facts(capture: Trace) -> list[tuple[str, str]]:
    """Return name and value of each sum over all connections: data, goodput, gap, retransmissions, ECN."""
    sums = capture.sums
    found = [
        ("data", f"{sums['data_packets']:,} packets, {cell('bytes', sums['bytes'])}"),
        ("goodput", _goodput(capture)),
        (GAP, missing(sums["missing_bytes"])),
        ("retransmissions", f"{sums['retransmits']:,}, {sums['timeouts']:,} timeout{_plural(sums['timeouts'])}"),
        ("out of order", f"{sums['out_of_order']:,}"),
        ("duplicate ACKs", f"{sums['duplicate_acks']:,}"),
        ("ECN", f"{sums['ce']:,} CE, {sums['ece_sent']:,} ECE, {sums['cwr_sent']:,} CWR"),
        ("rule breaks", f"{sums['violations']:,}"),
    ]
    return [(name, value) for name, value in found if value]


def _goodput(capture: Trace) -> str:
    """Return the payload of all connections, each byte once, over the time of the capture; "" for a part or without times."""
    first, last = capture.totals["first_ns"], capture.totals["last_ns"]
    if not capture.whole or first is None or last is None or last <= first:
        return ""
    seconds = (last - first) / 1e9
    return f"{cell('goodput_bps', 8 * capture.sums['unique_bytes'] / seconds)} over {cell('duration_s', seconds)}"


def _plural(count: int) -> str:
    return "" if count == 1 else "s"


def missing(count: int) -> str:
    """Return that the capture lacks ``count`` bytes of payload; "" if it has all."""
    return f"{cell('bytes', count)} missing" if count else ""


def gap_note(direction: Mapping[str, Any]) -> str:
    """Return a sentence on the numbers that the gap of a direction makes too small; "" without a gap."""
    if not direction["missing_bytes"]:
        return ""
    return (
        f"The capture lacks {cell('bytes', direction['missing_bytes'])} of the data that were acknowledged: packets, bytes, goodput, "
        "retransmissions, CE and rule breaks are those of the captured packets."
    )


def with_gaps(directions: pl.DataFrame) -> pl.DataFrame:
    """Return ``directions`` with the column `GAP` behind ``from``, if the capture lacks bytes of any."""
    if not directions.height or not (directions["missing_bytes"] > 0).any():
        return directions
    gaps = pl.Series(GAP, [missing(count) or "-" for count in directions["missing_bytes"]], dtype=pl.String)
    place = directions.columns.index("from") + 1
    return directions.select(*directions.columns[:place], gaps, *directions.columns[place:])
