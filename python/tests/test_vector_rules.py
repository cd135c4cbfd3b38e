"""The events of each vector follow from its RFC: computed here again, without the simulator's laws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from ecnlab.vectors import names, vector
from ecnlab.vectors.events import events

MSS = 1000
Event = dict[str, Any]


@cache
def found(name: str) -> list[Event]:
    return events(vector(name))


def of(name: str, kind: str) -> list[Event]:
    return [event for event in found(name) if event["event"] == kind]


def marked(name: str) -> set[int]:
    """Ends of the marked segments: the acknowledgment number of each."""
    return {event["seq"] + event["bytes"] for event in of(name, "send") if event.get("fate") == "marked"}


def flights(name: str) -> Iterator[tuple[Event, int]]:
    """Each ACK with the bytes in flight before it."""
    flight = found(name)[0]["flight_bytes"]
    for event in of(name, "ack"):
        yield event, flight
        flight = event["flight_bytes"]


def replay(name: str, factor: float) -> None:
    """Check windows without losses: RFC 5681 with RFC 3465's byte counting, and one reduction for each window of data."""
    cwnd, ssthresh, counted, recover, end = 4 * MSS, math.inf, 0, 0, 0
    ends = iter([event for event in found(name) if event["event"] in ("send", "ack")])
    for event, flight in flights(name):
        for other in ends:
            if other is event:
                break
            end = other["seq"] + other["bytes"]
        if event["ece"] and event["ack"] > recover:
            reduced = flight * (factor if cwnd >= ssthresh else 0.5)
            cwnd = ssthresh = max(reduced, 2 * MSS)
            recover, counted = end, 0
        elif not event["ece"]:
            if cwnd < ssthresh:
                cwnd += event["newly_acked"]
            else:
                counted += event["newly_acked"]
                if counted >= cwnd:
                    counted -= cwnd
                    cwnd += MSS
        assert event["cwnd_bytes"] == cwnd, event
        assert event["ssthresh_bytes"] == (None if ssthresh == math.inf else ssthresh), event


@pytest.mark.parametrize("name", ["reno-growth", "ecn-once-per-window"])
def test_reno_halves_once_a_window_and_grows_by_a_segment(name: str) -> None:
    replay(name, 0.5)


def test_abe_keeps_eight_tenths_in_congestion_avoidance() -> None:
    replay("abe-reduction", 0.8)
    assert [event["ssthresh_bytes"] for event in of("abe-reduction", "ack") if event["phase"] == "reduction"] == [
        23000 // 2,  # in slow start, 23 segments in flight
        12000 * 8 // 10,  # in congestion avoidance, 12 segments in flight
    ]


def test_a_rate_limited_sender_grows_up_to_a_limit_of_its_largest_flight() -> None:
    cwnd: float = 4 * MSS
    ssthresh, largest = math.inf, 4 * MSS
    acked = counted = recover = end = 0
    for event in found("rate-limited-increase"):
        before = end - acked
        if event["event"] == "send":
            end = event["seq"] + event["bytes"]
        elif event["event"] == "ack":
            acked = event["ack"]
        largest = max(largest, end - acked)
        if event["event"] != "ack":
            continue
        if event["ece"] and event["ack"] > recover:
            cwnd = ssthresh = before / 2
            recover, largest = end, 0
        elif not event["ece"] and cwnd < ssthresh:
            cwnd = max(cwnd, min(cwnd + event["newly_acked"], 2 * largest))
        elif not event["ece"]:
            counted += event["newly_acked"]
            if counted >= cwnd:
                counted -= cwnd
                cwnd = max(cwnd, min(cwnd + MSS, largest + MSS))
        assert event["cwnd_bytes"] == cwnd, event
    windows = [event["cwnd_bytes"] for event in of("rate-limited-increase", "ack")]
    # Twice and once the eight segments of a write; after the mark first three in flight.
    assert windows[12:35] == [2 * 8 * MSS] * 23
    assert (4 * MSS in windows[40:50], windows[-1]) == (True, 9 * MSS)


