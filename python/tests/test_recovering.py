"""RFC 2884: the time in recovery, for segments written by hand and beside the counters of a run."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import ecnlab
from ecnlab.papers.rfc2884.recovering import of_flow, recoveries, share

TESTBED = Path(__file__).parents[2] / "papers/rfc2884/testbed.toml"

Sent = list[tuple[float, int, int]]
Acked = list[tuple[float, int]]


def found(sent: Sent, acked: Acked) -> list[tuple[float, float]]:
    sent_s, start, stop = zip(*sent, strict=True)
    acked_s, ack = zip(*acked, strict=True)
    return recoveries(np.array(sent_s), np.array(start), np.array(stop), np.array(acked_s), np.array(ack))


WINDOW = [(1.0, 0, 10), (1.1, 10, 20), (1.2, 20, 30), (1.3, 30, 40)]
"""Four segments of ten bytes."""


def test_a_recovery_ends_with_the_ack_of_all_that_was_sent_before_it() -> None:
    sent = [*WINDOW, (2.0, 0, 10), (2.1, 40, 50)]
    assert found(sent, [(2.5, 30), (2.6, 40), (2.7, 50)]) == [(2.0, 2.6)]


def test_more_retransmissions_do_not_prolong_a_recovery_and_one_after_it_begins_another() -> None:
    sent = [*WINDOW, (2.0, 0, 10), (2.2, 20, 30), (3.0, 40, 50), (4.0, 40, 50)]
    assert found(sent, [(2.1, 20), (2.5, 40), (4.2, 50)]) == [(2.0, 2.5), (4.0, 4.2)]


def test_a_recovery_that_does_not_end_has_no_end_and_no_loss_is_no_recovery() -> None:
    assert found([*WINDOW, (2.0, 0, 10)], [(2.5, 30)]) == [(2.0, math.inf)]
    assert found(WINDOW, [(1.5, 40)]) == []


def packets(first: int) -> pl.DataFrame:
    """Data of one flow from the sequence number ``first`` on, one segment sent again at 2 s and acknowledged at 3 s."""
    number = [(first + offset) % 2**32 for offset in (0, 10, 0)]
    data = {"time_s": [1.0, 1.1, 2.0], "seq": number, "ack": [7] * 3, "len": [10] * 3}
    acks = {"time_s": [0.9, 3.0], "seq": [7, 7], "ack": [first, (first + 20) % 2**32], "len": [0, 0]}
    sent = pl.DataFrame(data).with_columns(link=pl.lit("ethernet"), event=pl.lit("enqueue"))
    acked = pl.DataFrame(acks).with_columns(link=pl.lit("ethernet~reverse"), event=pl.lit("deliver"))
    return pl.concat([sent, acked]).with_columns(flow=pl.lit("plain"))


@pytest.mark.parametrize("first", [1, 2**31 - 15, 2**32 - 15])
def test_the_share_is_of_the_time_asked_for_wherever_sequence_numbers_begin(first) -> None:
    times = of_flow(packets(first), "plain")
    assert times == [(2.0, 3.0)]
    assert share(times, 0.0, 4.0) == pytest.approx(0.25)
    assert share(times, 2.5, 4.5) == pytest.approx(0.25)
    assert share(times, 1.0, 2.5) == pytest.approx(1 / 3)


@pytest.mark.parametrize("profile", ["linux-2.0", "linux-2.2"])
def test_no_more_recoveries_are_found_than_the_sender_counts(profile) -> None:
    run = ecnlab.run(TESTBED, seed=1, events=True, overrides={"duration": "60 s", "profile": profile})
    counts = {row["group"]: row for row in run.table("flows_run").iter_rows(named=True)}
    for group in ("ecn", "plain"):
        times, counted = of_flow(run.table("packets"), group), counts[group]
        # A recovery of the wire lasts until all is acknowledged: Reno may begin several in it.
        assert counted["retransmits"] == 0 or 0 < len(times) <= counted["fast_recoveries"] + counted["timeouts"]
    assert counts["plain"]["retransmits"] > 0
