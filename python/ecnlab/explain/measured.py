"""The quantities by which the behaviour of two engines is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Place = Literal["sender", "receiver", "bottleneck", "queue"]
"""Where a quantity is measured: at either end of a flow, at the entry of the bottleneck, or by the bottleneck's queue."""


@dataclass(frozen=True)
class Quantity:
    """A quantity, measured for each connection, or for each queue."""

    column: str
    """Its column in the table of ``trace_behaviour``; of a queue, in the run's ``queues`` or ``links``."""
    name: str
    """Its name in tables."""
    unit: str
    place: Place
    events: str | None = None
    """Column that counts the events behind a mean; a count counts its own."""
    share: float = 1.0
    """Fraction of these events on which the value depends."""

    @property
    def is_count(self) -> bool:
        """Whether it is a number of events."""
        return self.unit == "count"


def _times(column: str, name: str, place: Place) -> list[Quantity]:
    parts = (("mean", "mean", 1.0), ("p50", "median", 1.0), ("p99", "99th percentile", 0.01))
    return [
        Quantity(f"{column}_{part}_s", f"{name}, {words}", "s", place, f"{column}_events", share)
        for part, words, share in parts
    ]


def _bursts(column: str, name: str, place: Place) -> list[Quantity]:
    sizes = {"1": "1 segment", "2": "2 segments", "3": "3 segments", "more": "4 or more segments"}
    counts = [Quantity(f"{column}s_of_{size}", f"{name} of {words}", "count", place) for size, words in sizes.items()]
    return [*counts, Quantity(column, f"{name}, mean size", "segments", place, f"{column}_events")]


def _reductions(column: str, words: str) -> list[Quantity]:
    return [
        Quantity(f"{column}_reductions", f"responses to {words}", "count", "sender"),
        Quantity(
            f"{column}_before_bytes", f"flight at a response to {words}", "bytes", "sender", f"{column}_before_events"
        ),
        Quantity(
            f"{column}_after_bytes", f"flight after a response to {words}", "bytes", "sender", f"{column}_after_events"
        ),
        Quantity(
            f"{column}_ratio", f"flight after/before a response to {words}", "ratio", "sender", f"{column}_after_events"
        ),
    ]


OF_FLOWS: Final[tuple[Quantity, ...]] = (
    Quantity("acks_of_0", "ACKs that cover no segment", "count", "receiver"),
    Quantity("acks_of_1", "ACKs that cover 1 segment", "count", "receiver"),
    Quantity("acks_of_2", "ACKs that cover 2 segments", "count", "receiver"),
    Quantity("acks_of_more", "ACKs that cover 3 or more segments", "count", "receiver"),
    Quantity("single_reordered", "ACKs of 1 segment: out of order or SACK", "count", "receiver"),
    Quantity("single_delayed", "ACKs of 1 segment: delayed by 1 ms or more", "count", "receiver"),
    Quantity("single_ce", "ACKs of 1 segment: CE", "count", "receiver"),
    Quantity("single_cwr", "ACKs of 1 segment: CWR", "count", "receiver"),
    Quantity("single_ece_change", "ACKs of 1 segment: ECE changed", "count", "receiver"),
    Quantity("single_pushed", "ACKs of 1 segment: PSH", "count", "receiver"),
    Quantity("single_other", "ACKs of 1 segment: other", "count", "receiver"),
    *_times("ack_delay", "ACK delay from the newest segment", "receiver"),
    *_times("ack_wait", "ACK delay from the oldest segment", "receiver"),
    *_times("duplicate_ack", "delay of ACKs that cover no segment", "receiver"),
    Quantity("duplicate_segments", "duplicate segments received", "count", "receiver"),
    Quantity("data_segments", "data segments sent", "count", "sender"),
    Quantity("pushed", "segments with PSH", "count", "sender"),
    Quantity("push_distance", "distance of segments with PSH", "segments", "sender", "push_distance_events"),
    *_bursts("sent_burst", "bursts between two ACKs", "sender"),
    Quantity("retransmissions", "retransmissions", "count", "sender"),
    *_times("rtt", "RTT", "sender"),
    *_reductions("ecn", "ECE"),
    *_reductions("loss", "a loss"),
    Quantity("rounds_between", "round trips between reductions", "round trips", "sender", "rounds_between_events"),
    *_times("gap", "distance of a flow's segments at the bottleneck", "bottleneck"),
    *_bursts("passed_burst", "bursts at the bottleneck", "bottleneck"),
)

TIMEOUTS: Final = Quantity("timeouts", "timeouts", "count", "sender")
"""Quantities from the run's ``flows``, because no packet proves that a timer expired."""

OF_QUEUES: Final[tuple[Quantity, ...]] = (
    Quantity("arrived", "packets that arrive", "count", "queue"),
    Quantity("marks", "marks", "count", "queue"),
    Quantity("early_drops", "early drops", "count", "queue"),
    Quantity("forced_drops", "forced drops", "count", "queue"),
    Quantity("tail_drops", "tail drops", "count", "queue"),
    Quantity("queue_mean_packets", "mean queue", "packets", "queue"),
)
"""Return the columns that both engines count."""
