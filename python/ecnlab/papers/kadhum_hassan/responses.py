"""When a sender responds to congestion: the time from a mark or drop at the congested link to the reduction of the window.

A response needs packet events (``packets = true``). Signals are marks and drops of data from `FIRST_S` to `LAST_S`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import Final, TypeAlias

import polars as pl

from ecnlab.papers import measuring
from ecnlab.papers.kadhum_hassan.grid import GRID
from ecnlab.papers.kadhum_hassan.measure import LINK, WARMUP_S
from ecnlab.papers.paper import Tables

FIRST_S: Final = WARMUP_S
LAST_S: Final = 40.0
"""The run has 10 s more, in which the last signals get their response."""

ECE: Final = 0x40
MARK, DROP, ANY = "mark", "drop", "signal"

Event: TypeAlias = tuple[float, int]
"""Time in s, and the sequence number of data or the flags of an ACK."""


def response_delay(sweep: Tables) -> pl.LazyFrame:
    """Mean time in ms from a signal to the sender's response, by the kind of signal (`signal`: both kinds).

    A flow's first signal counts, and the next one on a packet that the flow sent after its response. Signals without a
    response are left out.
    """
    events = _events(sweep.table("packets")).collect()
    keys = [key for key in events.columns if key in (*GRID.keys, "replicate")]
    rows = [
        (*run[:-1], label, delay_s * 1e3)
        for run, flow in events.partition_by([*keys, "flow"], as_dict=True, maintain_order=True).items()
        for kind, delay_s in _responses(flow)
        for label in (kind, ANY)
    ]
    types = {**{key: events.schema[key] for key in keys}, "signal": pl.String(), "delay": pl.Float64()}
    return measuring.mean_of(GRID, pl.LazyFrame(rows, schema=types, orient="row"), "delay")


def _events(packets: pl.LazyFrame) -> pl.LazyFrame:
    """The events that a response is found from: ``what``, ``time_s`` and ``number``, the sequence number or an ACK's flags."""
    link, event, sender = pl.col("link"), pl.col("event"), pl.col("from_sender")
    data, back = sender & (pl.col("len") > 0), link.str.ends_with("~reverse")
    here = link == LINK
    what = (
        pl.when(data & ~back & ~here & (event == "enqueue"))
        .then(pl.lit("sent"))
        .when(data & here & (event == "mark"))
        .then(pl.lit(MARK))
        .when(data & here & event.str.starts_with("drop"))
        .then(pl.lit(DROP))
        .when(data & here & (event == "deliver"))
        .then(pl.lit("delivered"))
        .when(~sender & (link == f"{LINK}~reverse") & (event == "enqueue"))
        .then(pl.lit("acknowledged"))
        .when(~sender & back & (link != f"{LINK}~reverse") & (event == "deliver"))
        .then(pl.lit("received"))
        .alias("what")
    )
    number = pl.when(sender).then("seq").otherwise("flags").alias("number")
    return packets.select(*GRID.run_keys(packets), "flow", "time_s", what, number).drop_nulls("what")


def _responses(flow: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """Yield the kind of each signal that counts, and the time until its response, in s."""
    found = _Flow(flow)
    reduced = -1.0
    signals = found.signals()
    for i, (time, seq, kind) in enumerate(signals, start=1):
        if found.sent(seq, time) < reduced:
            continue
        response = found.response(time, seq, kind)
        for later, other, its in signals[i:]:  # the sender may respond to a later signal of the same window first
            if response is None or later >= response:
                break
            response = min(response, found.response(later, other, its) or response)
        if response is not None:
            reduced = response
            if FIRST_S <= time < LAST_S:
                yield kind, response - time


class _Flow:
    """The events of one flow, in the order of time."""

    def __init__(self, events: pl.DataFrame) -> None:
        self._of: dict[str, list[Event]] = defaultdict(list)
        self._sent: dict[int, list[float]] = defaultdict(list)
        self._delivered: dict[int, list[float]] = defaultdict(list)
        for what, time, number in events.select("what", "time_s", "number").iter_rows():
            self._of[what].append((time, number))
        for what, times in (("sent", self._sent), ("delivered", self._delivered)):
            for time, seq in self._of[what]:
                times[seq].append(time)
        # ACKs are neither lost nor reordered on their way: the k-th that is sent is the k-th received
        echoes = zip(self._of["acknowledged"], self._of["received"], strict=False)
        self._echoes = [(sent, received) for (sent, flags), (received, _) in echoes if flags & ECE]

    def signals(self) -> list[tuple[float, int, str]]:
        """Time, sequence number and kind of each mark and drop."""
        return sorted((time, seq, kind) for kind in (MARK, DROP) for time, seq in self._of[kind])

    def sent(self, seq: int, until: float) -> float:
        """When the packet that was signalled at ``until`` was sent."""
        times = self._sent[seq]
        return times[bisect_right(times, until) - 1]

    def response(self, time: float, seq: int, kind: str) -> float | None:
        """When the sender received the first echo of a mark, or sent a dropped segment again; None if it did not."""
        if kind == DROP:
            return _after(self._sent[seq], time)
        delivered = _after(self._delivered[seq], time)
        if delivered is None:
            return None
        at = bisect_left(self._echoes, (delivered, 0.0))
        return self._echoes[at][1] if at < len(self._echoes) else None


def _after(times: list[float], time: float) -> float | None:
    """The first of ``times`` after ``time``."""
    at = bisect_right(times, time)
    return times[at] if at < len(times) else None
