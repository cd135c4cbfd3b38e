"""Kadhum & Hassan: the time from a mark or drop to the sender's response, for packet events written by hand."""

from __future__ import annotations

import polars as pl
import pytest

from ecnlab.papers.kadhum_hassan.responses import ECE, _responses, response_delay

ACK = 0x10


def flow(*events: tuple[str, float, int]) -> pl.DataFrame:
    """Events of one flow: what, time in s, and sequence number or flags."""
    return pl.DataFrame(sorted(events, key=lambda event: event[1]), schema=["what", "time_s", "number"], orient="row")


def responses(*events: tuple[str, float, int]) -> list[tuple[str, float]]:
    return [(kind, pytest.approx(delay)) for kind, delay in _responses(flow(*events))]


def acknowledged(sent: float, received: float, flags: int = ACK) -> list[tuple[str, float, int]]:
    return [("acknowledged", sent, flags), ("received", received, flags)]


MARKED = (("sent", 10.9, 7), ("mark", 11.0, 7), ("delivered", 11.1, 7))


def test_the_response_to_a_drop_is_the_next_time_the_segment_is_sent() -> None:
    assert responses(("sent", 10.9, 7), ("drop", 11.0, 7), ("sent", 11.2, 8), ("sent", 11.4, 7)) == [("drop", 0.4)]


def test_a_drop_that_is_never_repaired_has_no_response() -> None:
    assert responses(("sent", 10.9, 7), ("drop", 11.0, 7), ("sent", 11.2, 8)) == []


def test_an_echo_that_the_receiver_sent_before_the_marked_packet_came_is_of_an_earlier_mark() -> None:
    earlier = acknowledged(11.05, 11.15, ACK | ECE)
    assert responses(*MARKED, *earlier, *acknowledged(11.1, 11.2, ACK | ECE)) == [("mark", 0.2)]
    assert responses(*MARKED, *earlier, *acknowledged(11.1, 11.2)) == []


def test_of_a_mark_and_a_drop_of_one_window_the_first_response_counts_from_the_first_signal() -> None:
    drop = (("sent", 10.8, 6), ("drop", 10.95, 6), ("sent", 11.5, 6))
    assert responses(*drop, *MARKED, *acknowledged(11.1, 11.2, ACK | ECE)) == [("drop", 0.25)]


def test_a_signal_on_a_packet_sent_before_the_response_needs_no_second_one() -> None:
    window = (("sent", 10.8, 7), ("sent", 10.9, 8), ("sent", 11.4, 9))
    drops = (("drop", 11.0, 7), ("sent", 11.3, 7), ("drop", 11.35, 8), ("sent", 11.6, 8))
    again = (("drop", 11.5, 9), ("sent", 12.0, 9))
    assert responses(*window, *drops, *again) == [("drop", 0.3), ("drop", 0.5)]


def test_signals_outside_of_10_s_to_40_s_are_left_out_but_their_responses_count_as_reductions() -> None:
    early = (("sent", 9.8, 1), ("drop", 9.9, 1), ("sent", 10.5, 1), ("sent", 9.85, 2), ("drop", 10.1, 2))
    late = (("sent", 39.9, 3), ("drop", 40.0, 3), ("sent", 40.2, 3))
    assert responses(*early, ("sent", 10.7, 2), *late) == []


def test_events_of_packets_become_delays_by_run_and_kind() -> None:
    common = {"flow": "user[0]", "replicate": 0, "queue": "ecn"}
    rows = [
        ("access[0]", "enqueue", True, 552, 7, 0, 11.0),
        ("bottleneck", "mark", True, 552, 7, 0, 11.01),
        ("bottleneck", "deliver", True, 552, 7, 0, 11.1),
        ("bottleneck~reverse", "enqueue", False, 0, 1, ACK | ECE, 11.1),
        ("bottleneck~reverse", "deliver", False, 0, 1, ACK | ECE, 11.12),
        ("access[0]~reverse", "deliver", False, 0, 1, ACK | ECE, 11.13),
    ]
    names = ["link", "event", "from_sender", "len", "seq", "flags", "time_s"]

    class Packets:
        def table(self, _name: str) -> pl.LazyFrame:
            return pl.LazyFrame([{**common, **dict(zip(names, row, strict=True))} for row in rows])

    found = response_delay(Packets()).collect().to_dicts()
    assert {row["signal"]: row["value"] for row in found} == {"mark": pytest.approx(120), "signal": pytest.approx(120)}
    assert {(row["queue"], row["replicate"]) for row in found} == {("ecn", 0)}