def test_the_receiver_echoes_from_a_mark_until_cwr() -> None:
    for name in ("reno-growth", "ecn-once-per-window", "abe-reduction", "rate-limited-increase"):
        cwr = {event["seq"] + event["bytes"] for event in of(name, "send") if event["cwr"]}
        echo = False
        for event in of(name, "ack"):
            echo = (echo and event["ack"] not in cwr) or event["ack"] in marked(name)
            assert event["ece"] == echo, (name, event)


def test_ace_counts_marked_packets_from_five() -> None:
    ends = marked("accecn-ace")
    assert len(ends) == 6
    for event in of("accecn-ace", "ack"):
        assert event["ace"] == (5 + sum(end <= event["ack"] for end in ends)) % 8


def test_alpha_is_the_average_of_the_marked_fraction() -> None:
    alpha, acked, echoed, window_end, end = 1.0, 0, 0, 0, 0
    for event in found("dctcp-alpha"):
        if event["event"] == "send":
            end = event["seq"] + event["bytes"]
        if event["event"] != "ack":
            continue
        acked += event["newly_acked"]
        echoed += event["newly_acked"] * event["ece"]
        if event["ack"] > window_end:
            alpha += (echoed / acked - alpha) / 16
            acked, echoed, window_end = 0, 0, end
        assert abs(event["alpha_ppm"] - alpha * 1e6) <= 1, event
    assert len({event["alpha_ppm"] for event in of("dctcp-alpha", "ack")}) > 8  # windows of data


def test_dctcp_reduces_by_half_of_alpha() -> None:
    before: Event = {}
    reductions = []
    for event in of("dctcp-alpha", "ack"):
        if event["phase"] == "reduction":
            left = before["cwnd_bytes"] * (1 - event["alpha_ppm"] / 2e6)
            assert abs(event["cwnd_bytes"] - left) <= 1
            assert event["ssthresh_bytes"] == event["cwnd_bytes"]
            reductions.append(left)
        before = event
    assert len(reductions) >= 2


def test_timeouts_come_after_one_two_and_four_seconds() -> None:
    last = max(event["time_ns"] for event in of("rto-backoff", "ack") if event["ack"] == 4 * MSS)
    times = [last, *(event["time_ns"] for event in of("rto-backoff", "timeout"))]
    assert [b - a for a, b in pairwise(times)] == [10**9, 2 * 10**9, 4 * 10**9]
    assert [event["rto_ns"] for event in of("rto-backoff", "timeout")] == [2 * 10**9, 4 * 10**9, 8 * 10**9]
    assert {event["ssthresh_bytes"] for event in of("rto-backoff", "timeout")} == {8 * MSS // 2}
    assert {event["cwnd_bytes"] for event in of("rto-backoff", "timeout")} == {MSS}


def test_srtt_is_that_of_rfc_6298() -> None:
    sent = {event["seq"]: event["time_ns"] for event in of("rto-backoff", "send") if not event["retransmission"]}
    srtt = float(found("rto-backoff")[0]["srtt_ns"])  # the handshake's
    for event in of("rto-backoff", "ack")[:4]:
        srtt += (event["time_ns"] - sent[event["ack"] - MSS] - srtt) / 8
        assert abs(event["srtt_ns"] - srtt) <= 1
        assert event["rto_ns"] == 10**9


def test_a_recovery_halves_inflates_and_deflates() -> None:
    acks = of("newreno-recovery", "ack")
    (start,) = (event for event in acks if event["phase"] == "recovery-start")
    flight = 33 * MSS  # without the two segments of limited transmit
    assert (start["ssthresh_bytes"], start["cwnd_bytes"]) == (flight // 2, flight // 2 + 3 * MSS)
    cwnd = start["cwnd_bytes"]
    partial = []
    for event in (event for event in acks if event["phase"] == "recovery"):
        if event["newly_acked"]:
            partial.append(event["ack"])
            cwnd -= event["newly_acked"]
        cwnd += MSS
        assert event["cwnd_bytes"] == cwnd, event
    assert partial == [32 * MSS]  # up to the second hole
    (end,) = (event for event in acks if event["phase"] == "recovery-end")
    assert end["cwnd_bytes"] == min(start["ssthresh_bytes"], end["flight_bytes"])
    again = [event["seq"] for event in of("newreno-recovery", "send") if event["retransmission"]]
    assert again == [29 * MSS, 32 * MSS]


def test_cubic_keeps_seven_tenths_and_follows_the_curve() -> None:
    acks = of("cubic-loss", "ack")
    (start,) = (event for event in acks if event["phase"] == "recovery-start")
    assert (start["ssthresh_bytes"], start["cwnd_bytes"]) == (29 * MSS * 7 // 10, 29 * MSS * 7 // 10 + 3 * MSS)
    # From the second round trip on, the curve from W_max = 29 segments, which begins with the first ACK of avoidance.
    avoidance = [event for event in acks if event["phase"] == "avoidance"]
    begin = avoidance[0]["time_ns"]
    cwnd = 21.0  # the window before it
    k = math.cbrt((29 - cwnd) / 0.4)
    low, high = 200e6, 210e6  # bounds of SRTT: path and queue
    checked = 0
    for before, event in pairwise(avoidance):
        time, window = event["time_ns"] - begin, before["cwnd_bytes"] / MSS
        if time < 190e6:
            continue
        grown = (event["cwnd_bytes"] - before["cwnd_bytes"]) / MSS
        least, most = (
            (0.4 * ((time + srtt) / 1e9 - k) ** 3 + 29 - window) / window * event["newly_acked"] / MSS
            for srtt in (low, high)
        )
        assert least - 0.002 <= grown <= most + 0.002, event
        checked += 1
    assert checked > 50


def test_codel_drops_by_its_control_law() -> None:
    packets = found("codel-control-law")
    interval, target, mtu = 100e6, 5e6, 1514
    arrivals = [event["arrived_ns"] for event in packets]
    above: float | None = None
    dropping, count, following = False, 0, 0.0
    free = 0
    for at, event in enumerate(packets):
        now = max(free, event["arrived_ns"])
        behind = 1500 * sum(now >= arrival for arrival in arrivals[at + 1 :])
        if now - event["arrived_ns"] < target or behind <= mtu:
            above, dropping = None, False
            drop = False
        elif above is None:
            above, drop = now + interval, False
        else:
            drop = now >= above and (not dropping or now >= following)
        if drop:
            count = count + 1 if dropping else 1
            following = (following if dropping else now) + interval / math.sqrt(count)
            dropping = True
        assert event["fate"] == ("dropped" if drop else "forwarded"), event
        assert abs(event["time_ns"] - now) <= 1, event
        free = now if drop else now + 3_000_000  # 1500 B at 4 Mbit/s
    assert count == 6


def test_a_packet_that_finds_more_than_ten_is_marked() -> None:
    packets = found("step-marking")
    for at, event in enumerate(packets):
        waiting = sum(other["time_ns"] > event["arrived_ns"] for other in packets[:at])
        assert event["fate"] == ("marked" if waiting > 10 else "forwarded"), event
        assert event["ecn"] == ("ce" if event["fate"] == "marked" else "ect0")
    assert {event["fate"] for event in packets} == {"marked", "forwarded"}


@pytest.mark.parametrize("name", names())
def test_no_result_depends_on_the_order_of_simultaneous_events(name: str) -> None:
    if vector(name).kind == "queue":
        leaving = sorted(event["time_ns"] for event in found(name) if event["sojourn_ns"])
        arriving = {event["arrived_ns"] for event in found(name)}
        assert not any(time + near in arriving for time in leaving for near in range(-1000, 1001))
    else:
        times = [event["time_ns"] for event in found(name) if event["event"] != "send"]
        assert min(b - a for a, b in pairwise(times)) > 100_000
